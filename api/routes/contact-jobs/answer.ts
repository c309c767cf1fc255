import { z } from '@hono/zod-openapi';
import type { Job } from '../../../db/contacts/jobs.ts';
import { JOB_KINDS, JOB_STATUSES, jobProgress, jobState } from '../../../rules/contacts/jobs.ts';
import { EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';

export const Queued = z
  .object({ message: z.string(), jobId: Id })
  .openapi('QueuedJob', { example: { message: 'The import is queued.', jobId: EXAMPLE_ID } });

export const ImportResult = z.object({
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

export const BulkResult = z.object({
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

export const ImportJob = z.object({ ...jobFields, result: ImportResult }).openapi('ImportJob', {
  description: '`row` counts as a spreadsheet does: the header is row 1. The first 1,000 errors are kept.',
  example: {
    ...JOB_EXAMPLE,
    kind: 'import',
    result: {
      totalRows: 2,
      successCount: 1,
      createdCount: 1,
      updatedCount: 0,
      failureCount: 1,
      errors: [{ row: 3, email: 'nobody', error: 'This is not an email address.' }],
    },
  },
});

export const BulkJob = z.object({ ...jobFields, result: BulkResult }).openapi('BulkJob', {
  example: {
    ...JOB_EXAMPLE,
    kind: 'bulk-unsubscribe',
    result: { operation: 'unsubscribe', totalRequested: 2, successCount: 2, failureCount: 0, errors: [] },
  },
});

export function jobAnswer(job: Job) {
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
