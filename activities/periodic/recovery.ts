import { MESSAGES_HOURS, RECOVERY, type RecoveryDeps, SETTLED_MS } from '../recovery/recovery.ts';
import { listParts, type PartRun, type PeriodicParts } from './parts.ts';

/** Repairs differences between Temporal and Postgres; each part of recovery is an activity. */
export function recoveryParts(deps: RecoveryDeps): PeriodicParts {
  const entries = Object.entries(RECOVERY).map(([name, recover]) => [
    name,
    ({ cursor, messagesOfHours = MESSAGES_HOURS, mayContinue, noteFailure }: PartRun) => {
      const messagesSince = new Date(Date.now() - messagesOfHours * 3_600_000);
      return recover({ ...deps, noteFailure }, { cursor, messagesSince, settledMs: SETTLED_MS, mayContinue });
    },
  ]);
  return listParts(Object.fromEntries(entries));
}
