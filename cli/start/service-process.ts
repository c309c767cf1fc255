import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Config, ConfigError, type Environment, parseConfig } from '../../rules/config.ts';
import { describeFailure, readStackFrames } from '../../rules/failure-text.ts';
import { InstallationError } from '../../rules/installation-tokens.ts';
import { createLogger } from '../logger.ts';
import { StartError } from './error.ts';
import './utc.ts';

/**
 * One Ctrl-C sends two signals within milliseconds, from the terminal and from npm. Only a signal after this time
 * counts as a second Ctrl-C.
 */
const SECOND_SIGNAL_MS = 500;

/**
 * If a signal arrives during the start, the process waits this long for the end of the start. The start may hang, for
 * example if Postgres does not respond.
 */
const START_GRACE_MS = 3_000;

interface Closable {
  close(): Promise<void>;
}

/**
 * Runs an API or a worker until a signal arrives or its parent `npm start` has ended. Then stops gracefully with exit
 * code 0. If the start fails, prints one line and exits with code 1. The function `fatal` ends the process after one of
 * its parts has ended unexpectedly.
 */
export async function runServiceProcess(
  name: 'api' | 'worker',
  env: Environment,
  start: (config: Config, parts: { log: Logger; fatal: (error: Error) => void }) => Promise<Closable>,
): Promise<void> {
  process.on('uncaughtException', exitWithError);
  try {
    const config = parseConfig(env);
    const starting = start(config, { log: createLogger(name, config.logLevel), fatal: exitWithError });
    stopOnSignal(starting);
    await starting;
    process.send?.('ready');
  } catch (error) {
    exitWithError(error);
  }
}

/** Returns one line for an error that the user can fix, and the whole error otherwise. */
export function describeStartError(error: unknown): unknown {
  const isForUser = [ConfigError, StartError, InstallationError].some((known) => error instanceof known);
  return isForUser && error instanceof Error ? error.message : error;
}

/** Calls `first` at the first signal, and `second` at a signal that comes at least `SECOND_SIGNAL_MS` later. */
export function onSignals(first: () => void, second: () => void): void {
  let firstAt: number | undefined;
  const handle = (): void => {
    const now = Date.now();
    if (firstAt === undefined) {
      firstAt = now;
      first();
    } else if (now - firstAt >= SECOND_SIGNAL_MS) second();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, handle);
}

/**
 * Stops the process gracefully when a signal arrives. Call this function before the start is complete, because one part
 * of a worker may already run tasks while another part is still starting.
 */
function stopOnSignal(starting: Promise<Closable>): void {
  let ending = false;
  const end = (): void => {
    if (ending) return;
    ending = true;
    void Promise.race([starting, setTimeout(START_GRACE_MS)])
      .then((running) => running?.close())
      .then(() => process.exit(0), exitWithError);
  };
  onSignals(end, () => process.exit(1));
  if (!process.send) return;
  process.once('disconnect', end); // `npm start` was killed, so nothing would stop or restart this process.
  if (!process.connected) end();
}

/**
 * Prints an error and exits. An unexpected error is printed without the values that its message quotes, because the
 * content of a database row or of a server's reply must not be in the log.
 */
function exitWithError(error: unknown): never {
  const printable = describeStartError(error);
  console.error(
    printable instanceof Error ? `${describeFailure(printable)}\n${readStackFrames(printable)}` : printable,
  );
  process.exit(1);
}
