import { z } from 'zod';
import { EVENT_NAME_LENGTH, impossibleEventReason } from './event-names.ts';

/** The name of an event that something new listens to; one that cannot happen is refused with the nearest that can. */
export const ListenedEventInput = z.string().trim().min(1).max(EVENT_NAME_LENGTH).superRefine(refuseImpossibleEvent);

/** Adds an issue for the name of an event that cannot happen. */
export function refuseImpossibleEvent(name: string, ctx: z.RefinementCtx): void {
  const message = impossibleEventReason(name);
  if (message !== undefined) ctx.addIssue({ code: 'custom', message, params: { code: 'unknown_event' } });
}
