import { conditionOf, type DraftCondition, isComplete } from './draft.ts';
import { filtersOf, sentenceOf } from './sentence.ts';

/** Formats a condition as text, one filter per line. Returns an empty text while a row is incomplete. */
export function conditionAsText(condition: DraftCondition): string {
  if (!isComplete(condition)) return '';
  return filtersOf(conditionOf(condition))
    .map((filter) => sentenceOf(filter, []))
    .join(`\n`);
}
