import { z } from '@hono/zod-openapi';
import { CSV_MAX_BYTES } from '../../../rules/contacts/csv-head.ts';
import type { CsvMapping } from '../../../rules/contacts/csv-mapping.ts';
import { BULK_MAX_IDS } from '../../../rules/contacts/jobs.ts';
import { ConditionInput } from '../../../rules/filters/filters.ts';
import { markAsAlias } from '../../http/aliases.ts';
import { cursorQuery, EXAMPLE_ID, Id, jsonText, QuerySwitch, UploadedFile } from '../../http/schemas.ts';
import { Search } from '../contacts/input.ts';

const JOBS_DEFAULT = 20;
/** A field name has at most 100 characters after `data.`, so a longer header is never a field name. */
const HEADER_MAX_CHARS = 1_000;
/** Less than `MULTIPART_OVERHEAD_BYTES`, because the form has other parts too. */
const MAPPING_MAX_CHARS = 48 * 1024;

/** Multipart adds boundaries, headers and a few other fields to a file. */
const MULTIPART_OVERHEAD_BYTES = 64 * 1024;

/**
 * Limit of the body. It is higher than the limit of a file, so that a file that is slightly too large gets an error
 * about the file.
 */
export const UPLOAD_MAX_BYTES = CSV_MAX_BYTES + MULTIPART_OVERHEAD_BYTES;

export const JobParams = z.object({ jobId: Id });

// The ids are not checked here. If an id is invalid, the job counts a failure for it and continues (contract §3.5
// Import).
const Ids = z.array(z.string().min(1).max(100)).min(1).max(BULK_MAX_IDS);

/**
 * A selection of contacts by search text or condition. Refuses an empty selection, because it would select every
 * contact, and a program may send it by mistake.
 */
const Where = z
  .object({ search: Search.optional(), condition: ConditionInput.optional(), all: z.literal(true).optional() })
  .check((ctx) => {
    const { search = '', condition, all } = ctx.value;
    const isLimited = search.trim() !== '' || condition !== undefined;
    if (isLimited === !all) return;
    const message = all
      ? 'Send `all` without `search` and `condition`, because it selects every contact.'
      : 'Send a `search` or a `condition`, or `all: true` to select every contact.';
    ctx.issues.push({ code: 'custom', path: all ? ['all'] : [], message, input: ctx.value });
  })
  .openapi({
    description:
      'Selects the contacts that exist at the time of the request. Just before the job changes a contact, it checks whether the contact still matches.',
    properties: {
      search: { type: 'string', maxLength: 254, description: 'Part of the address or of the name' },
      condition: { $ref: '#/components/schemas/Condition' },
      all: { type: 'boolean', enum: [true], description: 'Selects every contact, instead of `search` and `condition`' },
    },
  });

export const BulkContacts = z
  .object({
    contactIds: Ids.optional(),
    ids: markAsAlias(Ids.optional(), 'contactIds'),
    where: Where.optional(),
  })
  .check((ctx) => {
    const { contactIds, ids, where } = ctx.value;
    if (where && (contactIds || ids)) {
      const message = 'Send `contactIds` or `where`, not both.';
      ctx.issues.push({ code: 'custom', path: ['where'], message, input: where });
    } else if (!contactIds && !ids && !where) {
      ctx.issues.push({ code: 'invalid_type', expected: 'array', path: ['contactIds'], input: undefined });
    }
  })
  .openapi('BulkContacts', { example: { contactIds: [EXAMPLE_ID] } });

export const ListJobs = cursorQuery(JOBS_DEFAULT).extend({
  active: QuerySwitch.optional().openapi({
    description: '`true` lists only records that have not ended, `false` only records that have ended',
  }),
});

const Mapping: z.ZodType<CsvMapping> = z.record(
  z.string().max(HEADER_MAX_CHARS),
  z.union([
    z.null(),
    z.string().max(HEADER_MAX_CHARS),
    z.object({ field: z.string().max(HEADER_MAX_CHARS), type: z.enum(['infer', 'string']).optional() }),
  ]),
);

const MappingText = jsonText(Mapping, 'Must be a mapping in JSON', MAPPING_MAX_CHARS).openapi({
  type: 'string',
  description:
    'A JSON object that maps column headers to fields: `email`, `subscribed` or `data.<name>`. Use null to skip a column. Use `{ "field": …, "type": "string" }` to keep the values as text. Columns that are not in the mapping use their header as the field name.',
  example: '{"E-Mail":"email","First name":"data.firstName","Notes":null}',
});

export const ImportFile = z
  .object({
    file: UploadedFile.openapi({
      type: 'string',
      format: 'binary',
      description: 'A CSV file in UTF-8 or UTF-16, at most 5 MB',
    }),
    mapping: MappingText.optional(),
    triggerWorkflows: QuerySwitch.optional().openapi({ description: 'Same as in the query' }),
  })
  .openapi('ContactsFile');

export const ImportTypes = z.object({
  types: z.enum(['infer', 'string']).default('infer'),
  triggerWorkflows: QuerySwitch.optional().openapi({
    description:
      'Whether the event `contact.subscribed`, which can start workflows, is recorded for new contacts that are subscribed',
  }),
});
