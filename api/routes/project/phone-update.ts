import { hasPhoneUpdate, updatePhonesWithinMs } from '../../../db/sms/phone-updates.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { describeFailure } from '../../../rules/failure-text.ts';
import type { Deps } from '../../http/deps.ts';

/** A request that changes the country parses numbers for at most this time, which is enough for a few thousand contacts. */
const REQUEST_MS = 1_000;

/**
 * Parses the phone numbers of a project's contacts again if the project's country has changed. Call it after the commit.
 * Does not throw, because the change is already stored, and periodic work parses all numbers again.
 */
export async function runPhoneUpdate(
  { config, db, log }: Pick<Deps, 'config' | 'db' | 'log'>,
  projectId: string,
): Promise<void> {
  try {
    if (!(await hasPhoneUpdate(db, projectId))) return;
    await updatePhonesWithinMs(db, deriveKey(config.secretKey, 'suppression'), { projectId, ms: REQUEST_MS });
  } catch (error) {
    log.warn(
      { projectId, reason: describeFailure(error) },
      'phone numbers could not be parsed again; periodic work repeats this',
    );
  }
}
