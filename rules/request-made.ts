export const MADE_KINDS = [
  'contacts',
  'emails',
  'events',
  'executions',
  'sms',
] as const satisfies (keyof RequestMade)[];

/** Ids of rows that a request has created, by kind. Later effects are found through them. */
export interface RequestMade {
  /** Created, changed, or noted as waiting for a variant. */
  contacts?: string[];
  emails?: string[];
  events?: string[];
  executions?: string[];
  sms?: string[];
}
