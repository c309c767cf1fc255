import type { Logger } from 'pino';
import { createBatcher } from '../db/batcher.ts';
import type { Db } from '../db/connection.ts';
import {
  claimRowsFairly,
  deferOutboxRows,
  deleteOutboxRows,
  deleteStartedOutboxRows,
  findEndedStarts,
  findEndedTargets,
  mayLeaveDueRows,
  mergeSignals,
  readOutboxState,
  releaseOutboxRows,
  SIGNAL_DEFERRAL_MS,
  type TakenRow,
} from '../db/outbox/outbox.ts';
import { type StartedWork, WATCHED_KINDS } from '../rules/executions/started-work.ts';
import { describeFailure } from '../rules/failure-text.ts';
import { MERGED_KINDS, type OutboxRow, TEMPORAL_PRIORITIES, type TemporalPriority } from '../rules/outbox.ts';
import { type RowGroup, splitIntoGroups } from '../temporal/groups.ts';
import type { Lifecycle } from '../temporal/lifecycle.ts';
import { startOutboxLoop } from './outbox-loop.ts';
import { BEFORE_ALL_PROJECTS, findLastServedProject } from './turns.ts';

/**
 * The maximum number of starts, signals and cancels of one project that Temporal has accepted and not processed yet.
 * Temporal processes the work of all tenants in the order of arrival, so accepted work delays every tenant. Work that
 * waits in the outbox delays only its own project (docs/decisions.md).
 */
const MAX_WITH_TEMPORAL_PER_PROJECT = 16;
/**
 * The maximum number of starts, signals and cancels of all projects together that Temporal has accepted and not
 * processed yet.
 */
const MAX_WITH_TEMPORAL = 128;
/** The maximum number of rows that this process hands to Temporal at the same time. Each row is one small RPC. */
const IN_FLIGHT_ROWS = 64;
/**
 * If no worker reports within this time that the work of a row has started, a dispatcher hands the row to Temporal
 * again. Handing over a row twice is safe, because starts and signals may be repeated.
 */
const LEASE_MS = 30_000;
/**
 * Finished rows are collected for this time and then deleted together. After each deletion, the loop reads the outbox
 * and claims the next rows, so the interval also limits these statements. With 25 ms, there was one round for each
 * execution.
 */
const REMOVAL_INTERVAL_MS = 100;
/** How long `deferOutboxRows` (db/outbox/outbox.ts) makes a row wait after the row's first attempt. */
const FIRST_DEFERRAL_MS = 1_000;
/** The wait before the next call to an unreachable Temporal. The wait doubles each time, up to `UNREACHABLE_MAX_MS`. */
const UNREACHABLE_MIN_MS = 250;
const UNREACHABLE_MAX_MS = 10_000;

/** The lower priorities that some claims start with: one of every `every` claims. */
const SHARES: { priority: TemporalPriority; every: number }[] = [
  { priority: 4, every: 16 },
  { priority: 3, every: 4 },
];

const NO_ROWS = { rows: [], hasMore: false };

export interface OutboxDispatcher {
  /** Wakes the loop, because there may be new rows. */
  wake(): void;
  /** Records that this worker has seen the work of a row start in Temporal. */
  noteStarted(started: StartedWork): void;
  /** Takes no more rows. Resolves when all taken rows are handed to Temporal or released. */
  stop(): Promise<void>;
}

/**
 * Hands rows of the outbox to Temporal: by priority, with projects in turn, and only a few rows at a time. The other
 * rows wait in the outbox. Every worker that serves the queue `workflows` runs a dispatcher. The worker that takes a
 * row hands the row to Temporal. The worker in which the row's work starts, which may be another worker, deletes the
 * row.
 */
export function startDispatcher(deps: {
  db: Db;
  lifecycle: Pick<Lifecycle, 'handOver'>;
  log: Pick<Logger, 'warn'>;
}): OutboxDispatcher {
  const { db, log } = deps;
  const backoff = new TemporalBackoff();
  const claims = createClaims(db);
  const handOver = createHandOver({ ...deps, backoff, wake: () => loop.wake() });
  const handOvers = new Set<Promise<void>>();
  let inFlight = 0;

  async function round(): Promise<boolean> {
    if (backoff.isActive()) return false;
    const { rows, hasMore } = await claims.claimNext(IN_FLIGHT_ROWS - inFlight);
    if (rows.length > 0) startHandOver(rows);
    return hasMore;
  }

  function startHandOver(rows: TakenRow[]): void {
    inFlight += rows.length;
    const work = handOver(rows)
      .catch((error: Error) =>
        log.warn(
          { reason: describeFailure(error) },
          'rows of the outbox were not processed; they are taken again when their lease expires',
        ),
      )
      .finally(() => {
        // Usually, the report that work has started frees a slot of the project and wakes the loop. But if
        // `IN_FLIGHT_ROWS` was reached, this process has a free slot only now.
        const wasFull = inFlight >= IN_FLIGHT_ROWS;
        inFlight -= rows.length;
        handOvers.delete(work);
        if (wasFull) loop.wake();
      });
    handOvers.add(work);
  }

  const startedBatch = createBatcher<StartedWork>(async (started) => {
    await deleteStartedOutboxRows(db, started);
    loop.wake();
  }, REMOVAL_INTERVAL_MS);

  const loop = startOutboxLoop({ round, log, name: 'dispatcher' });
  return {
    wake: loop.wake,
    noteStarted: (started) => void startedBatch.add([started]).catch(() => {}),
    stop: async () => {
      await loop.stop();
      await Promise.all(handOvers);
    },
  };
}

