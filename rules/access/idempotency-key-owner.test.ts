import { expect, it } from 'vitest';
import { type IdempotencyKeyOwner, maySeeResponse } from './idempotency-key-owner.ts';

const createOwner = (name: string, ...scopes: string[]): IdempotencyKeyOwner => ({
  name,
  public: false,
  scopes: new Set(scopes),
});
const first = { request: 'POST /v1/send', owner: 'key:1' };

it.each([
  ['the key of the first request', createOwner('key:1'), first, true],
  ['another key', createOwner('key:2', 'email:send', 'sms:view'), first, false],
  ['another key that may see emails', createOwner('key:2', 'emails:view'), first, true],
  ['a user who may see emails', createOwner('user:1', 'emails:view'), first, true],
  [
    'a key that may see emails, for a response about an SMS',
    createOwner('key:2', 'emails:view'),
    { ...first, request: 'POST /v1/sms/send' },
    false,
  ],
  [
    'a key that may see emails, for an unknown kind of request',
    createOwner('key:2', 'emails:view'),
    { ...first, request: 'POST /x' },
    false,
  ],
  ['another key, if the first caller is unknown', createOwner('key:2'), { ...first, owner: null }, false],
] as const)('decides whether a caller may see the first response: %s', (_, caller, request, isShown) => {
  expect(maySeeResponse(caller, request)).toBe(isShown);
});
