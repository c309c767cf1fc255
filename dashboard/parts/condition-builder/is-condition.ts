import type { Condition } from '../../../packages/client/src/operations.generated.ts';

/** Tells whether a value is an object with a list of groups, like a condition. The API reports errors inside it. */
export function isCondition(value: unknown): value is Condition {
  return typeof value === 'object' && value !== null && Array.isArray((value as Condition).groups);
}
