import type { FieldError } from '../errors.ts';
import { isTakenBy } from '../events/automatic-emails.ts';
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
  /** How far its time is ahead of the clock. */
  aheadMs: number;
  /** Whether its pauses end at once, with its time going on to where they would have ended. */
  skipDelays: boolean;
  /** Events of the run: given at its start, and caused by its own steps. */
  events: RunEvent[];
  /** The contact's row as its steps have left it, by column; null while it is as it is stored. */
  contact: RunContact | null;
  /** When it came to the step at which it stands, in its own time. */
  since: string | null;
  /** The filters of the wait at which it stands, filled; null for any event, absent for a run from before they were kept. */
  filters?: Condition | null;
  /** When the current pause ends, in the run's own time. Null if only an event ends it. */
  dueAt: string | null;
  /** The project's time zone at the start, for times without an offset. Runs from before it was kept have none. */
  zone?: string;
}

export interface RunEvent {
  id: string;
  name: string;
  data: Record<string, unknown>;
  /** In the run's own time; null is as soon as something waits for it. */
  at: string | null;
  /**
   * The visit of the step that brought it about; steps take no time of a preview, so `at` does not tell their order.
   */
  visit?: number;
  /** It has ended a wait: it ends no other one. */
  used?: true;
}

/** Columns of `contacts` that differ; all of them for a contact that there is no row of. */
export interface RunContact {
  subscribed?: boolean;
  data?: Data;
  untrusted_keys?: string[];
  [column: string]: unknown;
}

/** Returns the data of a contact as a run has left it, or as it is stored where the run has changed none of it. */
export function dataInRun(run: RunContact | null | undefined, stored: Sourced<Data>): Sourced<Data> {
  if (!run?.data && !run?.untrusted_keys) return stored;
  return markUntrusted(run.data ?? stored.values, run.untrusted_keys ?? untrustedNames(stored));
}

/** A run in which nothing has happened. */
export function newRun(
  p: Pick<SandboxState, 'skipDelays' | 'events'> & { zone: string; contact?: RunContact },
): SandboxState {
  return { aheadMs: 0, since: null, dueAt: null, contact: null, ...p };
}

/** The event that a wait waits for. */
export interface Awaited {
  eventName: string;
  filters: Condition | undefined;
  includeAutomatic: boolean;
}

/** Returns the event that a run waits for at a WAIT_FOR_EVENT. Undefined if the step is not configured. */
export function awaitedEvent(config: unknown, run: SandboxState): Awaited | undefined {
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
  awaited: Awaited,
  p: { since: Date; now: Date; from: number },
): RunEvent | undefined {
  const counts = ({ at, visit }: RunEvent) =>
    visit === undefined
      ? at === null || (Date.parse(at) >= p.since.getTime() && Date.parse(at) <= p.now.getTime())
      : visit === p.from;
  const clock = { now: p.now, zone: run.zone };
  const found = run.events.find((event) => counts(event) && matches(event, awaited, clock));
  if (found) Object.assign(found, { used: true, at: found.at ?? p.now.toISOString() });
  return found;
}

/**
 * Returns how the run's current pause ends, as far as the run itself knows: at the first of its events that the wait
 * matches, else at its deadline. `at` is null if nothing ends it. Its own steps cause nothing meanwhile.
 */
export function endOfPause(run: SandboxState, awaited: Awaited | undefined): { at: Date | null; event?: RunEvent } {
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

function matches({ used, name, data }: RunEvent, awaited: Awaited, clock: FilterClock): boolean {
  const { eventName, filters } = awaited;
  return !used && name === eventName && isTakenBy(awaited, { name, data }) && matchesEventData(filters, data, clock);
}

/**
 * Returns the first event of the run that ends it by `exitOn` or `exitWhenUnsubscribed`, from its arrival at the current
 * position until an instant. An event without a time occurs when the run first pauses.
 * @param until null is without end
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

/** Lets what a step has brought about be so, at an instant in the run's own time. */
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
