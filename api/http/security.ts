import type { Scope } from '../../rules/access/scopes.ts';

/** One alternative of an operation's `security`: a kind of credentials, with the scopes that it needs. */
type Requirement = Partial<Record<'secretKey' | 'publicKey' | 'session', Scope[]>>;
export type Security = Requirement[];

/**
 * Allows a secret key or a user's session with all of these scopes. The request checks enforce it, and the OpenAPI
 * document shows it.
 */
export function allowScopes(...needed: Scope[]): Security {
  return [{ secretKey: needed }, { session: needed }];
}

/** Allows any secret key or session, regardless of its scopes (`/v1/verify`). */
export function allowAnySecretKey(): Security {
  return allowScopes();
}

/** Allows the public key and any secret key. For `/v1/track`, `/v1/pixel` and `/v1/back-in-stock` only. */
export function allowPublicKey(): Security {
  return [{ publicKey: [] }, { secretKey: [] }];
}

/** Allows a user's session whose role has all of these scopes. Any API key is refused as INVALID_API_KEY. */
export function allowSession(...needed: Scope[]): Security {
  return [{ session: needed }];
}

/** Requires no credentials. */
export function allowAnyone(): Security {
  return [];
}

/** The credentials that an operation accepts, and the scopes that each kind of credentials needs. */
export interface AccessRule {
  secretKey: readonly string[] | undefined;
  publicKey: boolean;
  session: readonly string[] | undefined;
  /**
   * False for operations that need only a session and no scope (log out, switch project). They work even if the project
   * is disabled.
   */
  ofProject: boolean;
}

/** Returns the access rule of an operation. Undefined if the operation requires no credentials. */
export function toAccessRule(
  security: readonly Record<string, readonly string[]>[] | undefined,
): AccessRule | undefined {
  if (!security || security.length === 0) return undefined;
  const find = (scheme: string) => security.find((requirement) => scheme in requirement)?.[scheme];
  const [secretKey, session] = [find('secretKey'), find('session')];
  return {
    secretKey,
    publicKey: find('publicKey') !== undefined,
    session,
    ofProject: secretKey !== undefined || (session?.length ?? 0) > 0,
  };
}
