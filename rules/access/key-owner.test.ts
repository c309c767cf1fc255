import { expect, it } from 'vitest';
import { type KeyOwner, maySeeResponse } from './key-owner.ts';

const owner = (name: string, ...scopes: string[]): KeyOwner => ({ name, public: false, scopes: new Set(scopes) });
const first = { request: 'POST /v1/send', owner: 'key:1' };

it.each([
  ['the key that was answered', owner('key:1'), first, true],
  ['another key', owner('key:2', 'email:send', 'sms:view'), first, false],
  ['another key that may see mails', owner('key:2', 'emails:view'), first, true],
  ['a person who may see mails', owner('user:1', 'emails:view'), first, true],
  [
    'who may see mails, of an answer about an SMS',
    owner('key:2', 'emails:view'),
    { ...first, request: 'POST /v1/sms/send' },
    false,
  ],
  [
    'who may see all, of a request nobody knows',
    owner('key:2', 'emails:view'),
    { ...first, request: 'POST /x' },
    false,
  ],
  ['nobody known', owner('key:2'), { ...first, owner: null }, false],
] as const)('%s', (_, who, what, shown) => {
  expect(maySeeResponse(who, what)).toBe(shown);
});
