import { sql } from 'kysely';
import type { Db } from '../../db/connection.ts';

/** Lists the emails of a project that failed or were skipped without the time, and other emails with such a time. */
export async function listWithWrongFailureTime(db: Db, projectId: string) {
  return db
    .selectFrom('emails')
    .select(['status', 'reason', 'failed_at'])
    .where('project_id', '=', projectId)
    .where(sql<boolean>`(status = 'FAILED') <> (failed_at IS NOT NULL)`)
    .execute();
}
