import { describe, expect, it } from 'vitest';
import { findUngrantableScopes, GRANTABLE_SCOPES, getRoleScopes, SCOPES, USER_SCOPES } from './scopes.ts';

describe('roles', () => {
  it('an owner has every scope', () => {
    expect([...getRoleScopes('OWNER')].sort()).toEqual([...SCOPES].sort());
  });

  it('an admin has every scope except billing', () => {
    expect(SCOPES.filter((scope) => !getRoleScopes('ADMIN').has(scope))).toEqual(['billing:manage']);
  });

  it('a member has the grantable scopes and no scope that only users can have', () => {
    expect([...getRoleScopes('MEMBER')]).toEqual([...GRANTABLE_SCOPES]);
  });
});

describe('granting to a key', () => {
  it('an owner can grant every grantable scope, and no other', () => {
    expect(findUngrantableScopes(GRANTABLE_SCOPES, getRoleScopes('OWNER'))).toEqual([]);
    expect(findUngrantableScopes(USER_SCOPES, getRoleScopes('OWNER'))).toEqual([...USER_SCOPES]);
  });

  it('refuses to grant scopes that the creator lacks or that do not exist', () => {
    expect(
      findUngrantableScopes(['email:send', 'sms:send', 'nope', '__proto__'], new Set(['email:send', 'nope'])),
    ).toEqual(['sms:send', 'nope', '__proto__']);
  });
});
