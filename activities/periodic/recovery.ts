import type { ActivityDeps } from '../deps.ts';
import { MESSAGES_HOURS, RECOVERY, RECOVERY_GRACE_MS, type RecoveryDeps } from '../recovery/recovery.ts';
import { createNamedParts, type PartRun, type PeriodicParts } from './parts.ts';
import { createPhonesPart } from './phones.ts';

/**
 * Creates the periodic work that repairs differences between Temporal and Postgres. Each function of `RECOVERY` is one
 * part of the work. Another part finishes changes of the country for phone numbers (`phones`).
 */
export function createRecoveryParts(deps: RecoveryDeps & Pick<ActivityDeps, 'config'>): PeriodicParts {
  const entries = Object.entries(RECOVERY).map(([name, recover]) => [
    name,
    ({ cursor, messagesOfHours = MESSAGES_HOURS, mayContinue, noteFailure }: PartRun) => {
      const messagesSince = new Date(Date.now() - messagesOfHours * 3_600_000);
      return recover({ ...deps, noteFailure }, { cursor, messagesSince, settledMs: RECOVERY_GRACE_MS, mayContinue });
    },
  ]);
  return createNamedParts({ ...Object.fromEntries(entries), phones: createPhonesPart(deps) });
}
