import type { Condition } from '../../../packages/client/src/operations.generated.ts';

/** Returns whether the value has the form of a condition; the API reports errors inside it. */
export function isCondition(given: unknown): given is Condition {
  return typeof given === 'object' && given !== null && Array.isArray((given as Condition).groups);
}
