import { createRoute } from '@hono/zod-openapi';
import { toResendDraft } from '../../../engine/sending/resend.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { createSendAcceptor } from '../../accept/send-acceptor.ts';
import { readIdempotencyKeyOwner } from '../../http/actor.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { IdempotencyHeader, readIdempotencyKey } from '../../http/idempotency-key.ts';
import { noteAffectedRows } from '../../http/request-log.ts';
import { errorResponses, jsonResponse } from '../../http/responses.ts';
import { IdParams } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { Sent } from '../send/response.ts';

const resendRoute = createRoute({
  method: 'post',
  path: '/v1/emails/{id}/resend',
  operationId: 'resendEmail',
  unknownFields: 'refuse',
  tags: ['Email'],
  summary: 'Resend an email',
  description:
    'Sends a new email to the same address, with the text, variables and attachments of the original, even if its template or campaign has changed since. Consent, topic, domain and monthly limit are checked again, as for `POST /v1/send`. A MARKETING email stays MARKETING, and a test email stays a test. Returns 409 if the original is still in progress, was received, belongs to a sandbox or is an invitation. Also returns 409 if its contact was erased or its attachments were deleted.',
  security: allowScopes('email:send'),
  request: { params: IdParams, headers: IdempotencyHeader },
  responses: {
    200: jsonResponse(Sent, 'Accepted'),
    ...errorResponses(
      ...(['NOT_FOUND', 'CONFLICT', 'DOMAIN_NOT_VERIFIED', 'CONTACT_UNSUBSCRIBED'] as const),
      'BILLING_LIMIT_EXCEEDED',
    ),
  },
});

/** Registers `POST /v1/emails/{id}/resend` (contract §9.15 Resend). */
export function registerEmailResendRoutes(app: App, { config, db, outbox }: Deps): void {
  const acceptor = createSendAcceptor({
    db,
    suppressionKey: deriveKey(config.secretKey, 'suppression'),
    outbox,
  });

  app.openapi(resendRoute, async (c) => {
    const { projectId, mode, project } = c.var;
    const { id } = c.req.valid('param');
    const resendDraft = await toResendDraft(db, { projectId, id, mode });
    const caller = {
      idempotencyKey: readIdempotencyKey(c),
      fingerprint: c.get('fingerprint'),
      owner: readIdempotencyKeyOwner(c),
      request: 'POST /v1/emails/{id}/resend',
    };
    const response = await acceptor.accept({ ...resendDraft, ...caller, monthlyEmailLimit: project.monthlyEmailLimit });
    noteAffectedRows(c, { emails: response.data.emails.map(({ email }) => email) });
    return c.json(response, 200);
  });
}
