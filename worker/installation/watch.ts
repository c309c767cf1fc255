import { setTimeout as sleep } from 'node:timers/promises';
import type { ActivityDeps } from '../../activities/deps.ts';
import { MESSAGES_HOURS, recoverEverything } from '../../activities/recovery/recovery.ts';
import type { SendingGate } from '../../activities/sending-hold.ts';
import {
  finishRecovery,
  leaseRecovery,
  releaseRecoveryLease,
  renewRecoveryLease,
} from '../../db/installation/recovery.ts';
import { type InstallationHold, readInstallationDuties } from '../../db/installation/sending-hold.ts';
import { describeFailure } from '../../rules/failure-text.ts';
import { InstallationError } from '../../rules/installation-tokens.ts';
import { type QueueReading, toQueueReading } from '../../rules/queue-stats.ts';
import type { Lifecycle } from '../../temporal/lifecycle.ts';
import { writeNextToken } from './next-token.ts';
import { assertMatchOrRequestRecovery, readTokenState } from './token-state.ts';

/**
 * While the installation is on hold, a worker checks at this interval whether sending may resume. While a recovery is
 * due, a worker checks at this interval whether the recovery has ended.
 */
const HELD_POLL_MS = 1_000;
/**
 * A worker that may send checks at this interval whether a new installation token must be written to Postgres and
 * Temporal, and whether a recovery is due.
 */
const POLL_MS = 5_000;
/** A new token is written about once a minute. */
const ROLL_SECONDS = 55;
/** If a worker that runs a recovery has not renewed its lease for this long, the other workers consider it dead. */
const LEASE_SECONDS = 30;
const RENEW_MS = 10_000;
/** The wait after a failed recovery. A recovery fails while Temporal is unreachable. */
const RETRY_MS = 5_000;
/**
 * A recovery repairs the differences between Postgres and Temporal that are at least this old. The value is 0: after a
 * restore, no difference disappears without a repair, so there is no reason to wait.
 */
const SETTLED_MS = 0;
const HOUR_MS = 3_600_000;
/** When the worker stops, it waits at most this long for its recovery. Another worker then continues the recovery. */
const STOP_MS = 3_000;

export interface InstallationWatch extends SendingGate {
  stop(): Promise<void>;
}

type Deps = Pick<ActivityDeps, 'db' | 'outbox' | 'log'> & { lifecycle: Lifecycle };

/**
 * Watches the installation while a worker runs. Writes new tokens, runs a recovery that is due, and opens the gate when
 * sending may resume. If several workers run, one of them writes each token, and only one runs a recovery at a time.
 * @param p.hold the hold with which the process started
 */
export function watchInstallation(
  deps: Deps,
  p: { hold: InstallationHold | null; opened: () => void; onMismatch: (error: InstallationError) => void },
): InstallationWatch {
  const { db, log } = deps;
  const stopping = new AbortController();
  let hold = p.hold;
  let recovering: Promise<void> | undefined;

  async function performDuties(): Promise<boolean> {
    const before = hold;
    const duties = await readInstallationDuties(db);
    hold = duties.hold;
    if (before && !hold) {
      log.info({ since: before.since }, 'sending resumes');
      p.opened();
    }
    if (duties.recoveryDue) {
      recovering ??= recover(deps, stopping.signal).finally(() => {
        recovering = undefined;
      });
    }
    if (duties.tokenSeconds === null || duties.tokenSeconds >= ROLL_SECONDS) await renewToken(deps);
    return hold !== null || duties.recoveryDue;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const isBusy = await performDuties().catch((error: Error) => {
        if (error instanceof InstallationError) p.onMismatch(error);
        else
          log.debug(
            { reason: describeFailure(error) },
            'the state of the installation could not be read; the worker retries in a few seconds',
          );
        return hold !== null;
      });
      await sleepUnlessStopped(isBusy ? HELD_POLL_MS : POLL_MS, stopping.signal);
    }
  }

  const running = run();
  return {
    isOpen: () => hold === null,
    stop: async () => {
      stopping.abort();
      await Promise.race([Promise.all([running, recovering]), sleep(STOP_MS, undefined, { ref: false })]);
    },
  };
}

/**
 * Writes a new token to Postgres and Temporal. Does nothing while Temporal is unreachable. If Temporal was restored or
 * has lost its data, also requests a recovery.
 * @throws InstallationError if the tokens in Postgres and Temporal no longer match, because Postgres was restored or
 * copied while the service ran
 */
async function renewToken(deps: Deps): Promise<void> {
  const tokenState = await readTokenState(deps);
  if (tokenState.temporal === undefined) return;
  await assertMatchOrRequestRecovery({ ...deps, notifyOperator: (line) => deps.log.warn(line) }, tokenState);
  await writeNextToken(deps, tokenState, await readQueues(deps));
}

/**
 * Reads the state of the task queues. If that fails, returns undefined, because the installation token must be renewed
 * anyway.
 */
async function readQueues({ lifecycle, log }: Deps): Promise<QueueReading | undefined> {
  try {
    return toQueueReading(await lifecycle.readQueueStats(), new Date());
  } catch (error) {
    log.debug(
      { reason: describeFailure(error) },
      'the state of the task queues could not be read; the worker renews the installation token without this state',
    );
    return undefined;
  }
}

async function recover({ db, outbox, lifecycle, log }: Deps, stopping: AbortSignal): Promise<void> {
  const since = await leaseRecovery(db, LEASE_SECONDS).catch(() => undefined);
  if (!since) return;
  const renewing = setInterval(() => void renewRecoveryLease(db, LEASE_SECONDS).catch(() => {}), RENEW_MS).unref();
  try {
    const messagesOfHours = MESSAGES_HOURS + (Date.now() - since.getTime()) / HOUR_MS;
    log.warn({ since }, 'recovery starts: Temporal is rebuilt from Postgres');
    await recoverEverything({ db, outbox, lifecycle, log }, { messagesOfHours, settledMs: SETTLED_MS });
    await finishRecovery(db);
    log.warn({ since }, 'recovery has ended');
  } catch (error) {
    log.warn({ reason: describeFailure(error) }, 'recovery has failed; the worker retries it');
    await sleepUnlessStopped(RETRY_MS, stopping);
    await releaseRecoveryLease(db).catch(() => {});
  } finally {
    clearInterval(renewing);
  }
}

async function sleepUnlessStopped(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
}
