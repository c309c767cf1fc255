import type { Logger } from 'pino';
import type { Db } from '../db/connection.ts';
import { reportBegun, setTimerRate } from '../db/executions/timer-seconds.ts';
import { uuidv7 } from '../rules/uuid.ts';

const REPORT_MS = 2_000;
/** Reports that a rate is the mean of: what comes in bursts counts as it is over some seconds. */
const MEAN_OF = 3;

export interface BeginRate {
  /** Temporal was seen to begin something, by this worker. */
  count(): void;
  stop(): void;
}

/**
 * Tells Postgres how much this worker sees Temporal begin, by which timers are spread (db/executions/timer-seconds.ts).
 * An idle worker tells nothing.
 */
export function startBeginRate(p: { db: Db; timersPerSecond: number; log: Pick<Logger, 'warn'> }): BeginRate {
  const { db, timersPerSecond: atLeast } = p;
  const workerId = uuidv7();
  const counts: number[] = [];
  let count = 0;
  let toldNothing = false;
  const failed = (error: Error) => p.log.warn({ reason: error.message }, 'the rate of timers could not be kept');

  async function report(): Promise<void> {
    counts.push(count);
    count = 0;
    if (counts.length > MEAN_OF) counts.shift();
    const perSecond = counts.reduce((sum, n) => sum + n, 0) / (counts.length * (REPORT_MS / 1_000));
    if (perSecond === 0 && toldNothing) return;
    toldNothing = perSecond === 0;
    await reportBegun(db, { workerId, perSecond, atLeast });
  }

  void setTimerRate(db, atLeast).catch(failed);
  // Without a limit there is nothing to adapt.
  const timer = atLeast === 0 ? undefined : setInterval(() => void report().catch(failed), REPORT_MS);
  return {
    count: () => {
      count += 1;
    },
    stop: () => clearInterval(timer),
  };
}
