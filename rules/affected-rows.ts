export const AFFECTED_KINDS = [
  'contacts',
  'emails',
  'events',
  'executions',
  'sms',
] as const satisfies (keyof AffectedRows)[];

/**
 * Ids of the rows that a request created, by kind. The request log finds the later effects of the request by these ids.
 */
export interface AffectedRows {
  /** Contacts that the request created, changed, or registered for a notice when a product variant is available. */
  contacts?: string[];
  emails?: string[];
  events?: string[];
  executions?: string[];
  sms?: string[];
}
