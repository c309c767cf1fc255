import { z } from '@hono/zod-openapi';
import { CSV_MAX_BYTES } from '../../../rules/contacts/csv.ts';
import type { CsvMapping } from '../../../rules/contacts/csv-mapping.ts';
import { BULK_MAX_IDS } from '../../../rules/contacts/jobs.ts';
import { ConditionInput } from '../../../rules/filters/filters.ts';
import { aliasOf } from '../../http/aliases.ts';
import { cursorQuery, EXAMPLE_ID, Id, jsonOfText, QuerySwitch } from '../../http/schemas.ts';
import { Search } from '../contacts/input.ts';

const JOBS_DEFAULT = 20;
/** A field name has at most 100 characters after `data.`, so a longer header is never a field name. */
const HEADER_MAX_CHARS = 1_000;
/** Leaves space for the other parts of the form within `MULTIPART_OVERHEAD_BYTES`. */
const MAPPING_MAX_CHARS = 48 * 1024;

/** Multipart adds boundaries, headers and a few other fields to a file. */
const MULTIPART_OVERHEAD_BYTES = 64 * 1024;

/** A file that is slightly too large gets its own error, not the error of the whole body. */
export const UPLOAD_MAX_BYTES = CSV_MAX_BYTES + MULTIPART_OVERHEAD_BYTES;

export const JobParams = z.object({ jobId: Id });

// An invalid id fails for that contact only; the job counts it and continues (contract §3.5 Import).
const Ids = z.array(z.string().min(1).max(100)).min(1).max(BULK_MAX_IDS);

const Where = z.object({ search: Search.optional(), condition: ConditionInput.optional() }).openapi({
  description:
    'Contacts that match these filters when the job reaches them; `{}` is all contacts. Contacts that are created later are not included.',
  properties: {
    search: { type: 'string', maxLength: 254, description: 'A part of the address' },
    condition: { $ref: '#/components/schemas/Condition' },
  },
});

export const BulkContacts = z
  .object({
    contactIds: Ids.optional(),
    ids: aliasOf(Ids.optional(), 'contactIds'),
    where: Where.optional(),
  })
  .check((ctx) => {
    const { contactIds, ids, where } = ctx.value;
    if (where && (contactIds || ids)) {
      const message = 'A job is over `contactIds` or over `where`, not over both.';
      ctx.issues.push({ code: 'custom', path: ['where'], message, input: where });
    } else if (!contactIds && !ids && !where) {
      ctx.issues.push({ code: 'invalid_type', expected: 'array', path: ['contactIds'], input: undefined });
    }
  })
  .openapi('BulkContacts', { example: { contactIds: [EXAMPLE_ID] } });

export const ListJobs = cursorQuery(JOBS_DEFAULT).extend({
  active: QuerySwitch.optional().openapi({ description: 'Only running jobs, or only jobs that have ended' }),
});

const Mapping: z.ZodType<CsvMapping> = z.record(
  z.string().max(HEADER_MAX_CHARS),
  z.union([
    z.null(),
    z.string().max(HEADER_MAX_CHARS),
    z.object({ field: z.string().max(HEADER_MAX_CHARS), type: z.enum(['infer', 'string']).optional() }),
  ]),
);

const MappingText = z
  .string()
  .max(MAPPING_MAX_CHARS)
  .transform(jsonOfText('Must be a mapping as JSON'))
  .pipe(Mapping)
  .openapi({
    type: 'string',
    description:
      'JSON: the target of each column by its header: `email`, `subscribed` or `data.<name>`, null to ignore the column, or `{ "field": …, "type": "string" }` to keep its values text. Other columns use their header.',
    example: '{"E-Mail":"email","First name":"data.firstName","Notes":null}',
  });

export const ImportFile = z
  .object({
    file: z
      .instanceof(File)
      .openapi({ type: 'string', format: 'binary', description: 'A CSV file in UTF-8 or UTF-16, at most 5 MB' }),
    mapping: MappingText.optional(),
    triggerWorkflows: QuerySwitch.optional().openapi({ description: 'The same as in the query' }),
  })
  .openapi('ContactsFile');

export const ImportTypes = z.object({
  types: z.enum(['infer', 'string']).default('infer'),
  triggerWorkflows: QuerySwitch.optional().openapi({
    description: 'Whether new contacts that are subscribed record `contact.subscribed`, so that workflows greet them',
  }),
});
