import { z } from 'zod';
import { ListenedEventInput } from '../../events/listened-event.ts';
import { StoredWaitFilters, WaitFiltersInput } from '../../filters/filters.ts';
import { findConfigErrors, type PauseStep } from './definition.ts';

/** The maximum timeout: 365 days, as for a DELAY. */
const MAX_SECONDS = 31_536_000;

/** The stored config of a WAIT_FOR_EVENT step. */
export const WaitConfig = z.object({
  eventName: z.string().min(1).max(255),
  timeout: z.number().positive().max(MAX_SECONDS).optional(),
  filters: createFiltersSchema(StoredWaitFilters),
  includeAutomatic: z.boolean().optional(),
});

/** The config in a request. Events that can never occur are refused. */
const WaitInput = WaitConfig.extend({ eventName: ListenedEventInput, filters: createFiltersSchema(WaitFiltersInput) });

function createFiltersSchema(schema: typeof WaitFiltersInput) {
  return z.preprocess((filters) => (matchesAnyEvent(filters) ? undefined : filters), schema.optional());
}

/** Tells whether there are no filters, so any event matches. An editor may save an empty list for no filters. */
export function matchesAnyEvent(filters: unknown): boolean {
  return filters === undefined || filters === null || (Array.isArray(filters) && filters.length === 0);
}

/** Waits for an event of the contact, until a deadline if one is set. */
export const waitForEvent: PauseStep = {
  kind: 'pause',
  input: WaitInput,
  older: WaitConfig,
  faults: ({ config }) => findConfigErrors(WaitInput, config),
  branches: () => [null, 'event', 'timeout'],
  names: [],
  secretsIn: [],
  sendsEmail: false,
  conditionAt: ['filters'],
  usesField: null,
  usesEvent: (config, eventName) => config.eventName === eventName,
  minWaitMs: () => Number.POSITIVE_INFINITY,
};
