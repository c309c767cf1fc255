/** The caller that sent an idempotency key. */
export interface IdempotencyKeyOwner {
  /** In the form of the audit log: `key:<id>`, `user:<id>`, `public`. */
  name: string;
  /**
   * True for the public key. Idempotency keys of callers with the public key never collide with idempotency keys of the
   * project's other callers.
   */
  public: boolean;
  scopes: ReadonlySet<string>;
}

/** For some operations: the scope that a caller needs to read the records in the response of the operation. */
const VIEW_SCOPES: ReadonlyMap<string, string> = new Map([
  ['POST /v1/send', 'emails:view'],
  ['POST /v1/send/batch', 'emails:view'],
  ['POST /v1/emails/{id}/resend', 'emails:view'],
  ['POST /v1/sms/send', 'sms:view'],
  ['POST /v1/track', 'contacts:view'],
]);

/**
 * Tells whether a 409 response may contain the response to the first request with the idempotency key. The caller of
 * the first request may see that response. For operations in `VIEW_SCOPES`, every caller with the scope to read the
 * records may see it, too. The secret keys and users of a project share their idempotency keys, which are often easy to
 * guess, such as an order number. A caller with fewer scopes must not learn anything by guessing.
 * @param first the first request with the key; `owner` is null for keys that were stored before the service recorded
 * owners
 */
export function maySeeResponse(owner: IdempotencyKeyOwner, first: { request: string; owner: string | null }): boolean {
  if (first.owner === owner.name) return true;
  const scope = VIEW_SCOPES.get(first.request);
  return scope !== undefined && owner.scopes.has(scope);
}
