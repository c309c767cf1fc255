import { createRoute, z } from '@hono/zod-openapi';
import { createBulkJob, createImportJob, getJob } from '../../../db/contacts/jobs.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { CSV_MAX_BYTES } from '../../../rules/contacts/csv.ts';
import { BULK_KINDS, type BulkKind } from '../../../rules/contacts/jobs.ts';
import { errors, json, multipart, ok } from '../../http/answers.ts';
import { tooLarge } from '../../http/body.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { scopes } from '../../http/security.ts';
import { BulkJob, BulkResult, ImportJob, ImportResult, jobAnswer, Queued } from './answer.ts';
import { BulkContacts, ImportFile, JobParams, UPLOAD_MAX_BYTES } from './input.ts';

const importRoute = createRoute({
  method: 'post',
  path: '/contacts/import',
  operationId: 'importContacts',
  tags: ['Contacts'],
  summary: 'Import contacts from a CSV file',
  description:
    'Queued. The header row has a column `email` (any case); `subscribed` is true for true, 1 and yes; every other column becomes data, ' +
    'numbers and booleans typed unless `types=string`. A bad row never stops the others. An import lifts no suppression.',
  security: scopes('contacts:edit'),
  maxBodyBytes: UPLOAD_MAX_BYTES,
  request: {
    query: z.object({ types: z.enum(['infer', 'string']).default('infer') }),
    body: multipart(ImportFile),
  },
  responses: { 202: ok(Queued, 'Queued') },
});

const importJobRoute = createRoute({
  method: 'get',
  path: '/contacts/import/{jobId}',
  operationId: 'getImportJob',
  tags: ['Contacts'],
  summary: 'Get an import',
  description: 'Its status, progress, counts so far and the first 1,000 errors.',
  security: scopes('contacts:view'),
  request: { params: JobParams },
  responses: { 200: ok(ImportJob), ...errors('NOT_FOUND') },
});

const bulkJobRoute = createRoute({
  method: 'get',
  path: '/contacts/bulk/{jobId}',
  operationId: 'getBulkJob',
  tags: ['Contacts'],
  summary: 'Get a bulk job',
  description: 'Its status, progress, counts so far and errors.',
  security: scopes('contacts:view'),
  request: { params: JobParams },
  responses: { 200: ok(BulkJob), ...errors('NOT_FOUND') },
});

const BULK_SUMMARIES: Record<BulkKind, { operationId: string; summary: string }> = {
  'bulk-subscribe': { operationId: 'bulkSubscribeContacts', summary: 'Subscribe up to 1,000 contacts' },
  'bulk-unsubscribe': { operationId: 'bulkUnsubscribeContacts', summary: 'Unsubscribe up to 1,000 contacts' },
  'bulk-delete': { operationId: 'bulkDeleteContacts', summary: 'Erase up to 1,000 contacts' },
};

const bulkRoute = (kind: BulkKind) =>
  createRoute({
    method: 'post',
    path: `/contacts/${kind}`,
    ...BULK_SUMMARIES[kind],
    tags: ['Contacts'],
    description: 'Queued. An id that is no contact of the project is a failure of its own, and the others go on.',
    security: scopes('contacts:edit'),
    request: { body: json(BulkContacts) },
    responses: { 202: ok(Queued, 'Queued') },
  });

/** Register before `contactRoutes`: these paths have the shape of `/contacts/{id}`. */
export function contactJobRoutes(app: App, { db, compute, lifecycle }: Deps): void {
  app.openapi(importRoute, async (c) => {
    const { file } = c.req.valid('form');
    if (file.size > CSV_MAX_BYTES) throw tooLarge(CSV_MAX_BYTES);
    const { projectId, mode } = c.var;
    const bytes = Buffer.from(await file.arrayBuffer());
    const { layout, rows } = await compute.inThread({ projectId, kind: 'contacts.upload' }, 'csv.layout', {
      file: bytes,
    });
    const text = c.req.valid('query').types === 'string';
    const job = await inTransaction(db, (trx) =>
      createImportJob(trx, { projectId, file: bytes, layout, rows, text, mode }),
    );
    lifecycle.dispatch(job.outbox);
    return c.json({ message: 'The import is queued.', jobId: job.id }, 202);
  });

  for (const kind of BULK_KINDS) {
    app.openapi(bulkRoute(kind), async (c) => {
      const body = c.req.valid('json');
      const { projectId, mode } = c.var;
      const contactIds = body.contactIds ?? body.ids ?? [];
      const job = await inTransaction(db, (trx) => createBulkJob(trx, { projectId, kind, contactIds, mode }));
      lifecycle.dispatch(job.outbox);
      return c.json({ message: 'The job is queued.', jobId: job.id }, 202);
    });
  }

  app.openapi(importJobRoute, async (c) => {
    const job = await getJob(db, { projectId: c.var.projectId, id: c.req.valid('param').jobId, kinds: ['import'] });
    return c.json({ ...jobAnswer(job), result: ImportResult.parse(job.result) }, 200);
  });

  app.openapi(bulkJobRoute, async (c) => {
    const job = await getJob(db, { projectId: c.var.projectId, id: c.req.valid('param').jobId, kinds: BULK_KINDS });
    return c.json({ ...jobAnswer(job), result: BulkResult.parse(job.result) }, 200);
  });
}
