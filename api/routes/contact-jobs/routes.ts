import { createRoute, z } from '@hono/zod-openapi';
import { collectKnownTypes, listRecentFields } from '../../../db/contacts/fields.ts';
import {
  cancelJob,
  createBulkJob,
  createBulkJobWhere,
  createImportJob,
  getJob,
  listJobs,
} from '../../../db/contacts/jobs.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { toUtf8 } from '../../../rules/contacts/csv-encoding.ts';
import { CSV_MAX_BYTES } from '../../../rules/contacts/csv-head.ts';
import { formatCsvRow } from '../../../rules/contacts/csv-write.ts';
import { BULK_KINDS, type BulkKind } from '../../../rules/contacts/jobs.ts';
import { createFieldError } from '../../../rules/errors.ts';
import { resolveAliases } from '../../http/aliases.ts';
import { createTooLargeError } from '../../http/body.ts';
import { createCsvHeaders } from '../../http/csv-stream.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { errorResponses, jsonBody, jsonResponse, multipartBody } from '../../http/responses.ts';
import { cursorList } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { BulkContacts, ImportFile, ImportTypes, JobParams, ListJobs, UPLOAD_MAX_BYTES } from './input.ts';
import {
  BulkJob,
  BulkResult,
  ImportJob,
  ImportResult,
  ListedJob,
  Queued,
  toJobResponse,
  toListedJobResponse,
} from './response.ts';

const importRoute = createRoute({
  method: 'post',
  path: '/contacts/import',
  operationId: 'importContacts',
  unknownFields: 'refuse',
  tags: ['Contacts'],
  summary: 'Import contacts from a CSV file',
  description:
    'Creates a job that imports the file. The header row needs a column `email` (case-insensitive), or a column with another usual name, such as `E-Mail` or `Email Address`. A column `subscribed`, or a column with another usual name such as `Newsletter` or `Opt-In`, sets the subscription; `notes` of the result explain this. Every other column becomes a data field. Numbers and booleans are detected unless you send `types=string`. `mapping` overrides these rules for single columns. A row with errors does not stop the import. An import removes no suppression.',
  security: allowScopes('contacts:edit'),
  maxBodyBytes: UPLOAD_MAX_BYTES,
  request: {
    query: ImportTypes,
    body: multipartBody(ImportFile),
  },
  responses: { 202: jsonResponse(Queued, 'Queued') },
});

const importJobRoute = createRoute({
  method: 'get',
  path: '/contacts/import/{jobId}',
  operationId: 'getImportJob',
  tags: ['Contacts'],
  summary: 'Get an import',
  description: 'Returns the status, progress, counts so far and the first 1,000 errors.',
  security: allowScopes('contacts:view'),
  request: { params: JobParams },
  responses: { 200: jsonResponse(ImportJob), ...errorResponses('NOT_FOUND') },
});

const importErrorsRoute = createRoute({
  method: 'get',
  path: '/contacts/import/{jobId}/errors',
  operationId: 'exportImportErrors',
  tags: ['Contacts'],
  summary: 'Export the failed rows of an import as CSV',
  description:
    'Returns the first 1,000 failed rows with the columns `row` (the row number in a spreadsheet), `email` and `error`.',
  security: allowScopes('contacts:view'),
  request: { params: JobParams },
  responses: {
    200: {
      description: 'The failed rows',
      content: {
        'text/csv': {
          schema: z
            .string()
            .openapi({ example: 'row,email,error\r\n3,nobody,Must be an email address such as ada@example.com.\r\n' }),
        },
      },
    },
    ...errorResponses('NOT_FOUND'),
  },
});

const bulkJobRoute = createRoute({
  method: 'get',
  path: '/contacts/bulk/{jobId}',
  operationId: 'getBulkJob',
  tags: ['Contacts'],
  summary: 'Get a bulk job',
  description: 'Returns the status, progress, counts so far and errors.',
  security: allowScopes('contacts:view'),
  request: { params: JobParams },
  responses: { 200: jsonResponse(BulkJob), ...errorResponses('NOT_FOUND') },
});

const BULK_SUMMARIES: Record<BulkKind, { operationId: string; summary: string }> = {
  'bulk-subscribe': { operationId: 'bulkSubscribeContacts', summary: 'Subscribe contacts' },
  'bulk-unsubscribe': { operationId: 'bulkUnsubscribeContacts', summary: 'Unsubscribe contacts' },
  'bulk-delete': { operationId: 'bulkDeleteContacts', summary: 'Erase contacts' },
};

const createBulkRoute = (kind: BulkKind) =>
  createRoute({
    method: 'post',
    path: `/contacts/${kind}`,
    ...BULK_SUMMARIES[kind],
    unknownFields: 'refuse',
    tags: ['Contacts'],
    description:
      'Creates a job for up to 1,000 contacts (`contactIds`), or for all contacts that match a filter (`where`). An unknown id is counted as a failure, and the job continues.',
    security: allowScopes('contacts:edit'),
    request: { body: jsonBody(BulkContacts) },
    responses: { 202: jsonResponse(Queued, 'Queued'), ...errorResponses('CONFLICT') },
  });

