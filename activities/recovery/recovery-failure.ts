import { describeFailure } from '../../rules/failure-text.ts';
import type { RecoveryDeps } from './recovery.ts';

/** Records that recovery failed for one project or one row. Recovery continues with the others. */
export async function reportRecoveryFailure(
  { log, noteFailure }: Pick<RecoveryDeps, 'log' | 'noteFailure'>,
  ids: { projectId: string | undefined } & Record<string, string | undefined>,
  error: unknown,
): Promise<void> {
  const name = Object.entries(ids).map(([kind, id]) => `${kind} ${id}`);
  if (noteFailure) await noteFailure(name.join(', '), error);
  else log.warn({ ...ids, reason: describeFailure(error) }, 'a part of recovery failed');
}
