import { describeFailure } from '../../rules/failure-text.ts';
import type { RecoveryDeps } from './recovery.ts';

/** Records that a project, or one of its records, was not recovered, while the others were. */
export async function noteNotRecovered(
  { log, noteFailure }: Pick<RecoveryDeps, 'log' | 'noteFailure'>,
  what: { projectId: string | undefined } & Record<string, string | undefined>,
  error: unknown,
): Promise<void> {
  const name = Object.entries(what).map(([kind, id]) => `${kind} ${id}`);
  if (noteFailure) await noteFailure(name.join(', '), error);
  else log.warn({ ...what, reason: describeFailure(error) }, 'a part of recovery failed');
}
