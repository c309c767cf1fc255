import type { Refusal } from './refusal.ts';

/**
 * Feedback about one email: a delivery, a bounce or a complaint. Feedback may come from a callback of the provider or
 * from a returned email.
 */
export type Feedback =
  | { kind: 'delivery'; at: Date }
  /**
   * A later server refused the email, after the first server had accepted it. `words` is the reply of the server that
   * refused.
   */
  | { kind: 'bounce'; at: Date; refusal: Refusal; words: string }
  | { kind: 'complaint'; at: Date };
