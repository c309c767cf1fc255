import type { Logger } from 'pino';
import type { SendingGate } from '../activities/sending-hold.ts';
import type { Db } from '../db/connection.ts';
import {
  claimRowsFairly,
  deleteOutboxRows,
  mayLeaveDueRows,
  releaseOutboxRows,
  renewOutboxLeases,
  type TakenRow,
} from '../db/outbox/outbox.ts';
import { describeFailure } from '../rules/failure-text.ts';
import { groupBy } from '../rules/filters/group-by.ts';
import { type OutboxLoop, startOutboxLoop } from './outbox-loop.ts';
import { BEFORE_ALL_PROJECTS, findLastServedProject } from './turns.ts';

/**
 * The length of a lease: how long a row belongs to the process that took it, unless the process renews the lease. If
 * the process is killed, another process takes the row afterwards.
 */
const LEASE_MS = 20_000;
/**
 * A process renews the leases of its rows in progress when the leases are this old, because a slow provider may need
 * longer than a lease.
 */
const RENEW_MS = 5_000;

/**
 * The next step for the outbox row after an attempt:
 * - `none`: the transaction that recorded the message's result has already deleted the row, or has handed the message
 *   to Temporal.
 * - `delete`: the message does not need to be sent any more.
 * - `hand_over`: only this message has to wait until `dueAt`; a workflow in Temporal waits and sends it.
 * - `release`: the project's send rate or compute budget, or a paused route, allows no message before `dueAt`; or this
 *   process stops. Until `dueAt`, this process takes no row of the project.
 */
export type RowAction = { row: TakenRow; action: 'none' | 'delete' } | DeferredRow;

export interface DeferredRow {
  row: TakenRow;
  action: 'release' | 'hand_over';
  dueAt: Date;
}

/** Takes outbox rows of one kind and sends their messages. */
export interface DirectChannel {
  /** The name in the log. */
  name: string;
  /** The priority of the channel's rows in the outbox. */
  priority: number;
  /**
   * The maximum number of rows in progress in this process, in total and for each project. The limit for a project is
   * lower, so that slots stay free for other projects.
   */
  maxInFlight: number;
  maxPerProject: number;
  /** Makes the first attempt to send the messages of some rows of a project. */
  attempt(projectId: string, rows: TakenRow[], stop: AbortSignal): Promise<RowAction[]>;
  /** Hands rows of a project to Temporal, which makes the next attempt at `dueAt`. */
  handOver(projectId: string, rows: { row: TakenRow; dueAt: Date }[]): Promise<void>;
}

/**
 * Sends single messages directly from their outbox rows, without Temporal. An outage or a backlog of Temporal therefore
 * delays no password reset. Serves the projects in turn. Hands to Temporal: messages that the provider defers, messages
 * outside their sending window, and messages of a killed process. Every worker that serves the queue `transactional`
 * runs this loop. A worker keeps the rows that it has taken until they are finished or the worker ends.
 */
