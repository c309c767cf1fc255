import { isIP } from 'node:net';
import type { MetricCounter, MetricHistogram } from '@temporalio/common';
import { type LogEntry, type Logger, type LogLevel, Runtime } from '@temporalio/worker';
import type { Logger as Pino } from 'pino';
import type { ComputedWork } from '../compute/compute.ts';
import type { BlockedLoop } from '../compute/loop-watch.ts';
import { describeFailure } from '../rules/failure-text.ts';

/**
 * Warnings of the SDK to ignore. These warnings report that a worker has only activities or only workflows, which is
 * intended here.
 */
const EXPECTED_WARNINGS = new Set([
  'No activities registered, not polling for activity tasks',
  'No workflows registered, not polling for workflow tasks',
]);

/** The levels that the native part of the SDK logs: its own warnings, and errors of its libraries. */
const NATIVE_LOG = { core: 'WARN', other: 'ERROR' } as const;

const BLOCKED_HELP =
  'How long the event loop was blocked, for blocks of more than 200 ms. The label `work` names the work that blocked it.';
let blockedHistogram: MetricHistogram | undefined;
const THREAD_CPU_HELP = 'CPU time of threads in microseconds, by kind of work.';
let threadCpuCounter: MetricCounter | undefined;

/**
 * Redirects the log of Temporal's SDK to our log, including the log of its native part, which otherwise prints colored
 * text to standard error. If `metrics` is set, the SDK serves its metrics for Prometheus at `/metrics` of this address.
 * Call this function once, before the first worker is created.
 */
export function useTemporalLogger(log: Pino, metrics?: { host: string; port: number }): void {
  const write = (level: LogLevel, message: string, meta?: LogEntry['meta']) => {
    if (EXPECTED_WARNINGS.has(message)) return;
    // The failure of a workflow task is not logged, because it contains a stack trace. The Temporal UI shows the
    // failure.
    const { error, failure: _, ...details } = meta ?? {};
    log[toPinoLevel(level)]({ ...details, ...(error instanceof Error && { reason: describeFailure(error) }) }, message);
  };
  const logger: Logger = {
    log: write,
    trace: (message, meta) => write('TRACE', message, meta),
    debug: (message, meta) => write('DEBUG', message, meta),
    info: (message, meta) => write('INFO', message, meta),
    warn: (message, meta) => write('WARN', message, meta),
    error: (message, meta) => write('ERROR', message, meta),
  };
  const telemetryOptions = {
    logging: { filter: NATIVE_LOG, forward: {} },
    ...(metrics && { metrics: { prometheus: { bindAddress: formatAddress(metrics) } } }),
  };
  Runtime.install({ logger, shutdownSignals: [], telemetryOptions });
}

/**
 * Records in a metric how long an activity or a channel has blocked the event loop. Call this function after
 * `useTemporalLogger`.
 */
export function recordBlockedLoop({ work, ms }: BlockedLoop): void {
  blockedHistogram ??= Runtime.instance().metricMeter.createHistogram(
    'tidings_event_loop_held_milliseconds',
    'int',
    'ms',
    BLOCKED_HELP,
  );
  blockedHistogram.record(ms, { work });
}

/**
 * Adds the CPU time of a thread's work to a metric. The metric counts microseconds, because a counter takes whole
 * numbers only. Call this function after `useTemporalLogger`.
 */
export function recordThreadCpu({ kind, cpuMs }: ComputedWork): void {
  threadCpuCounter ??= Runtime.instance().metricMeter.createCounter(
    'tidings_computed_microseconds',
    'us',
    THREAD_CPU_HELP,
  );
  threadCpuCounter.add(Math.round(cpuMs * 1_000), { kind });
}

function formatAddress({ host, port }: { host: string; port: number }): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Maps a log level of the SDK to a level of our log. The SDK's lines with the level info, about the start and stop of
 * each worker, are too detailed for operators, so they become debug.
 */
function toPinoLevel(level: LogLevel): 'trace' | 'debug' | 'warn' | 'error' {
  if (level === 'ERROR' || level === 'WARN') return level === 'ERROR' ? 'error' : 'warn';
  return level === 'TRACE' ? 'trace' : 'debug';
}
