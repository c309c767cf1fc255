import { sql } from 'kysely';
import { AppError } from '../../rules/errors.ts';
import type { Db } from '../connection.ts';

/**
 * Inserts a session with the hash of its token, and deletes the user's expired sessions. Returns false and inserts
 * nothing if the user's password has changed since it was checked: a password change ends all sessions, including one
 * that starts at the same moment.
 * @param p.passwordHash the hash that the password was checked against
 */
export async function insertSession(
  db: Db,
  p: { tokenHash: Buffer; userId: string; projectId: string; days: number; passwordHash: string },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    WITH ended AS (DELETE FROM sessions WHERE user_id = ${p.userId} AND expires_at <= now())
    INSERT INTO sessions (token_hash, user_id, project_id, expires_at)
    SELECT ${p.tokenHash}::bytea, id, ${p.projectId}::uuid, now() + make_interval(days => ${p.days})
    FROM users WHERE id = ${p.userId} AND password_hash = ${p.passwordHash} FOR SHARE
  `.execute(db);
  return (numAffectedRows ?? 0n) > 0n;
}

/** Ends a session. Safe to run twice. */
export async function deleteSession(db: Db, tokenHash: Buffer): Promise<void> {
  await db.deleteFrom('sessions').where('token_hash', '=', tokenHash).execute();
}

/**
 * Changes the project of a session to another project of its user.
 * @throws AppError NOT_FOUND when the user is not a member of that project
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
