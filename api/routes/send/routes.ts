import { createRoute } from '@hono/zod-openapi';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { createSendAcceptor } from '../../accept/send-acceptor.ts';
import { readIdempotencyKeyOwner } from '../../http/actor.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { IdempotencyHeader, readIdempotencyKey } from '../../http/idempotency-key.ts';
import { noteAffectedRows } from '../../http/request-log.ts';
import { jsonBody, jsonResponse } from '../../http/responses.ts';
import { allowScopes } from '../../http/security.ts';
import { registerSendBatchRoutes } from './batch.ts';
import { computeSendMaxBytes, SEND_ELSEWHERE, SendBody } from './input.ts';
import { SEND_ERRORS, Sent } from './response.ts';
import { checkLargeTemplates, toSendRequest } from './to-send-request.ts';

const sendRoute = {
  ...createRoute({
    method: 'post',
    path: '/v1/send',
    operationId: 'sendEmail',
    tags: ['Email'],
    summary: 'Send an email',
    description:
      'Accepts an email for each recipient, and creates or updates the contacts of the recipients. The emails are sent immediately, after the response. `GET /v1/emails/{id}` shows the result.',
    security: allowScopes('email:send'),
    request: { headers: IdempotencyHeader, body: jsonBody(SendBody) },
    responses: {
      200: jsonResponse(Sent, 'Accepted'),
      ...SEND_ERRORS,
    },
  }),
  filesAt: ['attachments'],
  unknownFields: 'refuse' as const,
  setElsewhere: SEND_ELSEWHERE,
};

/** Registers `POST /v1/send` and `POST /v1/send/batch`, which share an acceptor. */
export function registerSendRoutes(app: App, deps: Deps): void {
  const { config, db, compute, outbox } = deps;
  const acceptor = createSendAcceptor({
    db,
    suppressionKey: deriveKey(config.secretKey, 'suppression'),
    outbox,
  });

  registerSendBatchRoutes(app, deps, acceptor);
  app.openapi({ ...sendRoute, maxBodyBytes: computeSendMaxBytes(config.attachmentsMaxBytes) }, async (c) => {
    const input = c.req.valid('json');
    await checkLargeTemplates(compute, { projectId: c.get('projectId'), input });
    const request = toSendRequest(input, {
      // Uses `c.get`, because `c.var` creates an object of all variables each time, and this is the busiest route.
      projectId: c.get('projectId'),
      mode: c.get('mode'),
      monthlyEmailLimit: c.get('project').monthlyEmailLimit,
      idempotencyKey: readIdempotencyKey(c),
      fingerprint: c.get('fingerprint'),
      owner: readIdempotencyKeyOwner(c),
      request: 'POST /v1/send',
      attachmentsMaxBytes: config.attachmentsMaxBytes,
      files: c.get('files'),
    });
    const response = await acceptor.accept(request);
    noteAffectedRows(c, { emails: response.data.emails.map(({ email }) => email) });
    return c.json(response, 200);
  });
}
