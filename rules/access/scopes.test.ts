import { describe, expect, it } from 'vitest';
import { findUngrantable, GRANTABLE_SCOPES, roleScopes, SCOPES, USER_SCOPES } from './scopes.ts';

describe('roles', () => {
  it('an owner has every scope', () => {
    expect([...roleScopes('OWNER')].sort()).toEqual([...SCOPES].sort());
  });

  it('an admin has every scope except billing', () => {
    expect(SCOPES.filter((scope) => !roleScopes('ADMIN').has(scope))).toEqual(['billing:manage']);
  });

  it('a member has the grantable scopes and no scope that only users can have', () => {
    expect([...roleScopes('MEMBER')]).toEqual([...GRANTABLE_SCOPES]);
  });
});

describe('granting to a key', () => {
  it('an owner can grant every grantable scope, and no other', () => {
    expect(findUngrantable(GRANTABLE_SCOPES, roleScopes('OWNER'))).toEqual([]);
    expect(findUngrantable(USER_SCOPES, roleScopes('OWNER'))).toEqual([...USER_SCOPES]);
  });

  it('refuses to grant scopes that the creator lacks or that do not exist', () => {
    expect(findUngrantable(['email:send', 'sms:send', 'nope', '__proto__'], new Set(['email:send', 'nope']))).toEqual([
      'sms:send',
      'nope',
      '__proto__',
    ]);
  });
});
