import { expect, it } from 'vitest';
import { STEPS } from '../../rules/executions/steps/registry.ts';
import { maskStepConfig, unsealStepConfig } from './step-secrets.ts';

const SECRET_KEY = 'a-secret-key-of-an-earlier-release';
/**
 * A step with secrets, in the form in which an earlier release stored it. This form and the encryption contexts must
 * never change, because later releases could not decrypt the stored secrets.
 */
const STORED = {
  id: '0190a000-0000-7000-8000-000000000001',
  type: 'WEBHOOK' as const,
  config: {
    url: 'https://ada:***@crm.example/in',
    urlSecret: 'AR8LY0i/8cN83p17QmOL+oRjZfVxd+jPba7sx41eLBQK8dKi7Tg=',
    headers: { 'X-Api-Key': 'Ac+kkTHG0hzZd/wR4kVo2nFe2qlXCsFuqoZdcSWBBcEhpIHNTfYzrNc8Cw==' },
    method: 'POST',
  },
};

it('secrets of steps from an earlier release can be decrypted, and are masked in responses', () => {
  expect(unsealStepConfig(SECRET_KEY, STORED)).toEqual({
    url: 'https://ada:pass-word@crm.example/in',
    headers: { 'X-Api-Key': 'key-of-the-crm' },
    method: 'POST',
  });
  expect(maskStepConfig(SECRET_KEY, STORED)).toEqual({
    url: 'https://ada:***@crm.example/in',
    headers: { 'X-Api-Key': 'key-••••' },
    method: 'POST',
  });
});

it('a config whose type has no secrets does not change, whatever its fields are called', () => {
  const config = { url: 'https://ada:word@crm.example', headers: { 'X-Api-Key': 'key' } };
  expect(STEPS.UPDATE_CONTACT.secretsIn).toEqual([]);
  expect(unsealStepConfig(SECRET_KEY, { ...STORED, type: 'UPDATE_CONTACT', config })).toEqual(config);
});
