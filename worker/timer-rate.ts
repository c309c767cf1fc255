import type { Logger } from 'pino';
import type { Db } from '../db/connection.ts';
import { reportFollowed, setTimerRate } from '../db/executions/timer-seconds.ts';
import { describeFailure } from '../rules/failure-text.ts';
import { uuidv7 } from '../rules/uuid.ts';
import type { Admission } from './admission.ts';

const REPORT_MS = 2_000;
/** Reports that a rate is the mean of: what comes in bursts counts as it is over some seconds. */
const MEAN_OF = 3;
/**
 * What a begin says about the timers that Temporal can follow: an execution that begins with a DELAY costs it a third
 * of one whose DELAY ends, with its mail and its end.
 */
const BEGIN_WEIGHT = 1 / 3;

export interface TimerRate {
  /** Temporal was seen to begin something, by this worker. */
  begun(): void;
  /** A timer of Temporal was seen to have ended. */
  ended(): void;
  stop(): void;
}

/**
 * Tells Postgres how many timers this worker sees Temporal follow, by which they are spread
 * (db/executions/timer-seconds.ts). An idle worker tells nothing.
 */
export function startTimerRate(p: {
  db: Db;
  timersPerSecond: number;
  admission: Pick<Admission, 'pace'>;
  log: Pick<Logger, 'warn'>;
}): TimerRate {
  const { db, admission, timersPerSecond: atLeast } = p;
  const workerId = uuidv7();
  const counts: number[] = [];
  let count = 0;
  let toldNothing = false;
  const failed = (error: Error) =>
    p.log.warn({ reason: describeFailure(error) }, 'the rate of timers could not be kept');

  async function report(): Promise<void> {
    counts.push(count);
    count = 0;
    if (counts.length > MEAN_OF) counts.shift();
    const perSecond = counts.reduce((sum, n) => sum + n, 0) / (counts.length * (REPORT_MS / 1_000));
    if (perSecond === 0 && toldNothing) return;
    toldNothing = perSecond === 0;
    await reportFollowed(db, { workerId, perSecond, atLeast, pace: admission.pace() });
  }

  void setTimerRate(db, atLeast).catch(failed);
  // Without a limit there is nothing to adapt.
  const timer = atLeast === 0 ? undefined : setInterval(() => void report().catch(failed), REPORT_MS);
  return {
    begun: () => {
      count += BEGIN_WEIGHT;
    },
    ended: () => {
      count += 1;
    },
    stop: () => clearInterval(timer),
  };
}
