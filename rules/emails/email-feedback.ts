import type { Refusal } from './refusal.ts';

/** Feedback about one email, from any source. */
export type Feedback =
  | { kind: 'delivery'; at: Date }
  /** A server refused the email later; `words` is its reply. */
  | { kind: 'bounce'; at: Date; refusal: Refusal; words: string }
  | { kind: 'complaint'; at: Date };
