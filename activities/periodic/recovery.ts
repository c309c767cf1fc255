import { MESSAGES_HOURS, RECOVERY, type RecoveryDeps, SETTLED_MS } from '../recovery/recovery.ts';
import { listParts, type PartRun, type Parts } from './parts.ts';

/** Brings Temporal and Postgres together, each part of recovery in an activity of its own. */
export function recoveryParts(deps: RecoveryDeps): Parts {
  const entries = Object.entries(RECOVERY).map(([name, recover]) => [
    name,
    ({ cursor, messagesOfHours = MESSAGES_HOURS, goOn, noteFailure }: PartRun) => {
      const messagesSince = new Date(Date.now() - messagesOfHours * 3_600_000);
      return recover({ ...deps, noteFailure }, { cursor, messagesSince, settledMs: SETTLED_MS, goOn });
    },
  ]);
  return listParts(Object.fromEntries(entries));
}