/** The wait between calls while Temporal is unreachable. */
class TemporalBackoff {
  #untilMs = 0;
  #waitMs = UNREACHABLE_MIN_MS;

  isActive(): boolean {
    return Date.now() < this.#untilMs;
  }

  noteResponse(): void {
    this.#waitMs = UNREACHABLE_MIN_MS;
  }

  /**
   * Starts the next wait and returns its length in milliseconds. Returns undefined if a wait is already running:
   * another row failed at about the same time, and has started the wait.
   */
  noteUnreachable(): number | undefined {
    if (this.isActive()) return undefined;
    const waitMs = this.#waitMs;
    this.#untilMs = Date.now() + waitMs;
    this.#waitMs = Math.min(UNREACHABLE_MAX_MS, waitMs * 2);
    return waitMs;
  }
}

/** Claims the next rows for Temporal, within the limit for each project and the limit for all projects. */
function createClaims(db: Db) {
  /** The last project that each priority served. */
  const lastServed = new Map<number, string>();
  let claims = 0;

  /**
   * Claims rows of the first priority that has rows of projects below their limits. `hasMore` tells whether the outbox
   * may have more rows to claim now.
   */
  async function claimNext(freeSlots: number): Promise<{ rows: TakenRow[]; hasMore: boolean }> {
    const { waiting, withTemporal } = await readOutboxState(db, TEMPORAL_PRIORITIES);
    if (waiting.length === 0) return NO_ROWS;
    const totalWithTemporal = [...withTemporal.values()].reduce((sum, rows) => sum + rows, 0);
    // A project that is not in `withTemporal` has no rows at Temporal, so the whole limit for a project applies to it.
    const limit = Math.min(MAX_WITH_TEMPORAL_PER_PROJECT, MAX_WITH_TEMPORAL - totalWithTemporal, freeSlots);
    if (limit <= 0) return NO_ROWS;
    const freeSlotsByProject = new Map(
      [...withTemporal].map(([id, rows]) => [id, Math.max(0, MAX_WITH_TEMPORAL_PER_PROJECT - rows)]),
    );
    const priorities = orderPriorities(claims).filter((priority) => waiting.includes(priority));
    claims += 1;
    for (const [index, priority] of priorities.entries()) {
      const after = lastServed.get(priority) ?? BEFORE_ALL_PROJECTS;
      const rows = await claimRowsFairly(db, {
        priority,
        limit,
        freeSlotsByProject,
        after,
        leaseMs: LEASE_MS,
        forTemporal: true,
      });
      if (rows.length === 0) continue;
      lastServed.set(priority, findLastServedProject(rows, after));
      return { rows, hasMore: mayLeaveDueRows(rows) || index < priorities.length - 1 };
    }
    return NO_ROWS;
  }

  return { claimNext };
}

