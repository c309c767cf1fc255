import type { BounceVerdict } from './bounce.ts';

/** What came back about one mail, whoever said it. */
export type Feedback =
  | { kind: 'delivery'; at: Date }
  /** `words` are the receiving server's. */
  | { kind: 'bounce'; at: Date; verdict: BounceVerdict; words: string }
  | { kind: 'complaint'; at: Date };
