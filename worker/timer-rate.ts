import type { Logger } from 'pino';
import type { Db } from '../db/connection.ts';
import { reportFollowed, setTimerRate } from '../db/executions/timer-seconds.ts';
import { describeFailure } from '../rules/failure-text.ts';
import { uuidv7 } from '../rules/uuid.ts';
import type { Admission } from './admission.ts';

const REPORT_MS = 2_000;
/** The number of reports that a rate averages, so that bursts are spread over some seconds. */
const MEAN_OF = 3;
/**
 * The share of a start in the measured rate: an execution that starts with a DELAY costs Temporal a third of one whose
 * DELAY ends, with its email and its end.
 */
const BEGIN_WEIGHT = 1 / 3;

export interface TimerRate {
  /** Records that Temporal has started something, as seen by this worker. */
  noteStarted(): void;
  /** Records that a timer of Temporal has fired. */
  ended(): void;
  stop(): void;
}

/**
 * Reports to Postgres how many timers Temporal keeps up with, as this worker sees it; new timers are spread by this
 * rate (db/executions/timer-seconds.ts). An idle worker reports nothing.
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
  const logFailure = (error: Error) =>
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

  void setTimerRate(db, atLeast).catch(logFailure);
  // Without a limit no rate is reported, because no timer is spread by it.
  const timer = atLeast === 0 ? undefined : setInterval(() => void report().catch(logFailure), REPORT_MS);
  return {
    noteStarted: () => {
      count += BEGIN_WEIGHT;
    },
    ended: () => {
      count += 1;
    },
    stop: () => clearInterval(timer),
  };
}
