import type pg from 'pg';
import type { Logger } from 'pino';
import type { Bucket } from '../../channels/assets/bucket.ts';
import type { Compute } from '../../compute/compute.ts';
import type { LoopWatch } from '../../compute/loop-watch.ts';
import type { Db } from '../../db/connection.ts';
import type { Release } from '../../db/operator/processes.ts';
import type { Backlog } from '../../db/outbox/outbox-backlog.ts';
import type { OutboxWaker } from '../../db/outbox/outbox-waker.ts';
import type { Config } from '../../rules/config.ts';
import type { Lifecycle } from '../../temporal/lifecycle.ts';
import type { EngagementBatcher } from '../accept/engagement-batcher.ts';
import type { KeyCache } from './key-cache.ts';
import type { RateLimits } from './rate-limits.ts';
import type { RequestLog } from './request-log.ts';

/** Dependencies of routes. Keys for signing and hashing come from `deriveKey(deps.config.secretKey, …)`. */
export interface Deps {
  config: Config;
  /** Version and build of this process. Undefined when it runs from sources. */
  release?: Release | undefined;
  db: Db;
  /**
   * For reads that users request: lists, feeds, counts, segments. It has a few separate connections, so that slow reads
   * never occupy connections that sends need.
   */
  reads: Db;
  pool: pg.Pool;
  /** Runs work that may take long to compute. */
  compute: Compute;
  /** Records which route blocks the event loop. */
  loop: Pick<LoopWatch, 'runAs' | 'noteResumed'>;
  /** Bucket for new images. Undefined keeps images in Postgres. */
  bucket: Bucket | undefined;
  /** Wakes the workers for new rows of the outbox. Call it after the commit. */
  outbox: OutboxWaker;
  lifecycle: Pick<Lifecycle, 'ping' | 'findRunId' | 'readQueueStats' | 'names'>;
  log: Logger;
  keys: KeyCache;
  limits: RateLimits;
  /** Returns the numbers of outbox rows by kind and project. The result may be up to 5 s old. */
  backlog: () => Promise<Backlog[]>;
  /** Counts opens and clicks. */
  engagements: Pick<EngagementBatcher, 'add' | 'close'>;
  /** Writes the request log of each project. */
  requests: RequestLog;
}
