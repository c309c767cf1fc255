import { z } from 'zod';
import { hasExpression } from '../content/expressions.ts';
import { countsForListener } from '../events/automatic-emails.ts';
import type { ContactEvent } from '../events/event-names.ts';
import { ListenedEventInput } from '../events/listened-event.ts';
import { findConditionSizeError } from '../filters/condition-size.ts';
import type { Data } from '../filters/data-values.ts';
import { type FilterClock, matchesEventData } from '../filters/evaluate.ts';
import { type Condition, parseCondition, WaitFiltersInput } from '../filters/filters.ts';
import { declareForms } from '../input-forms.ts';
import type { Sourced } from '../provenance/provenance.ts';
import { fillCondition } from './fill-condition.ts';
import { matchesAnyEvent } from './steps/wait-for-event.ts';

/** An event that ends an execution of its contact at any step. */
export interface ExitEvent {
  eventName: string;
  /**
   * Filters on the event's data, as in a WAIT_FOR_EVENT step. Without filters, any event with this name ends the
   * execution.
   */
  filters?: Condition | undefined;
  /** True if automatic emails count, for the event `email.received`. Absent means that they do not count. */
  includeAutomatic?: boolean | undefined;
}

/** Events that end executions of a workflow early. */
export interface Exits {
  exitOn: ExitEvent[];
  exitWhenUnsubscribed: boolean;
}

/** The exits of a workflow whose executions never end early. */
export const NO_EXITS: Exits = { exitOn: [], exitWhenUnsubscribed: false };

/**
 * The event for `exitWhenUnsubscribed`. The service records it at any change of `subscribed` to false, but not when a
 * contact leaves a topic.
 */
export const UNSUBSCRIBED_EVENT: ContactEvent = 'contact.unsubscribed';
/** The maximum number of exits, because each event of a contact is compared with all of them. */
export const EXITS_MAX = 20;

/**
 * The maximum size of all exits of a workflow as JSON. A page of a list has a hundred workflows, and for every event,
 * the service reads the workflows that exit on this event.
 */
const EXITS_MAX_BYTES = 16 * 1024;

const Filters = declareForms(
  z
    .unknown()
    .superRefine((filters, ctx) => {
      const large = findConditionSizeError(filters);
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

/**
 * Returns the reason for which an event ends the contact's executions of a workflow. Undefined if the event does not
 * end them.
 */
export function findExitReason(
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
