import { setTimeout as sleep } from 'node:timers/promises';
import type { Pids } from './dev-file.ts';
import { isAlive, type ProcessIdentity } from './processes.ts';
import type { Running } from './running.ts';
import { type Supervised, type SuperviseOptions, supervise } from './supervise.ts';

/**
 * How long to wait until killed processes have ended. They end within milliseconds, but the immediate shutdown of
 * Postgres takes a little longer.
 */
const KILL_WAIT_MS = 1_500;

type Kind = 'api' | 'worker' | 'temporal' | 'postgres';

/**
 * The time that each kind of part has to stop. The API finishes its running requests for 10 s, and then writes its
 * pending opens, clicks and log entries. The workers finish their current tasks within 10 s.
 */
const GRACE_MS: Readonly<Record<Kind, number>> = { api: 15_000, worker: 11_000, temporal: 2_000, postgres: 1_500 };
/**
 * The workers stop when the API has ended, or after this time if a request takes longer, such as a large export.
 * Workers that stop after the API also send the emails of its last requests.
 */
const WORKERS_WAIT_MS = 4_000;
/** The limit for the whole stop, because `npm start` promises to stop within 20 s. */
const STOP_TOTAL_MS = 18_500;

/** The processes of a running `npm start`. */
export interface SupervisedParts {
  /** Starts a process and restarts it when it ends. Resolves with its first run. */
  add<T extends Running>(kind: Kind, options: Omit<SuperviseOptions<T>, 'onStarted'>): Promise<T>;
  pids(): Pids;
  /** Sets the listener that is called whenever a process has started. */
  onChange(listener: () => void): void;
  stopAll(): Promise<void>;
  killAll(): Promise<void>;
}

interface Part {
  readonly kind: Kind;
  identity: ProcessIdentity | undefined;
  supervised: Supervised | undefined;
}

export function createParts(): SupervisedParts {
  const parts: Part[] = [];
  let notify = (): void => {};
  const pidsOf = (kind: Kind): number[] =>
    parts.filter((part) => part.kind === kind).flatMap((part) => part.identity?.pid ?? []);
  const stop = async (kind: Kind, graceMs = 0): Promise<void> => {
    const ms = Math.max(GRACE_MS[kind], graceMs);
    await Promise.all(parts.filter((part) => part.kind === kind).map((part) => part.supervised?.stop(ms)));
  };
  return {
    add: async (kind, options) => {
      const part: Part = { kind, identity: undefined, supervised: undefined };
      parts.push(part);
      const onStarted = (running: Running): void => {
        part.identity = running.identity;
        notify();
      };
      const { first, ...supervised } = await supervise({ ...options, onStarted });
      part.supervised = supervised;
      return first;
    },
    pids: () => ({
      start: process.pid,
      api: pidsOf('api')[0] ?? 0,
      workers: pidsOf('worker'),
      postgres: pidsOf('postgres')[0] ?? null,
      temporal: pidsOf('temporal')[0] ?? null,
    }),
    onChange: (listener) => {
      notify = listener;
    },
    stopAll: async () => {
      notify = () => {};
      const deadline = Date.now() + STOP_TOTAL_MS;
      const api = stop('api');
      await waitAtMost(api, WORKERS_WAIT_MS);
      await Promise.all([api, stop('worker')]);
      await stop('temporal');
      // Postgres gets the remaining time, because its checkpoint after a campaign takes seconds. Without the
      // checkpoint, the next start would need crash recovery.
      await stop('postgres', deadline - Date.now());
    },
    killAll: async () => {
      for (const part of parts) part.supervised?.kill();
      const deadline = Date.now() + KILL_WAIT_MS;
      while (parts.some((part) => part.identity && isAlive(part.identity)) && Date.now() < deadline) await sleep(20);
    },
  };
}

/** Waits until the promise has settled, or for `ms`. */
async function waitAtMost(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
}
