import { z } from '@hono/zod-openapi';
import type { Job } from '../../../db/contacts/jobs.ts';
import { computeJobProgress, JOB_KINDS, JOB_STATUSES, toJobState } from '../../../rules/contacts/jobs.ts';
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
  blankRows: z.number().int().optional().openapi({
    description: 'Skipped blank lines, and rows that contain only separators. They are not in `totalRows`.',
  }),
  unreadableRows: z
    .number()
    .int()
    .optional()
    .openapi({ description: 'Failed rows that are not valid CSV. At 1,000, the job is FAILED.' }),
  errors: z.array(z.object({ row: z.number().int(), email: z.string(), error: z.string() })),
  warningCount: z.number().int().optional().openapi({
    description: 'Number of rows that were imported although a value, such as a phone number, is not valid',
  }),
  warnings: z.array(z.object({ row: z.number().int(), email: z.string(), warning: z.string() })).optional(),
  notes: z.array(z.string()).optional().openapi({
    description:
      'Explains how the import treats columns that it recognizes by their names, such as `Newsletter`, which sets the subscription',
  }),
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
  description:
    '`row` is the row number in a spreadsheet: the header usually is row 1, and blank rows count. The first 1,000 errors are kept.',
  example: {
    ...JOB_EXAMPLE,
    kind: 'import',
    result: {
      totalRows: 2,
      successCount: 1,
      createdCount: 1,
      updatedCount: 0,
      failureCount: 1,
      errors: [{ row: 3, email: 'nobody', error: 'Must be an email address such as ada@example.com.' }],
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

/** A job in a list. Its result has the counts, but no errors. */
export const ListedJob = z
  .object({
    ...jobFields,
    result: z.union([ImportResult.omit({ errors: true, warnings: true }), BulkResult.omit({ errors: true })]),
  })
  .openapi('ListedContactJob', {
    example: {
      ...JOB_EXAMPLE,
      kind: 'bulk-unsubscribe',
      result: { operation: 'unsubscribe', totalRequested: 2, successCount: 2, failureCount: 0 },
    },
  });

const PreviewColumn = z.object({
  header: z.string(),
  field: z
    .string()
    .nullable()
    .openapi({ description: '`email`, `subscribed`, `data.<name>`, or null for a skipped column' }),
  type: z.enum(['infer', 'string']),
  samples: z.array(z.string()).openapi({ description: 'The first values of the column, as they are in the file' }),
  types: z
    .object({
      text: z.number().int().optional(),
      number: z.number().int().optional(),
      boolean: z.number().int().optional(),
      date: z.number().int().optional(),
    })
    .openapi({ description: 'Number of values by detected type' }),
});

const PreviewRow = z.object({
  row: z.number().int(),
  email: z.string(),
  subscribed: z.boolean().nullable().openapi({ description: 'Null if the file does not set the subscription' }),
  data: z.record(z.string(), z.unknown()),
  known: z.boolean().openapi({ description: 'Whether the contact exists and would be updated' }),
  error: z.string().nullable(),
});

export const ImportPreview = z
  .object({
    delimiter: z.string(),
    rows: z.number().int(),
    mapping: z.record(z.string(), z.unknown()).openapi({ description: 'The mapping to send with the import' }),
    problems: z
      .array(z.object({ field: z.string(), message: z.string(), code: z.string() }))
      .openapi({ description: 'Errors in the mapping. If there are any, the rows of the file are not counted.' }),
    columns: z.array(PreviewColumn),
    preview: z.array(PreviewRow),
    result: ImportResult.extend({
      unreadableRows: z.number().int(),
      suppressedCount: z.number().int().openapi({
        description: 'Rows whose address is on the suppression list. They are imported without a subscription.',
      }),
      resubscribedCount: z.number().int().openapi({
        description:
          'Rows that subscribe contacts that are unsubscribed now and not on the suppression list, for example because the project unsubscribed them.',
      }),
      unsubscribedCount: z.number().int().openapi({
        description: 'Rows that unsubscribe contacts that are subscribed now.',
      }),
      silentKnownCount: z.number().int().openapi({
        description: 'Rows of existing contacts with an empty `subscribed` cell. Their subscription does not change.',
      }),
      silentNewCount: z.number().int().openapi({
        description: 'Rows of new contacts with an empty `subscribed` cell. They start unsubscribed.',
      }),
      errors: z.array(
        z.object({
          row: z.number().int(),
          email: z.string(),
          error: z.string(),
          values: z.array(z.string()).openapi({
            description:
              'Cells of the row, or the whole line if it cannot be parsed. Empty if they have more than 2,000 characters.',
          }),
        }),
      ),
    }).nullable(),
  })
  .openapi('ImportPreview', {
    description: 'The counts and errors that an import of this file would have now.',
    example: {
      delimiter: ',',
      rows: 2,
      mapping: { 'E-Mail': 'email', Seats: 'data.seats' },
      problems: [],
      columns: [
        { header: 'E-Mail', field: 'email', type: 'infer', samples: ['ada@example.com', 'nobody'], types: {} },
        { header: 'Seats', field: 'data.seats', type: 'infer', samples: ['5', '7'], types: { number: 1 } },
      ],
      preview: [
        { row: 2, email: 'ada@example.com', subscribed: null, data: { seats: 5 }, known: true, error: null },
        {
          row: 3,
          email: 'nobody',
          subscribed: null,
          data: {},
          known: false,
          error: 'Must be an email address such as ada@example.com.',
        },
      ],
      result: {
        totalRows: 2,
        successCount: 1,
        createdCount: 0,
        updatedCount: 1,
        failureCount: 1,
        unreadableRows: 0,
        suppressedCount: 0,
        resubscribedCount: 0,
        unsubscribedCount: 0,
        silentKnownCount: 0,
        silentNewCount: 0,
        errors: [
          {
            row: 3,
            email: 'nobody',
            error: 'Must be an email address such as ada@example.com.',
            values: ['nobody', '7'],
          },
        ],
      },
    },
  });

export function toListedJobResponse(job: Job) {
  const counts =
    job.kind === 'import' ? ImportResult.omit({ errors: true, warnings: true }) : BulkResult.omit({ errors: true });
  return { ...toJobResponse(job), result: counts.parse(job.result) };
}

export function toJobResponse(job: Job) {
  return {
    id: job.id,
    kind: job.kind,
    status: job.status,
    state: toJobState(job.status),
    progress: computeJobProgress(job),
    total: job.total,
    processed: job.processed,
    failedReason: job.failedReason,
    createdAt: job.createdAt.toISOString(),
    startedAt: job.startedAt?.toISOString() ?? null,
    completedAt: job.completedAt?.toISOString() ?? null,
  };
}
