import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import { readThreadCpuMs } from '../rules/time-limit.ts';

/**
 * The environment variable with the folder of the measurements. Each process that loads this module writes one file
 * there, which is named by its pid.
 */
const FOLDER = 'LOOP_DELAY_DIR';
const RESOLUTION_MS = 5;
const WINDOW_MS = 100;

/** Delay of a process's event loop, in ms. */
export interface LoopDelay {
  /**
   * The longest delay is measured in each interval of 100 ms. This value is the 95th percentile of these delays. On a
   * busy machine, other work also increases it.
   */
  late95: number;
  /** The longest CPU time of one iteration of the loop. Other work on the machine does not increase this time. */
  turn: number;
}

/** Returns the environment variables that make a process and its children measure their event loops. */
export function createLoopDelayEnvironment(folder: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=${import.meta.url}`, [FOLDER]: folder };
}

/** Returns the delay and CPU time of the event loops of all given processes since `sinceMs`, together. */
export function readLoopDelay(folder: string, pids: (number | null)[], sinceMs: number): LoopDelay {
  const windows = readdirSync(folder)
    .filter((name) => pids.includes(Number(name)))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
    .map((line) => line.split(' ').map(Number))
    .filter(([atMs = 0]) => atMs >= sinceMs);
  const late = windows.map(([, ms = 0]) => ms).sort((a, b) => a - b);
  return {
    late95: Math.round(late[Math.floor(late.length * 0.95)] ?? 0),
    turn: Math.round(Math.max(0, ...windows.map(([, , ms = 0]) => ms))),
  };
}

const folder = process.env[FOLDER];
if (folder !== undefined && isMainThread) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let turnMs = 0;
  let lastMs = readThreadCpuMs();
  setInterval(() => {
    const nowMs = readThreadCpuMs();
    turnMs = Math.max(turnMs, nowMs - lastMs);
    lastMs = nowMs;
  }, RESOLUTION_MS).unref();
  setInterval(() => {
    const lateMs = delays.max / 1e6 - RESOLUTION_MS;
    appendFileSync(join(folder, String(process.pid)), `${Date.now()} ${lateMs} ${turnMs}\n`);
    delays.reset();
    turnMs = 0;
  }, WINDOW_MS).unref();
}
