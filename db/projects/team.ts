/**
 * Members of a project and their roles. Only an OWNER can appoint, change or remove an OWNER. At least one OWNER always
 * remains.
 */
import { sql } from 'kysely';
import type { Role } from '../../rules/access/scopes.ts';
import { AppError } from '../../rules/errors.ts';
import type { Db, Trx } from '../connection.ts';

export interface TeamMember {
  userId: string;
  email: string;
  role: Role;
  /** When the user became a member. */
  createdAt: Date;
}

interface MemberRef {
  projectId: string;
  userId: string;
}

/** Lists all members of the project, the oldest membership first. */
export async function listTeam(db: Db, projectId: string): Promise<TeamMember[]> {
  const { rows } = await sql<TeamMember>`
    SELECT u.id AS "userId", u.email, m.role, m.created_at AS "createdAt"
    FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.project_id = ${projectId} ORDER BY m.created_at, u.id
  `.execute(db);
  return rows;
}

/**
 * Changes the role of a member. `before` is the earlier role. Deletes the invitations that the member sent if the new
 * role is MEMBER.
 * @throws AppError NOT_FOUND if the user is not a member; FORBIDDEN if another role than OWNER appoints or changes an
 * OWNER; CONFLICT for the last OWNER
 */
export async function changeRole(
  trx: Trx,
  p: MemberRef & { role: Role; by: Role },
): Promise<{ member: TeamMember; before: Role }> {
  const member = await lockMember(trx, p);
  assertMayManage(p.by, member.role, p.role);
  if (member.role === 'OWNER' && p.role !== 'OWNER') await assertNotLastOwner(trx, p);
  await trx
    .updateTable('memberships')
    .set({ role: p.role })
    .where('project_id', '=', p.projectId)
    .where('user_id', '=', p.userId)
    .execute();
  if (p.role === 'MEMBER') await withdrawInvitations(trx, p);
  else if (p.role === 'ADMIN') await withdrawInvitations(trx, p, 'OWNER');
  return { member: { ...member, role: p.role }, before: member.role };
}

/**
 * Removes a member from the project. Deletes the member's sessions and sign-in links in the project and the invitations
 * that the member sent. API keys that the member created stay, because the keys belong to the project.
 * @throws AppError as `changeRole`
 */
export async function removeMember(trx: Trx, p: MemberRef & { by: Role }): Promise<TeamMember> {
  const member = await lockMember(trx, p);
  assertMayManage(p.by, member.role);
  if (member.role === 'OWNER') await assertNotLastOwner(trx, p);
  await withdrawInvitations(trx, p);
  await sql`DELETE FROM sessions WHERE project_id = ${p.projectId} AND user_id = ${p.userId}`.execute(trx);
  await sql`DELETE FROM sign_in_links WHERE project_id = ${p.projectId} AND user_id = ${p.userId}`.execute(trx);
  await sql`DELETE FROM memberships WHERE project_id = ${p.projectId} AND user_id = ${p.userId}`.execute(trx);
  return member;
}

/**
 * Throws if OWNER is among the roles and `by` is not OWNER.
 * @throws AppError FORBIDDEN
 */
export function assertMayManage(by: Role, ...roles: Role[]): void {
  if (by === 'OWNER' || !roles.includes('OWNER')) return;
  throw new AppError('FORBIDDEN', {
    message: 'Only an OWNER can appoint, change or remove an OWNER.',
    suggestion: 'Ask an OWNER of the project.',
  });
}

/**
 * Returns a member. Locks all memberships of the project, so that two concurrent changes cannot remove its last two
 * OWNERs.
 */
async function lockMember(trx: Trx, { projectId, userId }: MemberRef): Promise<TeamMember> {
  const { rows } = await sql<TeamMember>`
    SELECT u.id AS "userId", u.email, m.role, m.created_at AS "createdAt"
    FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.project_id = ${projectId} ORDER BY u.id FOR UPDATE OF m
  `.execute(trx);
  const member = rows.find((row) => row.userId === userId);
  if (!member) throw new AppError('NOT_FOUND', { message: 'The project has no member with this id.' });
  return member;
}

async function assertNotLastOwner(trx: Trx, { projectId, userId }: MemberRef): Promise<void> {
  const { rows } = await sql`
    SELECT FROM memberships WHERE project_id = ${projectId} AND role = 'OWNER' AND user_id <> ${userId} LIMIT 1
  `.execute(trx);
  if (rows.length > 0) return;
  throw new AppError('CONFLICT', {
    message: 'This is the last OWNER of the project.',
    suggestion: 'Appoint another OWNER first.',
  });
}

/** Deletes the invitations of a user who may no longer invite others, or not in the given role. */
async function withdrawInvitations(trx: Trx, { projectId, userId }: MemberRef, role?: Role): Promise<void> {
  const inRole = role === undefined ? sql`true` : sql`role = ${role}`;
  await sql`
    DELETE FROM invitations WHERE project_id = ${projectId} AND invited_by = ${userId} AND ${inRole}
  `.execute(trx);
}
