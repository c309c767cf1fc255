import { describeFailure } from '../../rules/failure-text.ts';
import type { RecoveryDeps } from './recovery.ts';

/**
 * Records that recovery failed for one record or one project. Recovery continues with the other records and projects.
 */
export async function reportRecoveryFailure(
  { log, noteFailure }: Pick<RecoveryDeps, 'log' | 'noteFailure'>,
  ids: { projectId: string | undefined } & Record<string, string | undefined>,
  error: unknown,
): Promise<void> {
  const names = Object.entries(ids).map(([kind, id]) => `${kind} ${id}`);
  if (noteFailure) await noteFailure(names.join(', '), error);
  else log.warn({ ...ids, reason: describeFailure(error) }, 'recovery failed for a record');
}
