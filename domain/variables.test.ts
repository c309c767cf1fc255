import { describe, expect, it } from 'vitest';
import { buildVariables } from './variables.ts';

const contact = { id: 'c1', email: 'ada@example.com', data: { plan: 'free', city: 'Gent' } };
const urls = { unsubscribeUrl: 'u', subscribeUrl: 's', manageUrl: 'm' };

describe('the variables of a template', () => {
  it('are the contact, its data at the top and under `data`, and the links', () => {
    expect(buildVariables({ contact, urls })).toEqual({
      ...urls,
      id: 'c1',
      email: 'ada@example.com',
      plan: 'free',
      city: 'Gent',
      data: contact.data,
    });
  });

  it('of a request override those of the contact', () => {
    const variables = buildVariables({ contact, data: { plan: 'pro', code: 7 } });
    expect(variables).toMatchObject({ plan: 'pro', code: 7, data: { plan: 'pro', code: 7, city: 'Gent' } });
  });

  it('take the keys of an execution and the payload of its event', () => {
    const variables = buildVariables({ contact, event: { total: 3 }, context: { plan: 'trial' } });
    expect(variables).toMatchObject({
      plan: 'trial',
      event: { total: 3 },
      context: { plan: 'trial' },
      data: { plan: 'free' },
    });
  });

  it('of the service cannot be overridden by anything', () => {
    const evil = { id: 'x', email: 'x', unsubscribeUrl: 'x', subscribeUrl: 'x', manageUrl: 'x', data: 'x' };
    const variables = buildVariables({ contact: { ...contact, data: evil }, data: evil, context: evil, urls });
    expect(variables).toMatchObject({ ...urls, id: 'c1', email: 'ada@example.com' });
    expect(typeof variables.data).toBe('object');
  });
});
