import { createRoute, z } from '@hono/zod-openapi';
import { createBulkJob, createImportJob, getJob, type Job } from '../../../db/jobs.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { CSV_MAX_BYTES } from '../../../domain/contact-csv.ts';
import {
  BULK_KINDS,
  BULK_MAX_IDS,
  type BulkKind,
  JOB_KINDS,
  JOB_STATUSES,
  jobProgress,
  jobState,
} from '../../../domain/jobs.ts';
import { errors, json, multipart, ok } from '../../http/answers.ts';
import { tooLarge } from '../../http/body.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { Id, Instant } from '../../http/schemas.ts';
import { scopes } from '../../http/security.ts';

/** What multipart adds to a file: boundaries, headers, a few other fields. */
const MULTIPART_OVERHEAD_BYTES = 64 * 1024;
/** A file that is just too large is told so in its own words, not in those of the whole body. */
const UPLOAD_MAX_BYTES = CSV_MAX_BYTES + MULTIPART_OVERHEAD_BYTES;

const EXAMPLE_ID = '0190a000-0000-7000-8000-000000000000';
const JobParams = z.object({ jobId: Id });

const Queued = z
  .object({ message: z.string(), jobId: Id })
  .openapi('QueuedJob', { example: { message: 'The import is queued.', jobId: EXAMPLE_ID } });

// An id that is none is a contact that is not there: the job counts it as a failure and goes on (contract §3.5).
const Ids = z.array(z.string().min(1).max(100)).min(1).max(BULK_MAX_IDS);

const BulkContacts = z
  .object({ contactIds: Ids.optional(), ids: Ids.optional().openapi({ description: 'The same as contactIds' }) })
  .check((ctx) => {
    if (ctx.value.contactIds || ctx.value.ids) return;
    ctx.issues.push({ code: 'invalid_type', expected: 'array', path: ['contactIds'], input: undefined });
  })
  .openapi('BulkContacts', { example: { contactIds: [EXAMPLE_ID] } });

const ImportFile = z.object({
  file: z
    .instanceof(File)
    .openapi({ type: 'string', format: 'binary', description: 'A CSV file in UTF-8, at most 5 MB' }),
});

const ImportResult = z.object({
  totalRows: z.number().int(),
  successCount: z.number().int(),
  createdCount: z.number().int(),
  updatedCount: z.number().int(),
  failureCount: z.number().int(),
  unreadableRows: z
    .number()
    .int()
    .optional()
    .openapi({ description: 'Of the failures those that are no CSV; at 1,000 the job is FAILED' }),
  errors: z.array(z.object({ row: z.number().int(), email: z.string(), error: z.string() })),
});

const BulkResult = z.object({
  operation: z.enum(['subscribe', 'unsubscribe', 'delete']),
  totalRequested: z.number().int(),
  successCount: z.number().int(),
  failureCount: z.number().int(),
  errors: z.array(z.object({ contactId: z.string(), error: z.string() })),
});

const jobFields = {
  id: Id,
  kind: z.enum(JOB_KINDS),
  status: z.enum(JOB_STATUSES),
  state: z.enum(['waiting', 'active', 'completed', 'failed']),
  progress: z.number().int().min(0).max(100),
  total: z.number().int(),
  processed: z.number().int(),
  failedReason: z.string().nullable(),
  createdAt: Instant,
  startedAt: Instant.nullable(),
  completedAt: Instant.nullable(),
};

const JOB_EXAMPLE = {
  id: EXAMPLE_ID,
  status: 'COMPLETED' as const,
  state: 'completed' as const,
  progress: 100,
  total: 2,
  processed: 2,
  failedReason: null,
  createdAt: '2026-01-01T12:00:00.000Z',
  startedAt: '2026-01-01T12:00:00.100Z',
  completedAt: '2026-01-01T12:00:00.200Z',
};

const ImportJob = z.object({ ...jobFields, result: ImportResult }).openapi('ImportJob', {
  description: '`row` counts as a spreadsheet does: the header is row 1. The first 1,000 errors are kept.',
  example: {
    ...JOB_EXAMPLE,
    kind: 'import',
    result: {
      ...{ totalRows: 2, successCount: 1, createdCount: 1, updatedCount: 0, failureCount: 1 },
      errors: [{ row: 3, email: 'nobody', error: 'This is not an email address.' }],
    },
  },
});

const BulkJob = z.object({ ...jobFields, result: BulkResult }).openapi('BulkJob', {
  example: {
    ...JOB_EXAMPLE,
    kind: 'bulk-unsubscribe',
    result: { operation: 'unsubscribe', totalRequested: 2, successCount: 2, failureCount: 0, errors: [] },
  },
});

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

function jobAnswer(job: Job) {
  return {
    id: job.id,
    kind: job.kind,
    status: job.status,
    state: jobState(job.status),
    progress: jobProgress(job),
    total: job.total,
    processed: job.processed,
    failedReason: job.failedReason,
    createdAt: job.createdAt.toISOString(),
    startedAt: job.startedAt?.toISOString() ?? null,
    completedAt: job.completedAt?.toISOString() ?? null,
  };
}
