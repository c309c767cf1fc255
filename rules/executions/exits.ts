import { z } from 'zod';
import { hasExpression } from '../content/expressions.ts';
import { countsForListener } from '../events/automatic-emails.ts';
import type { ContactEvent } from '../events/event-names.ts';
import { ListenedEventInput } from '../events/listened-event.ts';
import { conditionSizeFault } from '../filters/condition-size.ts';
import type { Data } from '../filters/data-values.ts';
import { type FilterClock, matchesEventData } from '../filters/evaluate.ts';
import { type Condition, parseCondition, WaitFiltersInput } from '../filters/filters.ts';
import { describeForms } from '../input-forms.ts';
import type { Sourced } from '../provenance/provenance.ts';
import { fillCondition } from './fill-condition.ts';
import { matchesAnyEvent } from './steps/wait-for-event.ts';

/** An event that ends an execution of its contact at any step. */
export interface ExitEvent {
  eventName: string;
  /** Filters on the event's data, as in a WAIT_FOR_EVENT. Without filters, any event with the name counts. */
  filters?: Condition | undefined;
  /** Whether automatic emails count, for `email.received`; absent means no. */
  includeAutomatic?: boolean | undefined;
}

/** Events that end executions of a workflow early. */
export interface Exits {
  exitOn: ExitEvent[];
  exitWhenUnsubscribed: boolean;
}

/** Exits of a workflow whose executions end only at its end. */
export const NO_EXITS: Exits = { exitOn: [], exitWhenUnsubscribed: false };

/** The event of `exitWhenUnsubscribed`: any change of `subscribed` to false. Leaving a topic is another event. */
export const UNSUBSCRIBED_EVENT: ContactEvent = 'contact.unsubscribed';
/** The maximum number of exits, because each event of a contact is compared with all of them. */
export const EXITS_MAX = 20;

/**
 * Size of all exits as JSON. A page of a list has a hundred workflows, and every event reads the workflows that exit
 * on it.
 */
const EXITS_MAX_BYTES = 16 * 1024;

const Filters = describeForms(
  z
    .unknown()
    .superRefine((filters, ctx) => {
      const large = conditionSizeFault(filters);
      if (large)
        ctx.addIssue({ code: 'custom', path: large.path, message: large.message, params: { code: 'too_big' } });
    })
    .transform((filters) => (matchesAnyEvent(filters) ? undefined : filters))
    .pipe(WaitFiltersInput.optional()),
  () => WaitFiltersInput,
);

/** The schema for `exitOn` in a request. The parsed value is stored. */
export const ExitOnInput = z
  .array(
    z.object({
      eventName: ListenedEventInput,
      filters: Filters.optional(),
      includeAutomatic: z.boolean().optional(),
    }),
  )
  .max(EXITS_MAX)
  .refine((exits) => Buffer.byteLength(JSON.stringify(exits)) <= EXITS_MAX_BYTES, {
    error: `all together are at most ${EXITS_MAX_BYTES / 1024} KB of JSON`,
    params: { code: 'too_big' },
  });

/** Fills the filters of exits with the variables of one execution. */
export function fillExits<Exit extends { filters?: unknown }>(
  exitOn: readonly Exit[],
  variables: Sourced<Data>,
): Exit[] {
  return exitOn.map((exit) =>
    hasExpression(exit.filters)
      ? { ...exit, filters: fillCondition(parseCondition(exit.filters, 'wait'), variables, 'wait') }
      : exit,
  );
}

/** Returns the reason for which an event ends the executions of its contact in a workflow; undefined if it does not. */
export function exitReason(
  {
    exitOn,
    exitWhenUnsubscribed,
  }: {
    exitOn: readonly { eventName: string; filters?: unknown; includeAutomatic?: boolean | undefined }[];
    exitWhenUnsubscribed: boolean;
  },
  event: { name: string; data: Record<string, unknown> },
  clock: FilterClock,
): 'exited_on_event' | 'unsubscribed' | undefined {
  if (exitWhenUnsubscribed && event.name === UNSUBSCRIBED_EVENT) return 'unsubscribed';
  const matches = exitOn.some(
    ({ eventName, filters, includeAutomatic }) =>
      eventName === event.name &&
      countsForListener({ includeAutomatic }, event) &&
      matchesEventData(matchesAnyEvent(filters) ? undefined : parseCondition(filters, 'wait'), event.data, clock),
  );
  return matches ? 'exited_on_event' : undefined;
}
