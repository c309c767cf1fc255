export const AFFECTED_KINDS = [
  'contacts',
  'emails',
  'events',
  'executions',
  'sms',
] as const satisfies (keyof AffectedRows)[];

/** Ids of rows that a request has created, by kind. Later effects are found through them. */
export interface AffectedRows {
  /** Contacts that were created, changed, or registered to wait for a variant. */
  contacts?: string[];
  emails?: string[];
  events?: string[];
  executions?: string[];
  sms?: string[];
}
