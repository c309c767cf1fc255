import type { FieldError } from '../errors.ts';
import { countsForListener } from '../events/automatic-emails.ts';
import { checkData, type Data, mergeData, parseDataChanges } from '../filters/data-values.ts';
import { type FilterClock, matchesEventData } from '../filters/evaluate.ts';
import type { Condition } from '../filters/filters.ts';
import { listUntrustedNames, markUntrusted, type Sourced } from '../provenance/provenance.ts';
import { type Exits, findExitReason } from './exits.ts';
import { WaitConfig } from './steps/wait-for-event.ts';

/**
 * The state of a test run of a workflow. A sandbox stores this state with its execution, and a preview keeps it in
 * memory. Real executions have no such state. The steps of a test run write their changes to this state, not to the
 * contact, and read them from it.
 */
export interface SandboxState {
  /** The milliseconds by which the run's time is ahead of the real time. */
  aheadMs: number;
  /** True if the run's pauses end at once. The run's time then advances to the end of the pause. */
  skipDelays: boolean;
  /** The events of the run, from the request that started it and from its steps. */
  events: RunEvent[];
  /** The columns of the contact that the run's steps have changed. Null if they changed none. */
  contact: RunContact | null;
  /** When the current visit started, in the time of the run. */
  since: string | null;
  /**
   * The filled filters of the current wait. Null if any event with the name ends the wait; absent in runs of earlier
   * versions.
   */
  filters?: Condition | null;
  /** When the current pause ends, in the time of the run. Null if only an event ends the pause. */
  dueAt: string | null;
  /**
   * The project's time zone at the start of the run, for times without an offset. Absent in runs of earlier versions.
   */
  zone?: string;
}

export interface RunEvent {
  id: string;
  name: string;
  data: Record<string, unknown>;
  /** When the event occurs, in the time of the run. Null means that it occurs as soon as a step waits for it. */
  at: string | null;
  /**
   * The visit whose step caused the event. In a preview, steps take no time, so `at` does not show the order of events.
   */
  visit?: number;
  /** Set if the event has ended a wait. An event that has ended a wait cannot end another one. */
  used?: true;
}

/** The columns of the table `contacts` that a run has changed, or all columns for a contact without a row. */
export interface RunContact {
  subscribed?: boolean;
  data?: Data;
  untrusted_keys?: string[];
  [column: string]: unknown;
}

/** Returns the data of a contact with the run's changes, or the stored data if the run has changed no data. */
export function readDataInRun(run: RunContact | null | undefined, stored: Sourced<Data>): Sourced<Data> {
  if (!run?.data && !run?.untrusted_keys) return stored;
  return markUntrusted(run.data ?? stored.values, run.untrusted_keys ?? listUntrustedNames(stored));
}

/** Creates the state of a test run whose steps have changed nothing yet. */
export function createSandboxState(
  p: Pick<SandboxState, 'skipDelays' | 'events'> & { zone: string; contact?: RunContact },
): SandboxState {
  return { aheadMs: 0, since: null, dueAt: null, contact: null, ...p };
}

/** The event for which a step waits. */
export interface AwaitedEvent {
  eventName: string;
  filters: Condition | undefined;
  includeAutomatic: boolean;
}

/** Returns the event for which a run waits at a WAIT_FOR_EVENT step. Undefined if the step is not configured. */
export function readAwaitedEvent(config: unknown, run: SandboxState): AwaitedEvent | undefined {
  const { data } = WaitConfig.safeParse(config);
  if (!data) return undefined;
  return {
    eventName: data.eventName,
    filters: run.filters === undefined ? data.filters : (run.filters ?? undefined),
    includeAutomatic: data.includeAutomatic ?? false,
  };
}

/**
 * Finds the first event that ends a wait which starts now. The event occurred after the previous step, or the previous
 * step caused it. Marks the event as used, so that it ends no later wait.
 */
export function takeSandboxEvent(
  run: SandboxState,
  awaited: AwaitedEvent,
  p: { since: Date; now: Date; from: number },
): RunEvent | undefined {
  const isCounted = ({ at, visit }: RunEvent) =>
    visit === undefined
      ? at === null || (Date.parse(at) >= p.since.getTime() && Date.parse(at) <= p.now.getTime())
      : visit === p.from;
  const clock = { now: p.now, zone: run.zone };
  const found = run.events.find((event) => isCounted(event) && matches(event, awaited, clock));
  if (found) Object.assign(found, { used: true, at: found.at ?? p.now.toISOString() });
  return found;
}

