import type { Scope } from '../../rules/access/scopes.ts';

/** One alternative of an operation's `security`: a scheme of the OpenAPI document and the scopes it needs. */
type Requirement = Partial<Record<'secretKey' | 'publicKey' | 'session', Scope[]>>;
export type Security = Requirement[];

/**
 * A secret key, or a person's session, that holds all of these scopes. Enforced by the guard and shown in the document.
 */
export function scopes(...needed: Scope[]): Security {
  return [{ secretKey: needed }, { session: needed }];
}

/** Any secret key or session, whatever its scopes (`/v1/verify`). */
export function anySecretKey(): Security {
  return scopes();
}

/** The public key, or any secret key: `/v1/track`, `/v1/pixel` and `/v1/back-in-stock` only. */
export function publicKey(): Security {
  return [{ publicKey: [] }, { secretKey: [] }];
}

/** A person's session with these permissions; an API key of any kind is refused as INVALID_API_KEY. */
export function session(...needed: Scope[]): Security {
  return [{ session: needed }];
}

/** No credentials at all. */
export function open(): Security {
  return [];
}

/** The facts about an operation's `security` that a guard needs. */
export interface AccessRule {
  secretKey: readonly string[] | undefined;
  publicKey: boolean;
  session: readonly string[] | undefined;
  /** On sessions without permissions (log out, switch project) the state of the project does not matter. */
  ofProject: boolean;
}

/** The rule of an operation; undefined when it is open to all. */
export function accessRule(security: readonly Record<string, readonly string[]>[] | undefined): AccessRule | undefined {
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
