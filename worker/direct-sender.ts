import type { Logger } from 'pino';
import type { SendingGate } from '../activities/sending-hold.ts';
import type { Db } from '../db/connection.ts';
import { claimFair, deleteRows, releaseRows, renewLeases, type TakenRow } from '../db/outbox/outbox.ts';
import { describeFailure } from '../rules/failure-text.ts';
import { groupBy } from '../rules/filters/group-by.ts';
import { type OutboxLoop, startOutboxLoop } from './outbox-loop.ts';
import { BEFORE_ALL_PROJECTS, lastServedProject } from './turns.ts';

/** How long this process owns a row. After a kill, another process takes its rows. */
const LEASE_MS = 20_000;
/** The interval at which leases of rows in progress are renewed, for example while a provider is slow. */
const RENEW_MS = 5_000;

/**
 * The result of an attempt for its row:
 * - `closed`: the transaction that recorded the message ended the row as well.
 * - `gone`: there is nothing to send.
 * - `handed_over`: only this message waits until `dueAt`, by a timer in Temporal.
 * - `back`: the project's send rate allows no message before `dueAt`, so none of its rows is taken until then.
 */
export type RowFate = { row: TakenRow; fate: 'closed' | 'gone' } | RowLater;

export interface RowLater {
  row: TakenRow;
  fate: 'back' | 'handed_over';
  dueAt: Date;
}

/** Sends the messages of one kind. */
export interface DirectChannel {
  /** The name in the log. */
  name: string;
  /** The priority of the channel's rows in the outbox. */
  priority: number;
  /**
   * The maximum number of rows in progress in this process, in total and of one project. The limit of a project is
   * lower, so that slots stay free for other projects.
   */
  maxInFlight: number;
  maxOfProject: number;
  /** Makes the first attempt at rows of a project. */
  attempt(projectId: string, rows: TakenRow[], stop: AbortSignal): Promise<RowFate[]>;
  /** Hands rows of a project to Temporal, which makes the next attempt at `dueAt`. */
  handOver(projectId: string, rows: { row: TakenRow; dueAt: Date }[]): Promise<void>;
}

/**
 * Sends single messages straight from their outbox rows, projects round-robin, so that an outage or backlog of
 * Temporal delays no password reset. Deferred messages, and messages of a killed process, are handed to Temporal.
 * Runs in every worker; a worker owns the rows that it has taken as long as it lives.
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
    // While the gate is closed, rows stay in the outbox, where a restart finds them.
    if (!gate.isOpen()) return false;
    // A project without rows in progress gets at most its own limit.
    const limit = Math.min(inFlight.free(), channel.maxOfProject);
    if (limit <= 0) return false;
    const claim = { priority: channel.priority, limit, after, leaseMs: LEASE_MS, rooms: inFlight.freeByProject() };
    const rows = await claimFair(db, claim);
    if (rows.length === 0) return false;
    after = lastServedProject(rows, after);
    for (const [projectId, theirs] of groupBy(rows, (row) => row.projectId)) track(projectId, theirs);
    // If a claim returned several rows, each project got only its share, so more rows may be waiting. A single row needs
    // only one claim.
    return rows.length > 1;
  }

  function track(projectId: string, rows: TakenRow[]): void {
    inFlight.add(projectId, rows);
    const work = send(projectId, rows)
      // While Postgres is unreachable, the outcome is unknown. When the leases expire, the rows are handed to Temporal.
      .catch((error: Error) =>
        log.warn({ projectId, rows: rows.length, reason: describeFailure(error) }, `${channel.name} not recorded`),
      )
      .finally(() => {
        // New rows wake the loop. Rows that arrived while all slots were taken could not be claimed, so the loop is
        // woken again now that a slot is free.
        const wasFull = inFlight.isFull(projectId);
        inFlight.remove(rows);
        sends.delete(work);
        if (wasFull) loop.wake();
      });
    sends.add(work);
  }

  async function send(projectId: string, rows: TakenRow[]): Promise<void> {
    const cutOff = rows.filter((row) => row.attempts > 1).map((row) => ({ row, dueAt: new Date() }));
    const fresh = rows.filter((row) => row.attempts === 1);
    const attempted: Promise<RowFate[]> =
      fresh.length > 0 ? channel.attempt(projectId, fresh, stopping.signal) : Promise.resolve([]);
    const [fates] = await Promise.all([attempted, cutOff.length > 0 && channel.handOver(projectId, cutOff)]);
    const withFate = (fate: RowLater['fate']) => fates.filter((one): one is RowLater => one.fate === fate);
    const handedOver = withFate('handed_over');
    if (handedOver.length > 0) await channel.handOver(projectId, handedOver);
    const back = withFate('back');
    if (back.length > 0) deferProject(projectId, Math.min(...back.map((fate) => fate.dueAt.getTime())));
    await releaseRows(db, back.map(idOf));
    await deleteRows(db, fates.filter((fate) => fate.fate === 'gone').map(idOf));
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

/** The rows that this process sends now, within the limits of a channel, and the leases of these rows. */
class InFlightRows {
  /** The project of each row, and when the row was taken or last renewed. */
  readonly #rows = new Map<string, { projectId: string; sinceMs: number }>();
  /** Projects that have used up their send rate, with the time at which to ask again. */
  readonly #blocked = new Map<string, number>();
  readonly #limits: Pick<DirectChannel, 'maxInFlight' | 'maxOfProject'>;

  constructor(limits: Pick<DirectChannel, 'maxInFlight' | 'maxOfProject'>) {
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

  free(): number {
    return this.#limits.maxInFlight - this.#rows.size;
  }

  /** Returns the free slots of projects that have rows in progress or are blocked. */
  freeByProject(): Map<string, number> {
    const free = new Map<string, number>();
    for (const { projectId } of this.#rows.values()) {
      free.set(projectId, (free.get(projectId) ?? this.#limits.maxOfProject) - 1);
    }
    for (const [projectId, untilMs] of this.#blocked) {
      if (Date.now() < untilMs) free.set(projectId, 0);
      else this.#blocked.delete(projectId);
    }
    return free;
  }

  /** Tells whether no more rows fit, of the project or of all projects. */
  isFull(projectId: string): boolean {
    const ofProject = [...this.#rows.values()].filter((row) => row.projectId === projectId).length;
    return this.free() <= 0 || ofProject >= this.#limits.maxOfProject;
  }

  /** Renews the leases of rows that were taken long ago. */
  async renew(db: Db): Promise<void> {
    const now = Date.now();
    const old = [...this.#rows].filter(([, { sinceMs }]) => now - sinceMs >= RENEW_MS);
    if (old.length === 0) return;
    await renewLeases(db, { ids: old.map(([id]) => id), leaseMs: LEASE_MS });
    for (const [, row] of old) row.sinceMs = now;
  }
}

const idOf = ({ row }: RowFate): string => row.id;
