import type { Logger } from 'pino';
import { type Config, ConfigError, type Environment, parseConfig } from '../domain/config.ts';
import { createLogger } from './logger.ts';
import { StartError } from './start-error.ts';

/** Ctrl-C arrives twice within milliseconds, from the terminal and from npm: only a later one is a second one. */
const SECOND_SIGNAL_MS = 500;

/** What a process of the service does. */
export interface ServiceProcess {
  readonly name: 'api' | 'worker';
  readonly env: Environment;
  /** Starts it; it is ready when the promise resolves. `fatal` ends the process when a part of it ends by itself. */
  start(config: Config, parts: { log: Logger; fatal: (error: Error) => void }): Promise<{ close(): Promise<void> }>;
}

/**
 * Runs an API or a worker until a signal, or until the `npm start` that it is a child of is gone; then ends it in order
 * with exit code 0. What keeps it from starting is one line and exit code 1.
 */
export async function runServiceProcess(service: ServiceProcess): Promise<void> {
  try {
    const config = parseConfig(service.env);
    const log = createLogger(service.name, config.logLevel);
    const running = await service.start(config, { log, fatal: (error) => endWith(log, error) });
    endInOrder(running, log);
    process.send?.('ready');
  } catch (error) {
    // The parent shows what it finds in the log: one line is enough there too.
    console.error(explain(error));
    process.exit(1);
  }
}

/** One line for what the user can mend, the whole error for what only we can. */
export function explain(error: unknown): unknown {
  return error instanceof ConfigError || error instanceof StartError ? error.message : error;
}

function endInOrder(running: { close(): Promise<void> }, log: Logger): void {
  let askedAt: number | undefined;
  const end = (): void => {
    const now = Date.now();
    if (askedAt !== undefined && now - askedAt < SECOND_SIGNAL_MS) return;
    if (askedAt !== undefined) process.exit(1);
    askedAt = now;
    running.close().then(
      () => process.exit(0),
      (error) => endWith(log, error),
    );
  };
  process.on('SIGTERM', end).on('SIGINT', end);
  if (!process.send) return;
  process.once('disconnect', end); // Our npm start was killed: nobody would end us or start us again.
  if (!process.connected) end();
}

function endWith(log: Logger, error: Error): void {
  log.fatal({ err: error }, error.message);
  process.exit(1);
}
