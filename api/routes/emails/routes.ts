import { createRoute, z } from '@hono/zod-openapi';
import { listAttachmentInfos } from '../../../db/contents/attachments.ts';
import { findContents } from '../../../db/contents/contents.ts';
import { getEmail, listEmailEvents, listEmails } from '../../../db/emails/emails.ts';
import { findWorkflowIdOfExecution } from '../../../db/executions/executions.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { errorResponses, jsonResponse } from '../../http/responses.ts';
import { IdParams } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { ListQuery } from './input.ts';
import { readShownRecipients, renderEmailAsRead } from './rendering.ts';
import { EmailItem, EmailRecord, toEmailItem, toEmailRecord } from './response.ts';

const listRoute = {
  ...createRoute({
    method: 'get',
    path: '/v1/emails',
    operationId: 'listEmails',
    tags: ['Email'],
    summary: 'List emails',
    description: 'Lists emails of the project, newest first, without bodies.',
    security: allowScopes('emails:view'),
    request: { query: ListQuery },
    responses: { 200: jsonResponse(z.object({ data: z.array(EmailItem), nextCursor: z.string().nullable() })) },
  }),
  invalid: 400 as const,
};

const getRoute = createRoute({
  method: 'get',
  path: '/v1/emails/{id}',
  operationId: 'getEmail',
  tags: ['Email'],
  summary: 'Get an email',
  description: 'Returns the email with its rendered body, headers, attachments and events.',
  security: allowScopes('emails:view'),
  request: { params: IdParams },
  responses: { 200: jsonResponse(z.object({ data: EmailRecord })), ...errorResponses('NOT_FOUND') },
});

/** Registers `GET /v1/emails` and `GET /v1/emails/{id}` (contract §9). */
export function registerEmailRoutes(app: App, { config, compute, db, reads }: Deps): void {
  app.openapi(listRoute, async (c) => {
    const { items, cursor } = await listEmails(reads, { projectId: c.var.projectId, ...c.req.valid('query') });
    return c.json({ data: items.map(toEmailItem), nextCursor: cursor }, 200);
  });

  app.openapi(getRoute, async (c) => {
    const { projectId } = c.var;
    const email = await getEmail(db, { projectId, id: c.req.valid('param').id });
    const { executionId } = email;
    const [contents, attachments, events, workflowId, shown] = await Promise.all([
      findContents(db, { projectId, ids: [email.contentId] }),
      email.options?.original?.files ?? listAttachmentInfos(db, { projectId, ids: email.options?.attachmentIds ?? [] }),
      listEmailEvents(db, { projectId, emailId: email.id, contactId: email.contactId }),
      executionId === null ? null : findWorkflowIdOfExecution(db, { projectId, executionId }),
      readShownRecipients(db, { projectId, email }),
    ]);
    const content = contents.get(email.contentId);
    if (!content) throw new Error('an email has no content');
    const read = await renderEmailAsRead(compute, { projectId, email, content, links: config, shown });
    return c.json({ data: toEmailRecord({ email, read, attachments, events, workflowId }) }, 200);
  });
}
