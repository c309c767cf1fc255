import { createRoute } from '@hono/zod-openapi';
import type { SendBatch } from '../../../rules/emails/send-request.ts';
import { AppError, createFieldError } from '../../../rules/errors.ts';
import type { SendAcceptor } from '../../accept/send-acceptor.ts';
import { readIdempotencyKeyOwner } from '../../http/actor.ts';
import type { Deps } from '../../http/deps.ts';
import type { App, RequestContext } from '../../http/env.ts';
import { IdempotencyHeader, readIdempotencyKey } from '../../http/idempotency-key.ts';
import { createBodyParser } from '../../http/parse-body.ts';
import { noteAffectedRows } from '../../http/request-log.ts';
import { jsonBody, jsonResponse } from '../../http/responses.ts';
import { allowScopes } from '../../http/security.ts';
import { computeSendMaxBytes, SEND_ELSEWHERE, SendBatchBody, SendBody } from './input.ts';
import { BatchSent, SEND_ERRORS } from './response.ts';
import { checkLargeTemplates, toSendRequest } from './to-send-request.ts';

/** Maximum number of recipients of all emails together. A transaction with this many rows takes a second. */
const RECIPIENTS_MAX = 10_000;
const REQUEST = 'POST /v1/send/batch';

const batchRoute = {
  ...createRoute({
    method: 'post',
    path: '/v1/send/batch',
    operationId: 'sendEmailBatch',
    tags: ['Email'],
    summary: 'Send up to 100 different emails',
    description:
      'Each email has the same form as the body of `POST /v1/send`. The result or error of an email is at the same position in `results`. With `atomic`, all emails are accepted or none. If one email is refused, the response is its error, and `errors` lists the errors of all emails with the fields `emails.<n>`. One `Idempotency-Key` applies to the whole batch.',
    security: allowScopes('email:send'),
    request: { headers: IdempotencyHeader, body: jsonBody(SendBatchBody) },
    responses: {
      200: jsonResponse(BatchSent, 'Result of each email'),
      ...SEND_ERRORS,
    },
  }),
  filesAt: ['emails', 'attachments'],
  unknownFields: 'refuse' as const,
};

const parseEmail = createBodyParser(SendBody, { unknownFields: 'refuse', setElsewhere: SEND_ELSEWHERE });

/** Registers `POST /v1/send/batch`. */
export function registerSendBatchRoutes(app: App, { config, compute }: Deps, acceptor: SendAcceptor): void {
  /** Converts an email of a batch to a send request. If the email is refused, returns its error instead. */
  async function toRequest(c: RequestContext, value: unknown, files: (Uint8Array | undefined)[]) {
    try {
      const { data: input } = parseEmail(value);
      await checkLargeTemplates(compute, { projectId: c.get('projectId'), input });
      return toSendRequest(input, {
        projectId: c.get('projectId'),
        mode: c.get('mode'),
        monthlyEmailLimit: c.get('project').monthlyEmailLimit,
        idempotencyKey: undefined,
        fingerprint: undefined,
        owner: readIdempotencyKeyOwner(c),
        request: REQUEST,
        attachmentsMaxBytes: config.attachmentsMaxBytes,
        files,
      });
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  }

  app.openapi({ ...batchRoute, maxBodyBytes: computeSendMaxBytes(config.attachmentsMaxBytes) }, async (c) => {
    const { emails: values, atomic } = c.req.valid('json');
    const files = [...c.get('files')];
    const emails: SendBatch['emails'] = [];
    for (const value of values) emails.push(await toRequest(c, value, files.splice(0, countFiles(value))));
    checkRecipientCount(emails);
    const response = await acceptor.acceptBatch({
      projectId: c.get('projectId'),
      idempotencyKey: readIdempotencyKey(c),
      fingerprint: c.get('fingerprint'),
      owner: readIdempotencyKeyOwner(c),
      request: REQUEST,
      atomic,
      emails,
    });
    const sent = response.data.results.flatMap((result) => (result.success ? result.data.emails : []));
    noteAffectedRows(c, { emails: sent.map(({ email }) => email) });
    return c.json(response, 200);
  });
}

/**
 * Refuses a batch with too many recipients.
 * @throws AppError VALIDATION_ERROR for more recipients than one transaction takes
 */
function checkRecipientCount(emails: SendBatch['emails']): void {
  const recipients = emails.reduce((sum, email) => sum + (email instanceof AppError ? 0 : email.to.length), 0);
  if (recipients <= RECIPIENTS_MAX) return;
  const message = `At most ${RECIPIENTS_MAX.toLocaleString('en')} recipients in all emails of a batch`;
  throw createFieldError('emails', message, 'too_big');
}

/**
 * Returns how many entries of the batch's list of files belong to an email: one per attachment, even if it is invalid.
 */
function countFiles(value: unknown): number {
  const attachments = typeof value === 'object' && value !== null ? Reflect.get(value, 'attachments') : undefined;
  return Array.isArray(attachments) ? attachments.length : 0;
}
