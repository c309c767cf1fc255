import { z } from '@hono/zod-openapi';
import { CSV_MAX_BYTES } from '../../../rules/contacts/csv.ts';
import { BULK_MAX_IDS } from '../../../rules/contacts/jobs.ts';
import { EXAMPLE_ID, Id } from '../../http/schemas.ts';

/** What multipart adds to a file: boundaries, headers, a few other fields. */
const MULTIPART_OVERHEAD_BYTES = 64 * 1024;

/** A file that is just too large is told so in its own words, not in those of the whole body. */
export const UPLOAD_MAX_BYTES = CSV_MAX_BYTES + MULTIPART_OVERHEAD_BYTES;

export const JobParams = z.object({ jobId: Id });

// An id that is none is a contact that is not there: the job counts it as a failure and goes on (contract §3.5).
const Ids = z.array(z.string().min(1).max(100)).min(1).max(BULK_MAX_IDS);

export const BulkContacts = z
  .object({ contactIds: Ids.optional(), ids: Ids.optional().openapi({ description: 'The same as contactIds' }) })
  .check((ctx) => {
    if (ctx.value.contactIds || ctx.value.ids) return;
    ctx.issues.push({ code: 'invalid_type', expected: 'array', path: ['contactIds'], input: undefined });
  })
  .openapi('BulkContacts', { example: { contactIds: [EXAMPLE_ID] } });

export const ImportFile = z.object({
  file: z
    .instanceof(File)
    .openapi({ type: 'string', format: 'binary', description: 'A CSV file in UTF-8, at most 5 MB' }),
});
