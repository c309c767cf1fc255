import { isSameJson } from '../../../rules/as-code/changes.ts';
import { renameInCondition, type UnknownName } from '../../../rules/as-code/references.ts';
import { type Condition as ConditionValue, StoredCondition } from '../../../rules/filters/filters.ts';
import { isStoredAt } from '../../../rules/stored-values.ts';
import { type ApplyState, parseItem, refuseUnknownSlugs } from './apply-state.ts';
import { Condition } from './input.ts';

/**
 * Returns a condition of a file with ids instead of slugs. Undefined if the file has no condition. A condition or a
 * filter that is already stored is accepted, even if it refers to a deleted segment, or if a newer rule forbids it.
 * @throws AppError VALIDATION_ERROR at `field`
 */
export function toStoredCondition(
  applying: ApplyState,
  p: { condition: unknown; stored: ConditionValue | null | undefined; field: string },
): ConditionValue | undefined {
  const { condition, stored, field } = p;
  if (condition === undefined || condition === null) return undefined;
  const unknown: UnknownName[] = [];
  const conditionWithIds = renameInCondition(condition, applying.ids, (name) => void unknown.push(name));
  if (stored && isSameJson(StoredCondition.safeParse(conditionWithIds).data, stored)) return stored;
  const isStored = (path: readonly PropertyKey[]) => isStoredAt(path, conditionWithIds, stored);
  refuseUnknownSlugs(
    unknown.filter(({ path }) => !isStored(path)),
    field,
  );
  return parseItem(Condition, conditionWithIds, field, isStored);
}
