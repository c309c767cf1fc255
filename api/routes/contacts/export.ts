import { createRoute, z } from '@hono/zod-openapi';
import {
  type ExportedContact,
  exportPredicate,
  listDataKeys,
  listExportedContacts,
} from '../../../db/contacts/export.ts';
import { formatCsvRow } from '../../../rules/contacts/csv-write.ts';
import { createQueryError } from '../../../rules/errors.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { errorResponses } from '../../http/responses.ts';
import { Id, QuerySwitch } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { toStream } from '../../http/stream.ts';
import { contactFilters } from './input.ts';

const exportRoute = createRoute({
  method: 'get',
  path: '/contacts/export',
  operationId: 'exportContacts',
  tags: ['Contacts'],
  summary: 'Export contacts as CSV',
  description:
    'Streams a CSV of all contacts, of the contacts of a segment, or of the contacts that match `search` and `condition`. It has the columns that an import accepts: `email`, `subscribed`, then each data key. Lists and objects are JSON. A text that a spreadsheet would run as a formula, or that an import would read as a number, starts with an apostrophe. The file starts with a UTF-8 byte order mark.',
  security: allowScopes('contacts:view'),
  request: {
    query: z.object({
      segmentId: Id.optional(),
      ...contactFilters,
      bom: QuerySwitch.optional().openapi({ description: '`false` omits the byte order mark' }),
    }),
  },
  responses: {
    200: {
      description: 'The contacts',
      content: {
        'text/csv': {
          schema: z.string().openapi({ example: 'email,subscribed,plan\r\nada@example.com,true,pro\r\n' }),
        },
      },
    },
    ...errorResponses('NOT_FOUND', 'CONFLICT'),
  },
});

/** Registers the CSV export of contacts. Register it before routes for `/contacts/{id}`. */
export function registerContactExportRoutes(app: App, { reads, compute }: Deps): void {
  app.openapi(exportRoute, async (c) => {
    const { projectId } = c.var;
    const { segmentId, bom = true, ...list } = c.req.valid('query');
    if (segmentId !== undefined && Object.values(list).some((value) => value !== undefined)) {
      const message = 'Send `segmentId` or other filters, not both.';
      throw createQueryError([{ field: 'segmentId', message, code: 'custom' }]);
    }
    const work = { projectId, kind: 'contacts.export' };
    const runInTurn = <T>(run: () => Promise<T>): Promise<T> => compute.runLargeRead(work, run);
    const predicate = await exportPredicate(reads, { projectId, segmentId, ...list });
    const keys = await runInTurn(() => listDataKeys(reads, predicate));
    const pages = (after: string | undefined) => runInTurn(() => listExportedContacts(reads, { predicate, after }));
    c.header('content-type', 'text/csv; charset=utf-8');
    c.header('content-disposition', 'attachment; filename="contacts.csv"');
    return c.body(toStream(generateCsv(keys, pages, bom ? BOM : '')), 200);
  });
}

type NextPage = (after: string | undefined) => Promise<ExportedContact[]>;

/** Byte order mark, with which spreadsheets read the file as UTF-8. */
const BOM = '\ufeff';

async function* generateCsv(keys: string[], next: NextPage, mark: string): AsyncGenerator<string> {
  yield mark + formatCsvRow(['email', 'subscribed', ...keys]);
  let page = await next(undefined);
  while (page.length > 0) {
    yield page
      .map(({ email, subscribed, data }) => formatCsvRow([email, subscribed, ...keys.map((key) => data[key])]))
      .join('');
    page = await next(page.at(-1)?.id);
  }
}
