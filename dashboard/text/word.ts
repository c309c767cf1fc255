/** Explains a status, reason or step type of the API. `words.ts` is the only place that lists these explanations. */
export interface Word {
  /** Its meaning in one sentence. */
  means: string;
  color: string;
}
