/** Explains a status, reason or step type of the API. `words.ts` collects all of these explanations. */
export interface Word {
  /** The meaning of the value in one sentence. */
  means: string;
  /** Name on screens, if the code of the API does not read well. */
  label?: string;
  color: string;
}
