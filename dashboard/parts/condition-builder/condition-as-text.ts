import { conditionOf, type DraftCondition, isWhole } from './draft.ts';
import { filtersOf, sentenceOf } from './sentence.ts';

/** Shows the filters of a condition, one in a line. Rows that are not filled in yet have no sentence. */
export function conditionAsText(condition: DraftCondition): string {
  if (!isWhole(condition)) return '';
  return filtersOf(conditionOf(condition))
    .map((filter) => sentenceOf(filter, []))
    .join(`\n`);
}
