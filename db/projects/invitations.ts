/** Invitations to a project. Anyone who has the link can accept the invitation, once and within seven days. */
import { sql } from 'kysely';
import type { Role } from '../../rules/access/scopes.ts';
import { AppError } from '../../rules/errors.ts';
import type { Db, Trx } from '../connection.ts';

/** Days for which a link is valid. */
export const INVITATION_DAYS = 7;
/** Maximum number of open invitations per project. */
const OPEN_MAX = 100;

export interface Invitation {
  id: string;
  email: string;
  role: Role;
  /** The address of the user who sent the invitation. */
  invitedBy: string;
  createdAt: Date;
  expiresAt: Date;
}

/** The fields of an invitation that anyone with the link may read. */
export interface OpenInvitation extends Invitation {
  projectId: string;
  projectName: string;
}

const COLUMNS = sql.raw(`
  i.id, i.email, i.role, u.email AS "invitedBy", i.created_at AS "createdAt", i.expires_at AS "expiresAt"`);

/** Lists invitations that can still be accepted, newest first. */
export async function listInvitations(db: Db, projectId: string): Promise<Invitation[]> {
  const { rows } = await sql<Invitation>`
    SELECT ${COLUMNS} FROM invitations i JOIN users u ON u.id = i.invited_by
    WHERE i.project_id = ${projectId} AND i.expires_at > now() ORDER BY i.id DESC
  `.execute(db);
  return rows;
}

/**
 * Inserts an invitation with the hash of its token. Deletes expired invitations and an earlier invitation to the same
 * address.
 * @throws AppError CONFLICT when the project has 100 open invitations
 */
export async function insertInvitation(
  trx: Trx,
  p: { projectId: string; email: string; role: Role; tokenHash: Buffer; invitedBy: string },
): Promise<Invitation> {
  await sql`
    DELETE FROM invitations WHERE project_id = ${p.projectId} AND (expires_at <= now() OR email = ${p.email})
  `.execute(trx);
  const { rows: open } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM invitations WHERE project_id = ${p.projectId}`.execute(trx);
  if ((open[0]?.count ?? 0) >= OPEN_MAX) {
    throw new AppError('CONFLICT', {
      message: `A project has at most ${OPEN_MAX} open invitations.`,
      suggestion: 'Withdraw some of them first.',
    });
  }
  const { rows } = await sql<Invitation>`
    WITH i AS (
      INSERT INTO invitations (project_id, email, role, token_hash, invited_by, expires_at)
      VALUES (${p.projectId}, ${p.email}, ${p.role}, ${p.tokenHash}, ${p.invitedBy}, now() + make_interval(days => ${INVITATION_DAYS}))
      ON CONFLICT (project_id, email) DO UPDATE SET id = excluded.id, role = excluded.role, token_hash = excluded.token_hash,
        invited_by = excluded.invited_by, created_at = now(), expires_at = excluded.expires_at
      RETURNING *)
    SELECT ${COLUMNS} FROM i JOIN users u ON u.id = i.invited_by
  `.execute(trx);
  const [invitation] = rows;
  if (!invitation) throw new Error('an invitation is missing from its own transaction');
  return invitation;
}

/**
 * Deletes an invitation and returns it.
 * @throws AppError NOT_FOUND, also for an id of another project
 */
export async function deleteInvitation(
  trx: Trx,
  p: { projectId: string; id: string },
): Promise<{ email: string; role: Role }> {
  const { rows } = await sql<{ email: string; role: Role }>`
    DELETE FROM invitations WHERE project_id = ${p.projectId} AND id = ${p.id} RETURNING email, role
  `.execute(trx);
  const [gone] = rows;
  if (!gone) throw new AppError('NOT_FOUND', { message: 'No invitation of this project has this id.' });
  return gone;
}

/**
 * Returns the invitation of a link without accepting it.
 * @throws AppError NOT_FOUND for an invitation that was accepted or withdrawn, or has expired
 */
export async function getOpenInvitation(db: Db, tokenHash: Buffer): Promise<OpenInvitation> {
  const { rows } = await sql<OpenInvitation>`
    SELECT ${COLUMNS}, p.id AS "projectId", p.name AS "projectName"
    FROM invitations i JOIN users u ON u.id = i.invited_by JOIN projects p ON p.id = i.project_id
    WHERE i.token_hash = ${tokenHash} AND i.expires_at > now()
  `.execute(db);
  return assertOpen(rows[0]);
}

/**
 * Accepts an invitation: adds the user as a member and deletes the invitation, in the caller's transaction. A user who
 * is already a member keeps their role.
 * @throws AppError NOT_FOUND as `getOpenInvitation`; only one of two concurrent calls succeeds
 */
export async function acceptInvitation(trx: Trx, p: { tokenHash: Buffer; userId: string }): Promise<OpenInvitation> {
  const { rows } = await sql<OpenInvitation>`
    WITH i AS (DELETE FROM invitations WHERE token_hash = ${p.tokenHash} AND expires_at > now() RETURNING *)
    SELECT ${COLUMNS}, p.id AS "projectId", p.name AS "projectName"
    FROM i JOIN users u ON u.id = i.invited_by JOIN projects p ON p.id = i.project_id
  `.execute(trx);
  const invitation = assertOpen(rows[0]);
  await sql`
    INSERT INTO memberships (project_id, user_id, role) VALUES (${invitation.projectId}, ${p.userId}, ${invitation.role})
    ON CONFLICT DO NOTHING
  `.execute(trx);
  return invitation;
}

function assertOpen(invitation: OpenInvitation | undefined): OpenInvitation {
  if (invitation) return invitation;
  throw new AppError('NOT_FOUND', {
    message: 'This invitation is not open: it was used, withdrawn, or is older than seven days.',
    suggestion: 'Ask the person who invited you for a new one.',
  });
}
