import { z } from 'zod';
import { refuseExpressions } from '../content/expressions.ts';
import { isParsingWithOlderRules } from '../stored-values.ts';
import { EVENT_NAME_LENGTH, findImpossibleEventError, findImpossiblePrefixError } from './event-names.ts';

/**
 * The schema for the name of the event in a new listener, such as a trigger. Refuses a name that can never occur, and
 * suggests the nearest valid name.
 */
export const ListenedEventInput = z
  .string()
  .trim()
  .min(1, { abort: true })
  .max(EVENT_NAME_LENGTH)
  .superRefine(refuseImpossibleEvent);

/**
 * Adds an issue if the name contains an expression (`{{ … }}`), or if an event with this name can never occur. The
 * second check does not apply to stored values.
 */
export function refuseImpossibleEvent(name: string, ctx: z.RefinementCtx): void {
  refuseExpressions(name, ctx);
  addIssueForMessage(findImpossibleEventError(name), ctx);
}

/**
 * Adds an issue for a pattern that contains an expression, or that no event can match. A pattern is a name, or a prefix
 * with an asterisk at its end.
 */
export function refuseImpossiblePattern(pattern: string, ctx: z.RefinementCtx): void {
  const isPrefix = pattern.endsWith('*');
  refuseExpressions(pattern, ctx);
  addIssueForMessage(
    isPrefix ? findImpossiblePrefixError(pattern.slice(0, -1)) : findImpossibleEventError(pattern),
    ctx,
  );
}

function addIssueForMessage(message: string | undefined, ctx: z.RefinementCtx): void {
  if (message !== undefined && !isParsingWithOlderRules())
    ctx.addIssue({ code: 'custom', message, params: { code: 'unknown_event' } });
}