/**
 * Returns how the run's current pause ends: at the first event of the run that matches the wait, else at the deadline.
 * `at` is null if nothing ends the pause. Events that the run's steps caused are ignored, because no step runs during a
 * pause.
 */
export function findEndOfPause(
  run: SandboxState,
  awaited: AwaitedEvent | undefined,
): { at: Date | null; event?: RunEvent } {
  const deadlineMs = run.dueAt === null ? Number.POSITIVE_INFINITY : Date.parse(run.dueAt);
  const sinceMs = run.since === null ? 0 : Date.parse(run.since);
  const [event] = awaited
    ? run.events
        .filter(
          (event) =>
            event.at !== null &&
            event.visit === undefined &&
            matches(event, awaited, { now: new Date(event.at), zone: run.zone }),
        )
        .filter(({ at }) => Date.parse(at ?? '') >= sinceMs && Date.parse(at ?? '') <= deadlineMs)
        .sort((a, b) => Date.parse(a.at ?? '') - Date.parse(b.at ?? ''))
    : [];
  if (event?.at) return { at: new Date(event.at), event };
  return { at: run.dueAt === null ? null : new Date(run.dueAt) };
}

function matches({ used, name, data }: RunEvent, awaited: AwaitedEvent, clock: FilterClock): boolean {
  const { eventName, filters } = awaited;
  return (
    !used && name === eventName && countsForListener(awaited, { name, data }) && matchesEventData(filters, data, clock)
  );
}

/**
 * Finds the first event that ends the run by `exitOn` or `exitWhenUnsubscribed`, between the start of the current visit
 * and an instant. An event without a time counts as occurring at the start of the current visit.
 * @param until null means no limit
 */
export function findExit(
  run: SandboxState,
  exits: Exits,
  until: Date | null,
): { at: Date; reason: ExitReason } | undefined {
  const sinceMs = run.since === null ? 0 : Date.parse(run.since);
  const untilMs = until?.getTime() ?? Number.POSITIVE_INFINITY;
  const found = run.events.flatMap((event) => {
    const atMs = event.at === null ? sinceMs : Date.parse(event.at);
    const reason = findExitReason(exits, event, { now: new Date(atMs), zone: run.zone });
    return reason && atMs >= sinceMs && atMs <= untilMs ? [{ at: new Date(atMs), reason }] : [];
  });
  return found.sort((a, b) => a.at.getTime() - b.at.getTime())[0];
}

type ExitReason = NonNullable<ReturnType<typeof findExitReason>>;

/** The effects of a step on a test run. */
export interface RunChanges {
  contact?: RunContact;
  events?: Pick<RunEvent, 'id' | 'name' | 'data'>[];
}

/** Applies the effects of a step to the run, at an instant in the time of the run. */
export function applyRunChanges(
  run: SandboxState,
  { contact, events = [] }: RunChanges,
  by: { at: Date; visit: number },
): void {
  if (contact) run.contact = { ...run.contact, ...contact };
  run.events.push(...events.map((event) => ({ ...event, at: by.at.toISOString(), visit: by.visit })));
}

/** A contact as the steps of a run see it. */
export interface SeenContact {
  subscribed: boolean;
  data: Sourced<Data>;
}

/**
 * Returns a contact after an UPDATE_CONTACT step, by the rules for data. The step cannot subscribe the contact if an
 * untrusted caller triggered the execution.
 * @returns the contact, or the errors if the data would exceed its limits
 */
export function applyContactUpdate(
  current: SeenContact,
  p: { data: Sourced<Data>; subscribed: boolean | undefined; untrustedTrigger: boolean },
): { contact: SeenContact; subscriptionChanged: boolean } | { errors: FieldError[] } {
  const { set, remove, errors } = parseDataChanges(p.data.values, 'keep');
  const data = mergeData(current.data.values, { set, remove });
  const allErrors = [...errors, ...checkData(data)];
  if (allErrors.length > 0) return { errors: allErrors };
  const changedKeys = new Set([...Object.keys(set), ...remove]);
  const untrustedKeys = [
    ...listUntrustedNames(current.data).filter((key) => !changedKeys.has(key)),
    ...Object.keys(set).filter((key) => p.data.untrusted.has(key)),
  ];
  const isRefused = p.subscribed === true && p.untrustedTrigger;
  const subscribed = p.subscribed === undefined || isRefused ? current.subscribed : p.subscribed;
  return {
    contact: { subscribed, data: markUntrusted(data, untrustedKeys) },
    subscriptionChanged: subscribed !== current.subscribed,
  };
}
