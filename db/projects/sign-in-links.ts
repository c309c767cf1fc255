import { sql } from 'kysely';
import type { Db } from '../connection.ts';

/** The user and project that a used sign-in link belongs to. */
export interface RedeemedLink {
  userId: string;
  projectId: string;
  email: string;
}

/**
 * Inserts a link that signs in an owner of a project, and replaces an earlier link of the same owner. Returns false and
 * inserts nothing if no owner of the project has this address.
 * @param p.minutes how long the link is valid
 */
export async function insertSignInLink(
  db: Db,
  p: { projectId: string; email: string; tokenHash: Buffer; minutes: number },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    INSERT INTO sign_in_links (user_id, project_id, token_hash, password_hash, expires_at)
    SELECT u.id, m.project_id, ${p.tokenHash}::bytea, u.password_hash, now() + make_interval(mins => ${p.minutes})
    FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.project_id = ${p.projectId} AND m.role = 'OWNER' AND u.email = ${p.email}
    ORDER BY m.created_at, u.id LIMIT 1
    ON CONFLICT (user_id) DO UPDATE SET project_id = excluded.project_id, token_hash = excluded.token_hash,
      password_hash = excluded.password_hash, expires_at = excluded.expires_at
  `.execute(db);
  return (numAffectedRows ?? 0n) > 0n;
}

/**
 * Uses a link and starts its session in one statement, so that only one of several concurrent requests succeeds.
 * Returns undefined if the link was used or has expired. Also returns undefined if the user's password has changed
 * since the link was created, or if the user is no longer an OWNER of the project.
 */
export async function redeemSignInLink(
  db: Db,
  p: { linkHash: Buffer; sessionHash: Buffer; days: number },
): Promise<RedeemedLink | undefined> {
  const { rows } = await sql<RedeemedLink>`
    WITH used AS (
      DELETE FROM sign_in_links WHERE token_hash = ${p.linkHash}
      RETURNING user_id, project_id, password_hash, expires_at
    ), person AS (
      SELECT u.id, u.email, used.project_id FROM used
      JOIN users u ON u.id = used.user_id AND u.password_hash = used.password_hash
      JOIN memberships m ON m.user_id = u.id AND m.project_id = used.project_id AND m.role = 'OWNER'
      WHERE used.expires_at > now() FOR SHARE OF u
    ), begun AS (
      INSERT INTO sessions (token_hash, user_id, project_id, expires_at)
      SELECT ${p.sessionHash}::bytea, id, project_id, now() + make_interval(days => ${p.days}) FROM person
    )
    SELECT id AS "userId", project_id AS "projectId", email FROM person
  `.execute(db);
  return rows[0];
}
