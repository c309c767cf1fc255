import type { Refusal } from './refusal.ts';

/**
 * Feedback about one email: a delivery, a bounce or a complaint. Feedback may come from a callback of the provider or
 * from a returned email.
 */
export type Feedback =
  | { kind: 'delivery'; at: Date }
  /** A server refused the email after it had been accepted. `words` is the reply of that server. */
  | { kind: 'bounce'; at: Date; refusal: Refusal; words: string }
  | { kind: 'complaint'; at: Date };
