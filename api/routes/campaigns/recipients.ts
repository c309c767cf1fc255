import { createRoute, z } from '@hono/zod-openapi';
import { getCampaign } from '../../../db/campaigns/campaigns.ts';
import type { RecipientFilter } from '../../../db/campaigns/recipient-rows.ts';
import { exportRecipients, listRecipients } from '../../../db/campaigns/recipients.ts';
import { RECIPIENT_OUTCOMES } from '../../../rules/campaigns/outcomes.ts';
import { EMAIL_STATUSES } from '../../../rules/emails/email-status.ts';
import { REASONS } from '../../../rules/emails/reasons.ts';
import { acceptsCsv, createCsvHeaders, streamCsv } from '../../http/csv-stream.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { cursorQuery, IdParams } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { RECIPIENT_CSV_HEADER, RecipientRecord, toRecipientCsv, toRecipientResponse } from './recipient-response.ts';

const LIST_DEFAULT = 50;

/** Returns a schema for a list of values in a query, separated by commas. An empty list means no filter. */
function createListQuerySchema<T extends string>(words: readonly T[], description: string) {
  const split = (text: string) =>
    text
      .split(',')
      .map((word) => word.trim())
      .filter(Boolean);
  return z
    .string()
    .max(1000)
    .transform(split)
    .pipe(z.array(z.enum(words as readonly [T, ...T[]])))
    .transform((list) => (list.length > 0 ? list : undefined))
    .optional()
    .openapi({ type: 'string', description });
}

const Query = cursorQuery(LIST_DEFAULT).extend({
  status: createListQuerySchema(EMAIL_STATUSES, 'Statuses, separated by commas. `SENT` does not include DELIVERED.'),
  reason: createListQuerySchema(REASONS, 'Reasons, separated by commas'),
  outcome: z
    .enum(RECIPIENT_OUTCOMES)
    .optional()
    .openapi({ description: 'Lists only recipients that this count in the statistics of the campaign includes' }),
  format: z
    .enum(['json', 'csv'])
    .optional()
    .openapi({ description: '`csv` has the same effect as `Accept: text/csv`, for use in links' }),
  search: z.string().max(254).optional().openapi({ description: 'Part of the address, case-insensitive' }),
});

const listRoute = createRoute({
  method: 'get',
  path: '/campaigns/{id}/recipients',
  operationId: 'listCampaignRecipients',
  tags: ['Campaigns'],
  summary: 'List the recipients of a campaign',
  description:
    'Lists all contacts of the audience, newest first. Skipped contacts have a reason. In a campaign with more than 20,000 recipients, a search first lists recipients whose address starts with the text, ordered by address. With `Accept: text/csv`, the response is a CSV of all matches without pages. Text that a spreadsheet would run as a formula starts with an apostrophe. If few recipients of a large campaign match a filter, a page can have fewer than `limit` recipients although `hasMore` is true: continue with the cursor. `total` is counted on the first page only. It is null if counting would have to read all recipients of a large campaign.',
  security: allowScopes('campaigns:view'),
  request: { params: IdParams, query: Query },
  responses: {
    200: {
      description: 'Success',
      content: {
        'application/json': {
          schema: z.object({
            data: z.array(RecipientRecord),
            cursor: z.string().nullable(),
            hasMore: z.boolean(),
            total: z.number().int().nullable(),
          }),
        },
        'text/csv': { schema: z.string() },
      },
    },
  },
});

/** Registers the operation that lists the recipients of a campaign, as JSON or CSV. */
export function registerCampaignRecipientRoutes(app: App, { db, reads, compute }: Deps): void {
  app.openapi(listRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const { status: statuses, reason: reasons, outcome, search, format, ...page } = c.req.valid('query');
    const filter: RecipientFilter = { statuses, reasons, outcome, search: search || undefined };
    await getCampaign(db, ref);
    c.header('Vary', 'Accept', { append: true });
    if (format ? format === 'csv' : acceptsCsv(c.req.header('accept'))) {
      const work = { projectId: ref.projectId, kind: 'recipients.csv' };
      const stream = streamCsv(RECIPIENT_CSV_HEADER, (cursor) =>
        compute.runLargeRead(work, async () => {
          const part = await exportRecipients(reads, { ...ref, ...filter, cursor });
          return { text: part.items.map(toRecipientCsv).join(''), cursor: part.cursor };
        }),
      );
      return c.body(stream, 200, createCsvHeaders(`campaign-${ref.id}-recipients.csv`));
    }
    const { items, ...rest } = await listRecipients(reads, { ...ref, ...filter, ...page });
    return c.json({ data: items.map(toRecipientResponse), ...rest }, 200);
  });
}
