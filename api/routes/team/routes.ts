import { createRoute } from '@hono/zod-openapi';
import { truncateLists } from '../../../db/page-budget.ts';
import { insertAudit } from '../../../db/projects/audit-log.ts';
import { queueInvitationEmail } from '../../../db/projects/invitation-email.ts';
import { deleteInvitation, insertInvitation, listInvitations } from '../../../db/projects/invitations.ts';
import { getProject } from '../../../db/projects/projects.ts';
import { assertMayManage, changeRole, listTeam, removeMember } from '../../../db/projects/team.ts';
import { inTransaction } from '../../../db/transaction.ts';
import type { Role } from '../../../rules/access/scopes.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { formatActor, requireUser } from '../../http/actor.ts';
import { assertMayChange } from '../../http/authenticate.ts';
import { readClientAddress } from '../../http/client-address.ts';
import type { Deps } from '../../http/deps.ts';
import type { App, RequestContext } from '../../http/env.ts';
import { emptyResponse, errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { IdParams } from '../../http/schemas.ts';
import { allowSession } from '../../http/security.ts';
import { createSessionToken, hashToken } from '../../http/session-cookie.ts';
import { ChangeRole, Invite, MemberParams } from './input.ts';
import { Invited, MemberRecord, Team, toInvitationResponse, toMemberResponse } from './response.ts';

const tags = ['Team'];

const teamRoute = createRoute({
  method: 'get',
  path: '/team',
  operationId: 'getTeam',
  tags,
  summary: 'List the members of the project',
  description: 'Lists the members in the order in which they joined, and open invitations, newest first.',
  security: allowSession('team:manage'),
  responses: { 200: jsonResponse(Team) },
});

const inviteRoute = createRoute({
  method: 'post',
  path: '/team/invitations',
  operationId: 'inviteToTeam',
  shownOnce: ['url'],
  tags,
  summary: 'Invite a person to the project',
  description:
    'Creates an invitation and returns its link. This is the only time that the link is shown. The link works once, within seven days, even if `SIGNUP` is off. If the project has a verified domain, the service also emails the link, from `notices@` on that domain. An earlier invitation to the same address becomes invalid. At most 20 invitations per hour (429), and 100 open invitations (409).',
  security: allowSession('team:manage'),
  request: { body: jsonBody(Invite) },
  responses: { 201: jsonResponse(Invited, 'Invited'), ...errorResponses('CONFLICT') },
});

const withdrawRoute = createRoute({
  method: 'delete',
  path: '/team/invitations/{id}',
  operationId: 'withdrawInvitation',
  tags,
  summary: 'Withdraw an invitation',
  description: 'The link becomes invalid immediately.',
  security: allowSession('team:manage'),
  request: { params: IdParams },
  responses: { 204: emptyResponse('Withdrawn') },
});

const changeRoute = createRoute({
  method: 'patch',
  path: '/team/members/{userId}',
  operationId: 'changeTeamRole',
  tags,
  summary: 'Change the role of a member',
  description:
    "Takes effect with the member's next request. Only an OWNER can appoint or change an OWNER (403). Returns 409 if the project would have no OWNER.",
  security: allowSession('team:manage'),
  request: { params: MemberParams, body: jsonBody(ChangeRole) },
  responses: { 200: jsonResponse(MemberRecord), ...errorResponses('CONFLICT') },
});

const removeRoute = createRoute({
  method: 'delete',
  path: '/team/members/{userId}',
  operationId: 'removeFromTeam',
  tags,
  summary: 'Remove a member from the project, or leave the project',
  description:
    "Ends the member's sessions in the project, and withdraws the open invitations of the member. API keys that the member created stay valid. Every user can leave with their own `userId`. Removing another member needs `team:manage`, and only an OWNER can remove an OWNER (403). Returns 409 for the last OWNER.",
  // No scope, because every member may leave. The handler checks `team:manage` for other members.
  security: allowSession(),
  request: { params: MemberParams },
  responses: { 204: emptyResponse('Removed'), ...errorResponses('CONFLICT', 'PROJECT_DISABLED') },
});

export function registerTeamRoutes(app: App, { db, reads, outbox, limits, config }: Deps): void {
  const atRest = deriveKey(config.secretKey, 'at-rest');

  /** Common fields of audit log entries. */
  const getAuditFields = (c: RequestContext) => ({
    projectId: c.var.projectId,
    actor: formatActor(c.var.actor),
    ip: readClientAddress(c),
  });

  app.openapi(teamRoute, async (c) => {
    const [members, invitations] = [
      await listTeam(reads, c.var.projectId),
      await listInvitations(reads, c.var.projectId),
    ];
    const team = { members: members.map(toMemberResponse), invitations: invitations.map(toInvitationResponse) };
    return c.json(truncateLists(team), 200);
  });

  app.openapi(inviteRoute, async (c) => {
    const { projectId } = c.var;
    const { email, role } = c.req.valid('json');
    assertMayManage(requireUser(c).role, role);
    await limits.takeForInvitation(projectId);
    const token = createSessionToken();
    // The token is in the fragment, which browsers do not send, so it appears in no log and no Referer.
    const url = `${config.publicUrl}/app/join#${token}`;
    const newInvitation = { projectId, email, role, tokenHash: hashToken(token), invitedBy: requireUser(c).id };
    const { invitation, outbox: queued } = await inTransaction(db, async (trx) => {
      const created = await insertInvitation(trx, newInvitation);
      const { name: projectName } = await getProject(trx, projectId);
      const emails = await queueInvitationEmail(trx, { projectId, projectName, invitation: created, url, atRest });
      await insertAudit(trx, {
        ...getAuditFields(c),
        action: 'team.invited',
        target: created.id,
        details: { email, role, mailed: emails.length > 0 },
      });
      return { invitation: created, outbox: emails };
    });
    outbox.wake(queued);
    return c.json({ ...toInvitationResponse(invitation), url, mailed: queued.length > 0 }, 201);
  });

  app.openapi(withdrawRoute, async (c) => {
    const { id } = c.req.valid('param');
    await inTransaction(db, async (trx) => {
      const details = await deleteInvitation(trx, { projectId: c.var.projectId, id });
      await insertAudit(trx, { ...getAuditFields(c), action: 'team.invitation_withdrawn', target: id, details });
    });
    return c.body(null, 204);
  });

  app.openapi(changeRoute, async (c) => {
    const { userId } = c.req.valid('param');
    const { role } = c.req.valid('json');
    const by: Role = requireUser(c).role;
    const member = await inTransaction(db, async (trx) => {
      const change = await changeRole(trx, { projectId: c.var.projectId, userId, role, by });
      const { email } = change.member;
      const details = { email, role, before: change.before };
      if (role !== change.before)
        await insertAudit(trx, { ...getAuditFields(c), action: 'team.role_changed', target: userId, details });
      return change.member;
    });
    return c.json(toMemberResponse(member), 200);
  });

  app.openapi(removeRoute, async (c) => {
    const { userId } = c.req.valid('param');
    const { id: callerId, role: by } = requireUser(c);
    if (userId !== callerId) assertMayChange(c, 'team:manage');
    await inTransaction(db, async (trx) => {
      const { email, role } = await removeMember(trx, { projectId: c.var.projectId, userId, by });
      await insertAudit(trx, {
        ...getAuditFields(c),
        action: 'team.removed',
        target: userId,
        details: { email, role },
      });
    });
    return c.body(null, 204);
  });
}
