/** Who sends an idempotency key. */
export interface KeyOwner {
  /** As the audit log has it: `key:<id>`, `user:<id>`, `public`. */
  name: string;
  /** By the public key, whose idempotency keys are a namespace of their own. */
  public: boolean;
  scopes: ReadonlySet<string>;
}

/** The scope that shows, by other requests, what the answer to a request tells of. */
const VIEW_SCOPES: ReadonlyMap<string, string> = new Map([
  ['POST /v1/send', 'emails:view'],
  ['POST /v1/send/batch', 'emails:view'],
  ['POST /v1/emails/{id}/resend', 'emails:view'],
  ['POST /v1/sms/send', 'sms:view'],
  ['POST /v1/track', 'contacts:view'],
]);

/**
 * Whether a 409 may show what the first request with the key was answered: to the one who made it, and to who may see
 * the records that the answer names. Keys are one namespace a project, and often easy to guess, such as the number of
 * an order: another's key that holds less learns nothing by trying them.
 * @param first `owner` is null for keys from before owners were noted
 */
export function maySeeAnswer(owner: KeyOwner, first: { request: string; owner: string | null }): boolean {
  if (first.owner === owner.name) return true;
  const scope = VIEW_SCOPES.get(first.request);
  return scope !== undefined && owner.scopes.has(scope);
}
