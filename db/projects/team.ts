/**
 * Who belongs to a project, with which role. Nobody gives or takes what they do not hold, and one OWNER always stays.
 */
import { sql } from 'kysely';
import type { Role } from '../../rules/access/scopes.ts';
import { AppError } from '../../rules/errors.ts';
import type { Db, Trx } from '../connection.ts';

export interface TeamMember {
  userId: string;
  email: string;
  role: Role;
  /** When they joined. */
  createdAt: Date;
}

interface MemberRef {
  projectId: string;
  userId: string;
}

/** Everybody of the project, who came first first. */
export async function listTeam(db: Db, projectId: string): Promise<TeamMember[]> {
  const { rows } = await sql<TeamMember>`
    SELECT u.id AS "userId", u.email, m.role, m.created_at AS "createdAt"
    FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.project_id = ${projectId} ORDER BY m.created_at, u.id
  `.execute(db);
  return rows;
}

/**
 * Gives a member another role. `before` is the one that they had.
 * @throws AppError NOT_FOUND (who is no member), FORBIDDEN (only an OWNER makes or changes one), CONFLICT (the last
 * OWNER)
 */
export async function changeRole(
  trx: Trx,
  p: MemberRef & { role: Role; by: Role },
): Promise<{ member: TeamMember; before: Role }> {
  const member = await lockMember(trx, p);
  refuseAbove(p.by, member.role, p.role);
  if (member.role === 'OWNER' && p.role !== 'OWNER') await refuseLastOwner(trx, p);
  await trx
    .updateTable('memberships')
    .set({ role: p.role })
    .where('project_id', '=', p.projectId)
    .where('user_id', '=', p.userId)
    .execute();
  if (p.role === 'MEMBER') await withdrawTheirs(trx, p);
  return { member: { ...member, role: p.role }, before: member.role };
}

/**
 * Takes a member out of the project: their sessions in it end, and invitations of theirs with them. Keys that they made
 * stay, for they are the project's.
 * @throws AppError as `changeRole`
 */
export async function removeMember(trx: Trx, p: MemberRef & { by: Role }): Promise<TeamMember> {
  const member = await lockMember(trx, p);
  refuseAbove(p.by, member.role);
  if (member.role === 'OWNER') await refuseLastOwner(trx, p);
  await withdrawTheirs(trx, p);
  await sql`DELETE FROM sessions WHERE project_id = ${p.projectId} AND user_id = ${p.userId}`.execute(trx);
  await sql`DELETE FROM sign_in_links WHERE project_id = ${p.projectId} AND user_id = ${p.userId}`.execute(trx);
  await sql`DELETE FROM memberships WHERE project_id = ${p.projectId} AND user_id = ${p.userId}`.execute(trx);
  return member;
}

/** @throws AppError FORBIDDEN for who is no OWNER and would make, change or remove one */
export function refuseAbove(by: Role, ...roles: Role[]): void {
  if (by === 'OWNER' || !roles.includes('OWNER')) return;
  throw new AppError('FORBIDDEN', {
    message: 'Only an OWNER makes somebody an OWNER, or changes and removes one.',
    suggestion: 'Ask an OWNER of the project.',
  });
}

/**
 * All memberships of the project are locked: of two who would leave it without an OWNER at once, one comes too late.
 */
async function lockMember(trx: Trx, { projectId, userId }: MemberRef): Promise<TeamMember> {
  const { rows } = await sql<TeamMember>`
    SELECT u.id AS "userId", u.email, m.role, m.created_at AS "createdAt"
    FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.project_id = ${projectId} ORDER BY u.id FOR UPDATE OF m
  `.execute(trx);
  const member = rows.find((row) => row.userId === userId);
  if (!member) throw new AppError('NOT_FOUND', { message: 'Nobody of this project has this id.' });
  return member;
}

async function refuseLastOwner(trx: Trx, { projectId, userId }: MemberRef): Promise<void> {
  const { rows } = await sql`
    SELECT FROM memberships WHERE project_id = ${projectId} AND role = 'OWNER' AND user_id <> ${userId} LIMIT 1
  `.execute(trx);
  if (rows.length > 0) return;
  throw new AppError('CONFLICT', {
    message: 'This is the last OWNER of the project.',
    suggestion: 'Make somebody else an OWNER first.',
  });
}

/** What somebody invited to who may not invite any more. */
async function withdrawTheirs(trx: Trx, { projectId, userId }: MemberRef): Promise<void> {
  await sql`DELETE FROM invitations WHERE project_id = ${projectId} AND invited_by = ${userId}`.execute(trx);
}
