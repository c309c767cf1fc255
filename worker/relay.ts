import type { Db } from '../db/connection.ts';
import { claimLeftovers } from '../db/outbox.ts';
import type { Lifecycle } from '../temporal/lifecycle.ts';

/** Rows a round; a full round is followed at once by the next. */
const ROUND_MAX_ROWS = 500;
/**
 * Who writes a row dispatches it at once, so what the relay finds was left by a crash and is seconds old already: looking once a
 * second is soon enough. NOTIFY would wake it sooner, but takes a lock of the whole database at each commit of the accept path.
 */
const POLL_MS = 1_000;

/** Hands to Temporal what the process that wrote it could not: after a crash, or while Temporal was away. */
export function startRelay(deps: {
  db: Db;
  lifecycle: Lifecycle;
  log: { warn(details: object, message: string): void };
}): { stop(): Promise<void> } {
  let stopping = false;
  let wake: () => void = () => {};
  const loop = (async () => {
    while (!stopping) {
      const full = await relayOnce(deps).catch((error: Error) => {
        deps.log.warn({ reason: error.message }, 'the relay could not read the outbox; it tries again');
        return false;
      });
      if (!full && !stopping) await pause(POLL_MS, (resume) => (wake = resume));
    }
  })();
  return {
    stop: () => {
      stopping = true;
      wake();
      return loop;
    },
  };
}

/** One round; true when there may be more. */
async function relayOnce({ db, lifecycle }: { db: Db; lifecycle: Lifecycle }): Promise<boolean> {
  const rows = await claimLeftovers(db, ROUND_MAX_ROWS);
  await lifecycle.dispatchNow(rows);
  return rows.length === ROUND_MAX_ROWS;
}

/** Resolves after `ms`, or earlier when the function given to `onWake` is called. */
function pause(ms: number, onWake: (resume: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    onWake(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
