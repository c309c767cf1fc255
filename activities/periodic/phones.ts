import { listPhoneUpdates, savePhoneUpdate, updatePhonesWithinMs } from '../../db/sms/phone-updates.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import type { ActivityDeps } from '../deps.ts';
import { RECOVERY_GRACE_MS } from '../recovery/recovery.ts';
import type { PartRun } from './parts.ts';

/** The position in a project is stored after this time, so that a killed worker loses little work. */
const SAVE_MS = 1_000;

/**
 * Creates the part that parses the phone numbers of contacts again after a change of the project's country. The request
 * that changes the country has parsed the numbers of the first contacts. The part parses all of them, because contacts
 * may have been written with the earlier country meanwhile. It waits until the change is two minutes old, so that the
 * transactions that read the earlier country have ended. Its cursor is a project; the position in the project is in
 * Postgres, so that the next round continues there.
 */
export function createPhonesPart({
  config,
  db,
}: Pick<ActivityDeps, 'config' | 'db'>): (run: PartRun) => Promise<string | null> {
  const key = deriveKey(config.secretKey, 'suppression');
  return async ({ cursor, mayContinue, noteFailure }) => {
    const updates = await listPhoneUpdates(db, { settledMs: RECOVERY_GRACE_MS });
    for (const update of updates.filter(({ projectId }) => projectId >= (cursor ?? ''))) {
      const { projectId } = update;
      let after: string | null = update.after;
      while (after !== null) {
        if (!mayContinue(projectId)) return projectId;
        try {
          after = await updatePhonesWithinMs(db, key, { projectId, after, ms: SAVE_MS });
          await savePhoneUpdate(db, { ...update, after });
        } catch (error) {
          // The next round continues here. Other projects do not wait.
          await noteFailure(`the phone numbers of project ${projectId}`, error);
          break;
        }
      }
    }
    return null;
  };
}
