import { type DraftCondition, isComplete, toCondition } from './draft.ts';
import { filterAsSentence, listFilters } from './sentence.ts';

/** Formats a condition as text, one filter per line. Returns an empty text while a row is incomplete. */
export function conditionAsText(condition: DraftCondition): string {
  if (!isComplete(condition)) return '';
  return listFilters(toCondition(condition))
    .map((filter) => filterAsSentence(filter, []))
    .join(`\n`);
}
