export const MADE_KINDS = [
  'contacts',
  'emails',
  'events',
  'executions',
  'sms',
] as const satisfies (keyof RequestMade)[];

/** Ids of what a request has made, by kind; what follows from it later is found by them. */
export interface RequestMade {
  /** Created, changed, or noted as waiting for a variant. */
  contacts?: string[];
  emails?: string[];
  events?: string[];
  executions?: string[];
  sms?: string[];
}
