import type { FieldError } from '../errors.ts';
import { countsForListener } from '../events/automatic-emails.ts';
import { applyData, checkData, type Data, mergeData } from '../filters/data-values.ts';
import { type FilterClock, matchesEventData } from '../filters/evaluate.ts';
import type { Condition } from '../filters/filters.ts';
import { markUntrusted, type Sourced, untrustedNames } from '../provenance/provenance.ts';
import { type Exits, exitReason } from './exits.ts';
import { WaitConfig } from './steps/wait-for-event.ts';

/**
 * State of a test run of a workflow. A sandbox stores it with its execution; a preview keeps it in memory. Real
 * executions have no such state. A test run writes its changes here, and its steps read them from here.
 */
export interface SandboxState {
  /** The milliseconds by which the run's time is ahead of the real time. */
  aheadMs: number;
  /** Whether its pauses end at once, and its time advances to the end of the pause. */
  skipDelays: boolean;
  /** Events of the run, from its start request and from its own steps. */
  events: RunEvent[];
  /** The columns of the contact that its steps have changed; null if none. */
  contact: RunContact | null;
  /** When the current visit started, in the run's own time. */
  since: string | null;
  /** The filled filters of its current wait; null for any event, absent in runs of earlier versions. */
  filters?: Condition | null;
  /** When the current pause ends, in the run's own time. Null if only an event ends it. */
  dueAt: string | null;
  /** The project's time zone at the start, for times without an offset. Absent in runs of earlier versions. */
  zone?: string;
}

export interface RunEvent {
  id: string;
  name: string;
  data: Record<string, unknown>;
  /** In the run's own time; null means as soon as a step waits for it. */
  at: string | null;
  /** The visit whose step caused it. Steps take no time in a preview, so `at` does not show their order. */
  visit?: number;
  /** Set if it has ended a wait. It then ends no other wait. */
  used?: true;
}

/** The changed columns of `contacts`; all columns for a contact without a row. */
export interface RunContact {
  subscribed?: boolean;
  data?: Data;
  untrusted_keys?: string[];
  [column: string]: unknown;
}

/** Returns the data of a contact with the run's changes, or the stored data if the run has changed none. */
export function dataInRun(run: RunContact | null | undefined, stored: Sourced<Data>): Sourced<Data> {
  if (!run?.data && !run?.untrusted_keys) return stored;
  return markUntrusted(run.data ?? stored.values, run.untrusted_keys ?? untrustedNames(stored));
}

/** Creates the state of a sandbox run whose steps have changed nothing yet. */
export function newRun(
  p: Pick<SandboxState, 'skipDelays' | 'events'> & { zone: string; contact?: RunContact },
): SandboxState {
  return { aheadMs: 0, since: null, dueAt: null, contact: null, ...p };
}

/** The event of a wait. */
export interface AwaitedEvent {
  eventName: string;
  filters: Condition | undefined;
  includeAutomatic: boolean;
}

/** Returns the event that a run waits for at a WAIT_FOR_EVENT. Undefined if the step is not configured. */
export function awaitedEvent(config: unknown, run: SandboxState): AwaitedEvent | undefined {
  const { data } = WaitConfig.safeParse(config);
  if (!data) return undefined;
  return {
    eventName: data.eventName,
    filters: run.filters === undefined ? data.filters : (run.filters ?? undefined),
    includeAutomatic: data.includeAutomatic ?? false,
  };
}

/**
 * Takes the first event of the run that matches a wait which starts now, so that no later wait is ended by it: an
 * event since the previous step, or one that the previous step caused.
 */
export function takeEvent(
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
 * Returns how the run's current pause ends, by the run's own events: at the first event that matches the wait, else at
 * the deadline. `at` is null if nothing ends the pause. Its own steps cause no events during a pause.
 */
export function endOfPause(
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
 * Returns the first event of the run that ends it by `exitOn` or `exitWhenUnsubscribed`, from its arrival at the
 * current position until an instant. An event without a time occurs when the run first pauses.
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
    const reason = exitReason(exits, event, { now: new Date(atMs), zone: run.zone });
    return reason && atMs >= sinceMs && atMs <= untilMs ? [{ at: new Date(atMs), reason }] : [];
  });
  return found.sort((a, b) => a.at.getTime() - b.at.getTime())[0];
}

type ExitReason = NonNullable<ReturnType<typeof exitReason>>;

/** Effects of a step of a run. */
export interface RunChanges {
  contact?: RunContact;
  events?: Pick<RunEvent, 'id' | 'name' | 'data'>[];
}

/** Applies the effects of a step to the run, at an instant in the run's own time. */
export function changeRun(
  run: SandboxState,
  { contact, events = [] }: RunChanges,
  by: { at: Date; visit: number },
): void {
  if (contact) run.contact = { ...run.contact, ...contact };
  run.events.push(...events.map((event) => ({ ...event, at: by.at.toISOString(), visit: by.visit })));
}

/** A contact as steps see it. */
export interface SeenContact {
  subscribed: boolean;
  data: Sourced<Data>;
}

/**
 * Returns a contact after an UPDATE_CONTACT, by the rules for data. It lifts no refusal if an untrusted caller made
 * the execution reach the step.
 * @returns the errors if the data would exceed its limits; then nothing changes
 */
export function applyContactUpdate(
  current: SeenContact,
  p: { data: Sourced<Data>; subscribed: boolean | undefined; untrustedTrigger: boolean },
): { contact: SeenContact; subscriptionChanged: boolean } | { errors: FieldError[] } {
  const { set, remove, errors } = applyData(p.data.values, 'keep');
  const data = mergeData(current.data.values, { set, remove });
  const faults = [...errors, ...checkData(data)];
  if (faults.length > 0) return { errors: faults };
  const written = new Set([...Object.keys(set), ...remove]);
  const untrustedKeys = [
    ...untrustedNames(current.data).filter((key) => !written.has(key)),
    ...Object.keys(set).filter((key) => p.data.untrusted.has(key)),
  ];
  const refused = p.subscribed === true && p.untrustedTrigger;
  const subscribed = p.subscribed === undefined || refused ? current.subscribed : p.subscribed;
  return {
    contact: { subscribed, data: markUntrusted(data, untrustedKeys) },
    subscriptionChanged: subscribed !== current.subscribed,
  };
}
