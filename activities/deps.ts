import type { Logger } from 'pino';
import type { Db } from '../db/connection.ts';
import type { Config } from '../domain/config.ts';
import type { Lifecycle } from '../temporal/lifecycle.ts';

/** What activities are built from. One object a worker process; channels are added by `worker/worker.ts`. */
export interface ActivityDeps {
  config: Config;
  db: Db;
  lifecycle: Lifecycle;
  log: Logger;
}