const listJobsRoute = createRoute({
  method: 'get',
  path: '/contacts/jobs',
  operationId: 'listContactJobs',
  tags: ['Contacts'],
  summary: 'List imports and bulk jobs',
  description: 'Newest first, with progress and counts.',
  security: allowScopes('contacts:view'),
  request: { query: ListJobs },
  responses: { 200: jsonResponse(cursorList(ListedJob)) },
});

const cancelRoute = createRoute({
  method: 'post',
  path: '/contacts/jobs/{jobId}/cancel',
  operationId: 'cancelContactJob',
  tags: ['Contacts'],
  summary: 'Cancel an import or a bulk job',
  description:
    'Ends the job after the current batch. Changes that the job has already made stay and are counted. Returns 409 if the job has already ended in another way.',
  security: allowScopes('contacts:edit'),
  request: { params: JobParams },
  responses: { 200: jsonResponse(ListedJob), ...errorResponses('CONFLICT') },
});

/**
 * Registers the operations on jobs. Call it before `registerContactRoutes`, because `/contacts/{id}` matches these
 * paths too.
 */
export function registerContactJobRoutes(app: App, { db, reads, compute, outbox }: Deps): void {
  app.openapi(importRoute, async (c) => {
    const { file, mapping, triggerWorkflows } = c.req.valid('form');
    if (file.size > CSV_MAX_BYTES) throw createTooLargeError(CSV_MAX_BYTES);
    const { types, triggerWorkflows: fromQuery } = c.req.valid('query');
    if (triggerWorkflows !== undefined && fromQuery !== undefined && triggerWorkflows !== fromQuery)
      throw createFieldError(
        'triggerWorkflows',
        'The form and the query have different values. Send one of them.',
        'custom',
      );
    const { projectId, mode } = c.var;
    const bytes = toUtf8(Buffer.from(await file.arrayBuffer()));
    const { layout, rows } = await compute.runInThread({ projectId, kind: 'contacts.upload' }, 'csv.layout', {
      file: bytes,
      mapping,
      knownTypes: collectKnownTypes(await listRecentFields(reads, projectId)),
    });
    const input = { text: types === 'string', triggerWorkflows: triggerWorkflows ?? fromQuery ?? false, layout, mode };
    const job = await inTransaction(db, (trx) => createImportJob(trx, { projectId, file: bytes, rows, ...input }));
    outbox.wake(job.outbox);
    return c.json({ message: 'The import is queued.', jobId: job.id }, 202);
  });

  for (const kind of BULK_KINDS) {
    app.openapi(createBulkRoute(kind), async (c) => {
      const body = c.req.valid('json');
      const { projectId, mode } = c.var;
      const contactIds = resolveAliases({ contactIds: body.contactIds, ids: body.ids }) ?? [];
      const where = body.where && { search: body.where.search, condition: body.where.condition };
      const work = { projectId, kind: 'contacts.bulk' };
      const job = where
        ? await compute.runLargeRead(work, () =>
            inTransaction(db, (trx) => createBulkJobWhere(trx, { projectId, kind, where, mode })),
          )
        : await inTransaction(db, (trx) => createBulkJob(trx, { projectId, kind, contactIds, mode }));
      outbox.wake(job.outbox);
      return c.json({ message: 'The job is queued.', jobId: job.id }, 202);
    });
  }

  app.openapi(listJobsRoute, async (c) => {
    const { items, ...page } = await listJobs(reads, { projectId: c.var.projectId, ...c.req.valid('query') });
    return c.json({ data: items.map(toListedJobResponse), ...page }, 200);
  });

  app.openapi(cancelRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').jobId };
    return c.json(toListedJobResponse(await inTransaction(db, (trx) => cancelJob(trx, ref))), 200);
  });

  app.openapi(importJobRoute, async (c) => {
    const job = await getJob(db, { projectId: c.var.projectId, id: c.req.valid('param').jobId, kinds: ['import'] });
    return c.json({ ...toJobResponse(job), result: ImportResult.parse(job.result) }, 200);
  });

  app.openapi(importErrorsRoute, async (c) => {
    const job = await getJob(db, { projectId: c.var.projectId, id: c.req.valid('param').jobId, kinds: ['import'] });
    const rows = ImportResult.parse(job.result).errors.map(({ row, email, error }) =>
      formatCsvRow([row, email, error]),
    );
    return c.body(formatCsvRow(['row', 'email', 'error']) + rows.join(''), 200, createCsvHeaders('import-errors.csv'));
  });

  app.openapi(bulkJobRoute, async (c) => {
    const job = await getJob(db, { projectId: c.var.projectId, id: c.req.valid('param').jobId, kinds: BULK_KINDS });
    return c.json({ ...toJobResponse(job), result: BulkResult.parse(job.result) }, 200);
  });
}
