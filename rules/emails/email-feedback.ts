import type { Refusal } from './refusal.ts';

/** What came back about one mail, whoever said it. */
export type Feedback =
  | { kind: 'delivery'; at: Date }
  /** A server refused it after all; `words` are its own. */
  | { kind: 'bounce'; at: Date; refusal: Refusal; words: string }
  | { kind: 'complaint'; at: Date };
