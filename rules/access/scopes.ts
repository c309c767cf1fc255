/** Scopes a secret key can hold. Source: contract §2.4 Scopes. */
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

/** Permissions of users only. No key can have them. */
export const PEOPLE_SCOPES = [
  'apikeys:manage',
  'team:manage',
  'billing:manage',
  'project:manage',
  'campaigns:approve',
] as const;

export const SCOPES = [...GRANTABLE_SCOPES, ...PEOPLE_SCOPES] as const;

export const ROLES = ['OWNER', 'ADMIN', 'MEMBER'] as const;

export type GrantableScope = (typeof GRANTABLE_SCOPES)[number];
export type Scope = (typeof SCOPES)[number];
export type Role = (typeof ROLES)[number];

const ROLE_SCOPES: Record<Role, ReadonlySet<Scope>> = {
  OWNER: new Set(SCOPES),
  ADMIN: new Set(SCOPES.filter((scope) => scope !== 'billing:manage')),
  MEMBER: new Set(GRANTABLE_SCOPES),
};

/** Returns the scopes of a role: OWNER everything, ADMIN all but billing, MEMBER every grantable scope. */
export function roleScopes(role: Role): ReadonlySet<Scope> {
  return ROLE_SCOPES[role];
}

/** Tells whether a key can hold the scope at all. The creator of the key must hold it too. */
function isGrantable(name: string): name is GrantableScope {
  return (GRANTABLE_SCOPES as readonly string[]).includes(name);
}

/**
 * Returns the scopes of `asked` that may not be granted: unknown ones, ones for users only, and ones that the creator
 * does not have.
 */
export function findUngrantable(asked: readonly string[], held: ReadonlySet<string>): string[] {
  return asked.filter((scope) => !isGrantable(scope) || !held.has(scope));
}
