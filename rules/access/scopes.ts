/** Scopes that a secret key can have. Source: contract §2.4 Scopes. */
export const GRANTABLE_SCOPES = [
  'email:send',
  'emails:view',
  'sms:send',
  'sms:view',
  'contacts:view',
  'contacts:edit',
  'templates:view',
  'templates:edit',
  'campaigns:view',
  'campaigns:edit',
  'campaigns:send',
  'segments:view',
  'segments:edit',
  'workflows:view',
  'workflows:edit',
  'events:view',
  'events:edit',
  'domains:view',
  'domains:edit',
  'analytics:view',
] as const;

/** Permissions of users only. No API key can have these permissions. */
export const USER_SCOPES = [
  'apikeys:manage',
  'team:manage',
  'billing:manage',
  'project:manage',
  'campaigns:approve',
] as const;

export const SCOPES = [...GRANTABLE_SCOPES, ...USER_SCOPES] as const;

export const ROLES = ['OWNER', 'ADMIN', 'MEMBER'] as const;

export type GrantableScope = (typeof GRANTABLE_SCOPES)[number];
export type Scope = (typeof SCOPES)[number];
export type Role = (typeof ROLES)[number];

const ROLE_SCOPES: Record<Role, ReadonlySet<Scope>> = {
  OWNER: new Set(SCOPES),
  ADMIN: new Set(SCOPES.filter((scope) => scope !== 'billing:manage')),
  MEMBER: new Set(GRANTABLE_SCOPES),
};

/**
 * Returns the scopes of a role: OWNER has all scopes, ADMIN all except billing, MEMBER the scopes that a key can have.
 */
export function getRoleScopes(role: Role): ReadonlySet<Scope> {
  return ROLE_SCOPES[role];
}

function isGrantable(name: string): name is GrantableScope {
  return (GRANTABLE_SCOPES as readonly string[]).includes(name);
}

/**
 * Returns the requested scopes that the new key may not get: unknown scopes, scopes for users only, and scopes that the
 * key's creator does not have.
 */
export function findUngrantableScopes(requested: readonly string[], creatorScopes: ReadonlySet<string>): string[] {
  return requested.filter((scope) => !isGrantable(scope) || !creatorScopes.has(scope));
}
