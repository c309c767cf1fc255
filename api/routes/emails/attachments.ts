import { createRoute, z } from '@hono/zod-openapi';
import { findEmailAttachment, readLargeAttachments } from '../../../db/contents/attachments.ts';
import { AppError } from '../../../rules/errors.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { errorResponses } from '../../http/responses.ts';
import { Id } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';

const getRoute = createRoute({
  method: 'get',
  path: '/v1/emails/{id}/attachments/{attachmentId}',
  operationId: 'getEmailAttachment',
  tags: ['Email'],
  summary: 'Download an attachment',
  description:
    'Returns the bytes of an attachment of a received or sent email. Attachments of received emails are kept for at least 30 days. Attachments of sent emails are kept for `ATTACHMENT_RETENTION_DAYS`, which the operator sets.',
  security: allowScopes('emails:view'),
  request: { params: z.object({ id: Id, attachmentId: Id }) },
  responses: {
    200: {
      description: 'The file',
      content: { 'application/octet-stream': { schema: z.string().openapi({ format: 'binary' }) } },
    },
    ...errorResponses('NOT_FOUND'),
  },
});

/** Registers `GET /v1/emails/{id}/attachments/{attachmentId}` (contract §9.21 Attachments). */
export function registerEmailAttachmentRoutes(app: App, { reads }: Deps): void {
  app.openapi(getRoute, async (c) => {
    const { projectId } = c.var;
    const { id: emailId, attachmentId } = c.req.valid('param');
    const file = await findEmailAttachment(reads, { projectId, emailId, attachmentId });
    if (!file) throw new AppError('NOT_FOUND', { message: 'The email has no attachment with this id.' });
    if (file.isDropped)
      throw new AppError('NOT_FOUND', {
        message: 'The attachment was deleted after its retention period. The email still shows its name and size.',
      });
    const [read] = await readLargeAttachments(reads, { projectId, ids: [attachmentId] });
    if (!read) throw new AppError('NOT_FOUND');
    // The file may come from an unknown sender, so the headers make browsers save it instead of opening it.
    return c.body(new Uint8Array(read.content), 200, {
      'Content-Type': 'application/octet-stream',
      'Content-Disposition': formatContentDisposition(file.filename),
      'X-Content-Type-Options': 'nosniff',
    }) as never;
  });
}

/** Returns the Content-Disposition: an ASCII name for old clients and the full name (RFC 6266 §4.3, RFC 8187). */
function formatContentDisposition(filename: string): string {
  const name = filename === '' ? 'attachment' : filename;
  const ascii = name.replaceAll(/[^\w. -]/g, '_');
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encodeURIComponent(name).replaceAll(/['()*]/g, escapeChar)}`;
}

function escapeChar(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}
