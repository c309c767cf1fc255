import { sql } from 'kysely';
import { AppError } from '../domain/errors.ts';
import type { Db } from './connection.ts';

/** Keeps a session by its token's hash, and forgets the user's ended ones. */
export async function insertSession(
  db: Db,
  p: { tokenHash: Buffer; userId: string; projectId: string; days: number },
): Promise<void> {
  await sql`
    WITH ended AS (DELETE FROM sessions WHERE user_id = ${p.userId} AND expires_at <= now())
    INSERT INTO sessions (token_hash, user_id, project_id, expires_at)
    VALUES (${p.tokenHash}, ${p.userId}, ${p.projectId}, now() + make_interval(days => ${p.days}))
  `.execute(db);
}

/** Ends a session. May run twice. */
export async function deleteSession(db: Db, tokenHash: Buffer): Promise<void> {
  await sql`DELETE FROM sessions WHERE token_hash = ${tokenHash}`.execute(db);
}

/**
 * Moves a session to another project of its user.
 * @throws AppError NOT_FOUND when the user is no member of it
 */
export async function updateSessionProject(
  db: Db,
  p: { tokenHash: Buffer; userId: string; projectId: string },
): Promise<void> {
  const result = await sql`
    UPDATE sessions SET project_id = ${p.projectId} WHERE token_hash = ${p.tokenHash} AND EXISTS (
      SELECT FROM memberships WHERE user_id = ${p.userId} AND project_id = ${p.projectId})
  `.execute(db);
  if (!result.numAffectedRows) throw new AppError('NOT_FOUND', { message: 'No project of yours has this id.' });
}