/** Returns the function that hands claimed rows to Temporal, and then deletes, defers or releases each row. */
function createHandOver(deps: {
  db: Db;
  lifecycle: Pick<Lifecycle, 'handOver'>;
  log: Pick<Logger, 'warn'>;
  backoff: TemporalBackoff;
  wake: () => void;
}): (rows: TakenRow[]) => Promise<void> {
  const { db, lifecycle, log, backoff, wake } = deps;
  const remover = createBatcher<string>((ids) => deleteOutboxRows(db, ids), REMOVAL_INTERVAL_MS);
  const wakeIn = (ms: number) => void setTimeout(wake, ms).unref();

  async function handOver(rows: TakenRow[]): Promise<void> {
    const starts = rows.filter((row) => row.kind === 'execution.start');
    const ended = starts.length === 0 ? new Set<string>() : await findEndedStarts(db, starts);
    const notEnded = await mergeRepeatedSignals(rows.filter((row) => !ended.has(row.id)));
    const repeatedIds = new Set(toIds(rows.filter(({ attempts }) => attempts > 1)));
    const handOverOne = (group: RowGroup) => handOverGroup(group, repeatedIds);
    await Promise.all([remove(rows.filter((row) => ended.has(row.id))), ...splitIntoGroups(notEnded).map(handOverOne)]);
  }

  /** Returns the rows to hand over now. Defers a signal if the workflow has not received the previous signal yet. */
  async function mergeRepeatedSignals(rows: TakenRow[]): Promise<TakenRow[]> {
    const repeated = findRepeatedEvents(rows);
    const signals = rows.filter((row) => MERGED_KINDS.has(row.kind) || repeated.has(row));
    if (signals.length === 0) return rows;
    const merged = await mergeSignals(db, toIds(signals));
    if (merged.size < signals.length) wakeIn(SIGNAL_DEFERRAL_MS);
    return rows.filter((row) => !signals.includes(row) || merged.has(row.id));
  }

  async function handOverGroup(group: RowGroup, repeatedIds: ReadonlySet<string>): Promise<void> {
    const result = await lifecycle.handOver(group, { isRepeated: group.rows.some(({ id }) => repeatedIds.has(id)) });
    if (result.outcome !== 'failed') backoff.noteResponse();
    switch (result.outcome) {
      case 'accepted':
        if (!WATCHED_KINDS.has(group.kind)) await remove(group.rows);
        return;
      case 'already_started':
        return remove(group.rows);
      case 'not_running':
        return handleUndelivered(group.rows);
      case 'failed':
        return handleFailed(group, result);
    }
  }

  /**
   * Handles signals whose workflow is not running: deletes signals to an ended workflow, and defers signals to a
   * workflow that has not started yet.
   */
  async function handleUndelivered(rows: OutboxRow[]): Promise<void> {
    const ended = await findEndedTargets(db, rows);
    const waiting = rows.filter((row) => !ended.has(row.id));
    await Promise.all([
      remove(rows.filter((row) => ended.has(row.id))),
      defer(waiting, 'its execution or campaign has not started yet'),
    ]);
  }

  async function handleFailed({ kind, rows }: RowGroup, p: { reason: string; isUnreachable: boolean }): Promise<void> {
    log.warn(
      { kind, rows: rows.length, reason: p.reason },
      'rows could not be handed to Temporal; they will be retried',
    );
    if (!p.isUnreachable) return defer(rows, p.reason);
    const waitMs = backoff.noteUnreachable();
    if (waitMs !== undefined) wakeIn(waitMs);
    await releaseOutboxRows(db, toIds(rows));
  }

  /**
   * Deletes rows. If the process crashes before the deletion, or the deletion fails, the row is handed over again,
   * which is safe.
   */
  async function remove(rows: OutboxRow[]): Promise<void> {
    if (rows.length === 0) return;
    await remover.add(toIds(rows)).catch(() => {});
    wake();
  }

  /**
   * Makes rows wait: one second after the first attempt, and longer after later attempts. Wakes the loop after one
   * second. Polls of the outbox find the rows that are due later.
   */
  async function defer(rows: OutboxRow[], reason: string): Promise<void> {
    await deferOutboxRows(db, toIds(rows), reason);
    if (rows.length > 0) wakeIn(FIRST_DEFERRAL_MS);
  }

  return handOver;
}

/**
 * Returns the order in which a claim tries the priorities. `claims` is the number of earlier claims. Usually the
 * highest priority comes first, but in a small share of claims a lower priority comes first. Otherwise one tenant with
 * many rows of a high priority would block the rows of lower priorities of all tenants.
 */
function orderPriorities(claims: number): TemporalPriority[] {
  const first = SHARES.find(({ every }) => claims % every === every - 1)?.priority;
  if (first === undefined) return [...TEMPORAL_PRIORITIES];
  return [first, ...TEMPORAL_PRIORITIES.filter((priority) => priority !== first)];
}

/**
 * Finds the rows that would end the same wait as another row. One signal is enough to end a wait. Most waits have one
 * row, and need no query.
 */
function findRepeatedEvents(rows: TakenRow[]): Set<TakenRow> {
  const first = new Map<string, TakenRow>();
  const repeated = new Set<TakenRow>();
  for (const row of rows) {
    if (row.kind !== 'execution.event') continue;
    const wait = `${row.refId} ${row.payload.visit}`;
    const other = first.get(wait);
    if (other) repeated.add(other).add(row);
    else first.set(wait, row);
  }
  return repeated;
}

function toIds(rows: OutboxRow[]): string[] {
  return rows.map((row) => row.id);
}
