import { createRoute } from '@hono/zod-openapi';
import { collectKnownTypes, listRecentFields } from '../../../db/contacts/fields.ts';
import { addToImportPreview, findExistingContacts, type ImportForecast } from '../../../db/contacts/import-review.ts';
import { findPhoneCountry } from '../../../db/projects/phone-country.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { toUtf8 } from '../../../rules/contacts/csv-encoding.ts';
import { CSV_MAX_BYTES, DEFAULT_FIRST_ROW } from '../../../rules/contacts/csv-head.ts';
import { type CsvLayout, UNREADABLE_ROWS_MAX } from '../../../rules/contacts/csv-layout.ts';
import type { CsvPreview, CsvReview } from '../../../rules/contacts/csv-review.ts';
import type { CsvRow } from '../../../rules/contacts/csv-rows.ts';
import { JOB_ERRORS_MAX } from '../../../rules/contacts/jobs.ts';
import { createTooLargeError } from '../../http/body.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { jsonResponse, multipartBody } from '../../http/responses.ts';
import { allowScopes } from '../../http/security.ts';
import { ImportFile, ImportTypes, UPLOAD_MAX_BYTES } from './input.ts';
import { ImportPreview } from './response.ts';

/** Number of rows in the preview. */
const ROWS_SHOWN = 20;
const SAMPLES_SHOWN = 3;
const SAMPLE_MAX_CHARS = 200;
/** Number of rows that are processed together. One SQL statement finds which addresses in these rows are contacts. */
const STEP_ROWS = 5_000;
const EMPTY_RESULT: ImportForecast = {
  totalRows: 0,
  successCount: 0,
  createdCount: 0,
  updatedCount: 0,
  failureCount: 0,
  blankRows: 0,
  unreadableRows: 0,
  suppressedCount: 0,
  resubscribedCount: 0,
  unsubscribedCount: 0,
  silentKnownCount: 0,
  silentNewCount: 0,
  errors: [],
  warningCount: 0,
  warnings: [],
};

const previewRoute = createRoute({
  method: 'post',
  path: '/contacts/import/preview',
  operationId: 'previewImport',
  idempotency: 'none',
  unknownFields: 'refuse',
  tags: ['Contacts'],
  summary: 'Preview an import',
  description:
    "Returns what `POST /contacts/import` would do with this file and `mapping`, and changes nothing. The response has the field of each column, the first 20 rows as they would be stored, and the counts and errors of the whole file. If you send no `mapping`, the service guesses it from the headers and returns it, so that you can send it with the import. The preview does not read the stored data of contacts. So only the import reports a row that would exceed a contact's limits.",
  security: allowScopes('contacts:edit'),
  maxBodyBytes: UPLOAD_MAX_BYTES,
  request: { query: ImportTypes, body: multipartBody(ImportFile) },
  responses: { 200: jsonResponse(ImportPreview) },
});

/** Registers the preview of an import. Register it before `registerContactRoutes`. */
export function registerImportPreviewRoutes(app: App, { reads, compute, config }: Deps): void {
  const key = deriveKey(config.secretKey, 'suppression');

  /**
   * Reads the whole file as an import does, and counts the results without changing contacts. Stops at the row at which
   * the import would stop.
   */
  async function previewFile(p: { projectId: string; file: Uint8Array; layout: CsvLayout; text: boolean }) {
    const { projectId, file, layout, text } = p;
    const phoneCountry = await findPhoneCountry(reads, projectId);
    const created = new Set<string>();
    const types: CsvReview['types'] = {};
    let result: ImportForecast = { ...EMPTY_RESULT, ...(layout.notes && { notes: layout.notes }) };
    for (let at = layout.firstRowAt, done = false; !done && result.unreadableRows < UNREADABLE_ROWS_MAX; ) {
      const badMax = JOB_ERRORS_MAX - result.errors.length;
      const section = { file, layout, at, limit: STEP_ROWS, text, badMax, phoneCountry };
      const review = await compute.runInThread({ projectId, kind: 'contacts.review' }, 'csv.review', section);
      const firstRow = layout.firstRow ?? DEFAULT_FIRST_ROW;
      result = await addToImportPreview(reads, key, { projectId, firstRow, before: result, created, review });
      addTypeCounts(types, review.types);
      ({ nextAt: at, done } = review);
    }
    return { result, types };
  }

  app.openapi(previewRoute, async (c) => {
    const { file: upload, mapping } = c.req.valid('form');
    if (upload.size > CSV_MAX_BYTES) throw createTooLargeError(CSV_MAX_BYTES);
    const { projectId } = c.var;
    const text = c.req.valid('query').types === 'string';
    const response = await compute.runLargeRead({ projectId, kind: 'contacts.preview' }, async () => {
      const bytes = toUtf8(new Uint8Array(await upload.arrayBuffer()));
      // Puts the file into shared memory, so that threads can read it without a copy.
      const file = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
      file.set(bytes);
      const fields = await listRecentFields(reads, projectId);
      const storedFields = { knownKeys: fields.map(({ key }) => key), knownTypes: collectKnownTypes(fields) };
      const request = { file, mapping, ...storedFields, text, rows: ROWS_SHOWN };
      const preview = await compute.runInThread({ projectId, kind: 'contacts.review' }, 'csv.preview', request);
      const forecastResult =
        preview.errors.length === 0 ? await previewFile({ projectId, file, layout: preview.layout, text }) : undefined;
      const emails = preview.first.flatMap(({ row }) => (row.ok ? [row.contact.email] : []));
      const contacts = await findExistingContacts(reads, { projectId, emails });
      return {
        delimiter: preview.delimiter,
        rows: preview.rows,
        mapping: preview.mapping,
        problems: preview.errors,
        columns: toColumns(preview, forecastResult?.types ?? {}),
        preview: forecastResult ? preview.first.map(({ row, number }) => toPreviewRow(row, { number, contacts })) : [],
        result: forecastResult?.result ?? null,
      };
    });
    return c.json(response, 200);
  });
}

function toColumns({ headers, layout, first }: CsvPreview, types: CsvReview['types']) {
  return headers.map((header, n) => {
    const column = layout.columns[n] ?? '';
    const isDataField = column !== '' && column !== 'email' && column !== 'subscribed';
    const samples = first.map(({ cells }) => cells[n]?.trim() ?? '').filter((cell) => cell !== '');
    return {
      header,
      field: column === '' ? null : isDataField ? `data.${column}` : column,
      type: layout.textColumns?.includes(n) ? ('string' as const) : ('infer' as const),
      samples: samples.slice(0, SAMPLES_SHOWN).map((sample) => sample.slice(0, SAMPLE_MAX_CHARS)),
      types: isDataField && Object.hasOwn(types, column) ? (types[column] ?? {}) : {},
    };
  });
}

function toPreviewRow(row: CsvRow, { number, contacts }: { number: number; contacts: ReadonlyMap<string, boolean> }) {
  if (!row.ok) return { row: number, email: row.email, subscribed: null, data: {}, known: false, error: row.error };
  const { email, subscribed = null, set } = row.contact;
  return { row: number, email, subscribed, data: set, known: contacts.has(email), error: null };
}

function addTypeCounts(all: CsvReview['types'], more: CsvReview['types']): void {
  for (const [key, counts] of Object.entries(more)) {
    const sum = { ...(Object.hasOwn(all, key) ? all[key] : {}) };
    for (const [type, count] of Object.entries(counts) as [keyof typeof counts, number][])
      sum[type] = (sum[type] ?? 0) + count;
    all[key] = sum;
  }
}
