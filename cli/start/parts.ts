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
 * The order in which the parts stop. The API is first, so that no new requests arrive. Then the workers stop after
 * their current work. Then Temporal stops, and Postgres is last. Postgres gets the remaining time, because its
 * checkpoint after a campaign takes seconds. Without the checkpoint, the next start would need crash recovery.
 */
const STOP_ORDER: readonly { kind: Kind; graceMs: number }[] = [
  { kind: 'api', graceMs: 4_000 },
  { kind: 'worker', graceMs: 11_000 },
  { kind: 'temporal', graceMs: 2_000 },
  { kind: 'postgres', graceMs: 1_500 },
];
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
      for (const { kind, graceMs } of STOP_ORDER) {
        const ms = kind === 'postgres' ? Math.max(graceMs, deadline - Date.now()) : graceMs;
        await Promise.all(parts.filter((part) => part.kind === kind).map((part) => part.supervised?.stop(ms)));
      }
    },
    killAll: async () => {
      for (const part of parts) part.supervised?.kill();
      const deadline = Date.now() + KILL_WAIT_MS;
      while (parts.some((part) => part.identity && isAlive(part.identity)) && Date.now() < deadline) await sleep(20);
    },
  };
}
