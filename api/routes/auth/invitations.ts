import { createRoute, z } from '@hono/zod-openapi';
import type { Trx } from '../../../db/connection.ts';
import { findOrInsertUser } from '../../../db/projects/accounts.ts';
import { insertAudit } from '../../../db/projects/audit-log.ts';
import { acceptInvitation, getOpenInvitation } from '../../../db/projects/invitations.ts';
import { updateSessionProject } from '../../../db/projects/sessions.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { ROLES } from '../../../rules/access/scopes.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { requireUser } from '../../http/actor.ts';
import { readClientAddress, readClientNetwork } from '../../http/client-address.ts';
import { refuseForeignWrite } from '../../http/csrf.ts';
import type { Deps } from '../../http/deps.ts';
import type { App, RequestContext } from '../../http/env.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { Instant } from '../../http/schemas.ts';
import { allowAnyone, allowSession } from '../../http/security.ts';
import { hashToken } from '../../http/session-cookie.ts';
import { NewPassword } from './input.ts';
import { createLoginThrottle } from './login-throttle.ts';
import { buildMeResponse, computePasswordHash, Me, requireSessionToken, startSession } from './sign-in.ts';

const tags = ['Accounts'];
const Token = z.string().min(1).max(200).openapi({ description: 'The part of the link after `#`' });
const TOKEN_EXAMPLE = 'kKx4TqvJ0m1rC8dZ3gYw2h5n7b9s6f4a1e0q8u2i3o5';

const Look = z.object({ token: Token }).openapi('LookAtInvitation', { example: { token: TOKEN_EXAMPLE } });

const Accept = z
  .object({ token: Token, password: NewPassword })
  .openapi('AcceptInvitation', { example: { token: TOKEN_EXAMPLE, password: 'correct horse' } });

const Join = z.object({ token: Token }).openapi('JoinByInvitation', { example: { token: TOKEN_EXAMPLE } });

const OpenInvitation = z
  .object({
    email: z.string(),
    role: z.enum(ROLES),
    projectName: z.string(),
    invitedBy: z.string(),
    expiresAt: Instant,
  })
  .openapi('OpenInvitation', {
    example: {
      email: 'grace@example.com',
      role: 'MEMBER',
      projectName: 'Web shop',
      invitedBy: 'ada@example.com',
      expiresAt: '2026-01-08T12:00:00.000Z',
    },
  });

const lookRoute = createRoute({
  method: 'post',
  path: '/auth/invitations/look',
  operationId: 'getInvitation',
  tags,
  summary: 'Get an invitation',
  description:
    'Finds the invitation by the token of its link. The link stays valid. Returns 404 if the invitation was accepted, withdrawn, or has expired.',
  security: allowAnyone(),
  request: { body: jsonBody(Look) },
  responses: { 200: jsonResponse(OpenInvitation), ...errorResponses('NOT_FOUND') },
});

const acceptRoute = createRoute({
  method: 'post',
  path: '/auth/invitations/accept',
  operationId: 'acceptInvitation',
  tags,
  summary: 'Accept an invitation with a password',
  description:
    'Signs in to the account with the invited address and this password, and adds the account to the project. If no such account exists, creates it, regardless of `SIGNUP`. The link becomes invalid. Returns 404 like `POST /auth/invitations/look`, and 429 above the limit for sign-ups.',
  security: allowAnyone(),
  request: { body: jsonBody(Accept) },
  responses: {
    200: jsonResponse(Me, 'Joined and signed in'),
    ...errorResponses('NOT_FOUND', 'UNAUTHORIZED', 'RATE_LIMIT_EXCEEDED'),
  },
});

const joinRoute = createRoute({
  method: 'post',
  path: '/auth/invitations/join',
  operationId: 'joinByInvitation',
  tags,
  summary: 'Accept an invitation as the signed-in user',
  description:
    "Adds the user of this session to the project. The user's address may differ from the invited address, because the link proves the invitation. The session switches to the project, and the link becomes invalid. An existing member keeps their role.",
  security: allowSession(),
  request: { body: jsonBody(Join) },
  responses: { 200: jsonResponse(Me, 'Joined'), ...errorResponses('NOT_FOUND') },
});

/**
 * Registers the operations for a user with the link of an invitation (`POST /team/invitations` creates invitations).
 */
export function registerInvitationRoutes(app: App, deps: Deps): void {
  const { db, config, limits } = deps;
  const throttle = createLoginThrottle({ db, key: deriveKey(config.secretKey, 'rate-limit') });

  app.openapi(lookRoute, async (c) => {
    const invitation = await getOpenInvitation(db, hashToken(c.req.valid('json').token));
    const { email, role, projectName, invitedBy, expiresAt } = invitation;
    c.header('Cache-Control', 'no-store');
    return c.json({ email, role, projectName, invitedBy, expiresAt: expiresAt.toISOString() }, 200);
  });

  app.openapi(acceptRoute, async (c) => {
    refuseForeignWrite(c, config.publicUrl);
    const { token, password } = c.req.valid('json');
    const tokenHash = hashToken(token);
    const { email } = await getOpenInvitation(db, tokenHash);
    await limits.takeForSignUp(readClientAddress(c));
    const attempt = await throttle.takeForSignUp(email, readClientNetwork(c));
    const passwordHash = await computePasswordHash(deps, email, password);
    const membership = await inTransaction(db, async (trx) => {
      const { userId, isNew } = await findOrInsertUser(trx, { email, passwordHash });
      const { projectId } = await joinProject(trx, c, { tokenHash, userId });
      return { userId, isNew, projectId };
    });
    if (!membership.isNew) await attempt.forgive();
    await startSession(c, deps, { ...membership, email, passwordHash });
    return c.json(await buildMeResponse(deps, { ...membership, email }), 200);
  });

  app.openapi(joinRoute, async (c) => {
    const { id: userId, email } = requireUser(c);
    const tokenHash = hashToken(c.req.valid('json').token);
    const { projectId } = await inTransaction(db, (trx) => joinProject(trx, c, { tokenHash, userId }));
    await updateSessionProject(db, { tokenHash: hashToken(requireSessionToken(c, deps)), userId, projectId });
    return c.json(await buildMeResponse(deps, { userId, projectId, email }), 200);
  });
}

/** Accepts the invitation and records it in the audit log of its project. */
async function joinProject(trx: Trx, c: RequestContext, p: { tokenHash: Buffer; userId: string }) {
  const invitation = await acceptInvitation(trx, p);
  const { projectId, id, email, role } = invitation;
  const actor = `user:${p.userId}`;
  await insertAudit(trx, {
    projectId,
    action: 'team.joined',
    actor,
    target: p.userId,
    ip: readClientAddress(c),
    details: { invitationId: id, email, role },
  });
  return invitation;
}
