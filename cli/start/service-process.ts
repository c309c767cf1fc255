import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Config, ConfigError, type Environment, parseConfig } from '../../rules/config.ts';
import { describeFailure, stackFrames } from '../../rules/failure-text.ts';
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
 * During a stop, a part that is still starting gets this much time. Its start may hang, for example if Postgres does
 * not respond.
 */
const START_GRACE_MS = 3_000;

interface Closable {
  close(): Promise<void>;
}

/**
 * Runs an API or a worker until a signal arrives or its parent `npm start` is gone, then stops it gracefully with exit
 * code 0. A failed start prints one line and exits with code 1. `fatal` ends the process after one of its parts ended
 * unexpectedly.
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
    endInOrder(starting);
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
  let askedAt: number | undefined;
  const handle = (): void => {
    const now = Date.now();
    if (askedAt === undefined) {
      askedAt = now;
      first();
    } else if (now - askedAt >= SECOND_SIGNAL_MS) second();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, handle);
}

/**
 * Stops gracefully at a signal. Registered before the start is complete, because a part of a worker may take tasks
 * while another is still being built.
 */
function endInOrder(starting: Promise<Closable>): void {
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

/** Prints an error and exits. An unexpected error may quote a row or a reply, which must not get into the log. */
function exitWithError(error: unknown): never {
  const explained = describeStartError(error);
  console.error(explained instanceof Error ? `${describeFailure(explained)}\n${stackFrames(explained)}` : explained);
  process.exit(1);
}
