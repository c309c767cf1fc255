import { z } from 'zod';
import { refuseUnfilled } from '../content/expressions.ts';
import { isParsedAsOlder } from '../stored-values.ts';
import { EVENT_NAME_LENGTH, impossibleEventReason, impossiblePrefixReason } from './event-names.ts';

/**
 * The schema for the name of an event in a new listener. A name that cannot occur is refused, with the nearest valid
 * name.
 */
export const ListenedEventInput = z
  .string()
  .trim()
  .min(1, { abort: true })
  .max(EVENT_NAME_LENGTH)
  .superRefine(refuseImpossibleEvent);

/** Adds an issue for the name of an event that cannot occur. */
export function refuseImpossibleEvent(name: string, ctx: z.RefinementCtx): void {
  refuseUnfilled(name, ctx);
  refuse(impossibleEventReason(name), ctx);
}

/** Adds an issue for a name, or a prefix followed by an asterisk, that no event can have. */
export function refuseImpossiblePattern(pattern: string, ctx: z.RefinementCtx): void {
  const isPrefix = pattern.endsWith('*');
  refuseUnfilled(pattern, ctx);
  refuse(isPrefix ? impossiblePrefixReason(pattern.slice(0, -1)) : impossibleEventReason(pattern), ctx);
}

function refuse(message: string | undefined, ctx: z.RefinementCtx): void {
  if (message !== undefined && !isParsedAsOlder())
    ctx.addIssue({ code: 'custom', message, params: { code: 'unknown_event' } });
}