export function startDirectSender(deps: {
  db: Db;
  channel: DirectChannel;
  gate: SendingGate;
  log: Pick<Logger, 'warn'>;
}): OutboxLoop {
  const { db, channel, gate, log } = deps;
  const stopping = new AbortController();
  const inFlight = new InFlightRows(channel);
  const sends = new Set<Promise<void>>();
  let after = BEFORE_ALL_PROJECTS;

  async function round(): Promise<boolean> {
    // While the installation may not send, rows stay in the outbox.
    if (!gate.isOpen()) return false;
    // A project that is missing in `countFreeSlotsByProject()` has no rows in progress, so this limit applies to it.
    const limit = Math.min(inFlight.countFreeSlots(), channel.maxPerProject);
    if (limit <= 0) return false;
    const claim = {
      priority: channel.priority,
      limit,
      after,
      leaseMs: LEASE_MS,
      freeSlotsByProject: inFlight.countFreeSlotsByProject(),
    };
    const rows = await claimRowsFairly(db, claim);
    if (rows.length === 0) return false;
    after = findLastServedProject(rows, after);
    for (const [projectId, ofProject] of groupBy(rows, (row) => row.projectId)) startSending(projectId, ofProject);
    // If the claim took all rows that it may take, a slot that becomes free wakes the loop.
    return mayLeaveDueRows(rows);
  }

  function startSending(projectId: string, rows: TakenRow[]): void {
    inFlight.add(projectId, rows);
    const work = send(projectId, rows)
      // The outcome could not be recorded, because Postgres is unreachable. When the leases expire, a worker takes the
      // rows again and hands them to Temporal.
      .catch((error: Error) =>
        log.warn({ projectId, rows: rows.length, reason: describeFailure(error) }, `${channel.name} not recorded`),
      )
      .finally(() => {
        // While all slots were taken, new rows woke the loop, but the loop could not claim them. A slot is free now, so
        // this call wakes the loop again.
        const wasFull = inFlight.isFull(projectId);
        inFlight.remove(rows);
        sends.delete(work);
        if (wasFull) loop.wake();
      });
    sends.add(work);
  }

  async function send(projectId: string, rows: TakenRow[]): Promise<void> {
    const interrupted = rows.filter((row) => row.attempts > 1).map((row) => ({ row, dueAt: new Date() }));
    const firstAttempts = rows.filter((row) => row.attempts === 1);
    const attempted: Promise<RowAction[]> =
      firstAttempts.length > 0 ? channel.attempt(projectId, firstAttempts, stopping.signal) : Promise.resolve([]);
    const [actions] = await Promise.all([
      attempted,
      interrupted.length > 0 && channel.handOver(projectId, interrupted),
    ]);
    const withAction = (action: DeferredRow['action']) =>
      actions.filter((row): row is DeferredRow => row.action === action);
    const handedOver = withAction('hand_over');
    if (handedOver.length > 0) await channel.handOver(projectId, handedOver);
    const throttled = withAction('release');
    if (throttled.length > 0) deferProject(projectId, Math.min(...throttled.map(({ dueAt }) => dueAt.getTime())));
    await releaseOutboxRows(db, throttled.map(toRowId));
    await deleteOutboxRows(db, actions.filter(({ action }) => action === 'delete').map(toRowId));
  }

  function deferProject(projectId: string, untilMs: number): void {
    inFlight.block(projectId, untilMs);
    setTimeout(() => loop.wake(), Math.max(0, untilMs - Date.now())).unref();
  }

  const renewing = setInterval(() => void inFlight.renew(db).catch(() => {}), RENEW_MS / 2);
  const loop = startOutboxLoop({ round, log, name: channel.name });
  return {
    wake: loop.wake,
    stop: async () => {
      stopping.abort();
      await loop.stop();
      await Promise.all(sends);
      clearInterval(renewing);
    },
  };
}

/** The rows that a channel of this process is sending, with their leases. Enforces the limits of the channel. */
class InFlightRows {
  /** Maps a row's id to its project and to the time when this process took the row or last renewed its lease. */
  readonly #rows = new Map<string, { projectId: string; sinceMs: number }>();
  /** The projects that may not send now, each with the time from which its rows may be taken again. */
  readonly #blocked = new Map<string, number>();
  readonly #limits: Pick<DirectChannel, 'maxInFlight' | 'maxPerProject'>;

  constructor(limits: Pick<DirectChannel, 'maxInFlight' | 'maxPerProject'>) {
    this.#limits = limits;
  }

  add(projectId: string, rows: TakenRow[]): void {
    for (const row of rows) this.#rows.set(row.id, { projectId, sinceMs: Date.now() });
  }

  remove(rows: TakenRow[]): void {
    for (const row of rows) this.#rows.delete(row.id);
  }

  block(projectId: string, untilMs: number): void {
    this.#blocked.set(projectId, untilMs);
  }

  countFreeSlots(): number {
    return this.#limits.maxInFlight - this.#rows.size;
  }

  /** Returns the number of free slots of each project that has rows in progress or may not send now. */
  countFreeSlotsByProject(): Map<string, number> {
    const free = new Map<string, number>();
    for (const { projectId } of this.#rows.values()) {
      free.set(projectId, (free.get(projectId) ?? this.#limits.maxPerProject) - 1);
    }
    for (const [projectId, untilMs] of this.#blocked) {
      if (Date.now() < untilMs) free.set(projectId, 0);
      else this.#blocked.delete(projectId);
    }
    return free;
  }

  /** Tells whether the limit of the project, or the limit of all projects, is reached. */
  isFull(projectId: string): boolean {
    const ofProject = [...this.#rows.values()].filter((row) => row.projectId === projectId).length;
    return this.countFreeSlots() <= 0 || ofProject >= this.#limits.maxPerProject;
  }

  /** Renews the leases that are older than `RENEW_MS`. */
  async renew(db: Db): Promise<void> {
    const now = Date.now();
    const expiring = [...this.#rows].filter(([, { sinceMs }]) => now - sinceMs >= RENEW_MS);
    if (expiring.length === 0) return;
    await renewOutboxLeases(db, { ids: expiring.map(([id]) => id), leaseMs: LEASE_MS });
    for (const [, row] of expiring) row.sinceMs = now;
  }
}

const toRowId = ({ row }: RowAction): string => row.id;
