/** The sender of an idempotency key. */
export interface KeyOwner {
  /** In the form of the audit log: `key:<id>`, `user:<id>`, `public`. */
  name: string;
  /** True for the public key, whose idempotency keys are a separate namespace. */
  public: boolean;
  scopes: ReadonlySet<string>;
}

/** The scope with which a caller can read the records in the response of a request. */
const VIEW_SCOPES: ReadonlyMap<string, string> = new Map([
  ['POST /v1/send', 'emails:view'],
  ['POST /v1/send/batch', 'emails:view'],
  ['POST /v1/emails/{id}/resend', 'emails:view'],
  ['POST /v1/sms/send', 'sms:view'],
  ['POST /v1/track', 'contacts:view'],
]);

/**
 * Tells whether a 409 may contain the response to the first request with the key: only for the caller that made that
 * request, and for callers that may read the records in the response. Keys form one namespace per project, and are
 * often easy to guess, such as an order number. A key with fewer scopes therefore learns nothing by guessing.
 * @param first `owner` is null for keys from before owners were stored
 */
export function maySeeResponse(owner: KeyOwner, first: { request: string; owner: string | null }): boolean {
  if (first.owner === owner.name) return true;
  const scope = VIEW_SCOPES.get(first.request);
  return scope !== undefined && owner.scopes.has(scope);
}
