import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Where the processes that load this module write what they have measured: one file each, by pid. */
const FOLDER = 'LOOP_DELAY_DIR';
const RESOLUTION_MS = 5;
const WINDOW_MS = 100;

/** How late the event loop of a process was, in ms: the worst turn of each tenth of a second, the 95th percentile of those, and the worst of all. */
export interface LoopDelay {
  p95: number;
  max: number;
}

/** The environment that makes a process, and those that it starts, measure their loops. */
export function measuringLoops(folder: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=${import.meta.url}`, [FOLDER]: folder };
}

/** What the processes have measured since `sinceMs`, together. */
export function loopDelayOf(folder: string, pids: (number | null)[], sinceMs: number): LoopDelay {
  const worst = readdirSync(folder)
    .filter((name) => pids.includes(Number(name)))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
    .map((line) => line.split(' ').map(Number))
    .flatMap(([atMs = 0, ms = 0]) => (atMs >= sinceMs ? [ms] : []))
    .sort((a, b) => a - b);
  return { p95: Math.round(worst[Math.floor(worst.length * 0.95)] ?? 0), max: Math.round(worst.at(-1) ?? 0) };
}

const folder = process.env[FOLDER];
if (folder !== undefined && isMainThread) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  setInterval(() => {
    appendFileSync(join(folder, String(process.pid)), `${Date.now()} ${delays.max / 1e6 - RESOLUTION_MS}\n`);
    delays.reset();
  }, WINDOW_MS).unref();
}
