/** The caller that sent an idempotency key. */
export interface KeyOwner {
  /** In the form of the audit log: `key:<id>`, `user:<id>`, `public`. */
  name: string;
  /** True for the public key, whose idempotency keys are a separate namespace. */
  public: boolean;
  scopes: ReadonlySet<string>;
}

/** By request: the scope with which a caller can read the records in the response. */
const VIEW_SCOPES: ReadonlyMap<string, string> = new Map([
  ['POST /v1/send', 'emails:view'],
  ['POST /v1/send/batch', 'emails:view'],
  ['POST /v1/emails/{id}/resend', 'emails:view'],
  ['POST /v1/sms/send', 'sms:view'],
  ['POST /v1/track', 'contacts:view'],
]);

/**
 * Tells whether a 409 response may contain the response to the first request with the idempotency key. Only the caller
 * of that first request may see it, and callers with the scope to read the records in it. Idempotency keys form one
 * namespace per project, and are often easy to guess, such as an order number. A caller with fewer scopes must not
 * learn anything by guessing.
 * @param first the first request with the key; `owner` is null for keys that were stored before the service recorded
 * owners
 */
export function maySeeResponse(owner: KeyOwner, first: { request: string; owner: string | null }): boolean {
  if (first.owner === owner.name) return true;
  const scope = VIEW_SCOPES.get(first.request);
  return scope !== undefined && owner.scopes.has(scope);
}
