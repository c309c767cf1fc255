import type { Trx } from '../../db/connection.ts';
import {
  advanceJob,
  finishJob,
  type ImportInput,
  type JobRef,
  type LockedJob,
  lockJob,
} from '../../db/contacts/jobs.ts';
import { type UpsertedContact, upsertContacts } from '../../db/contacts/upsert.ts';
import { addImportedStops } from '../../db/sms/stops.ts';
import { inSavepoint } from '../../db/transaction.ts';
import { DEFAULT_FIRST_ROW } from '../../rules/contacts/csv-head.ts';
import { UNREADABLE_ROWS_MAX } from '../../rules/contacts/csv-layout.ts';
import type { CsvChunk, CsvContact } from '../../rules/contacts/csv-rows.ts';
import { type ImportError, type ImportResult, type ImportWarning, JOB_ERRORS_MAX } from '../../rules/contacts/jobs.ts';
import { AppError } from '../../rules/errors.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { type ChunkProgress, createEmptyLastChunk } from './bulk-chunk.ts';
import { findOutdatedSmsRefusals } from './outdated-sms-refusals.ts';
import { recordSubscriptionChanges } from './subscription-changes.ts';

/**
 * The number of rows in one transaction. With more rows, each row costs less. With fewer rows, the transaction releases
 * its locks sooner.
 */
export const IMPORT_CHUNK_ROWS = 1_000;
export const TOO_MANY_UNREADABLE = `More than ${UNREADABLE_ROWS_MAX.toLocaleString('en')} rows cannot be read: check the quotes of the file. The rows before have been imported.`;

interface WriteResult {
  contacts: UpsertedContact[];
  errors: ImportError[];
}

/**
 * Imports the chunk of a file that starts at the job's `cursor`. Advances the job in the same transaction, so each row
 * is imported once even after a crash. A row with errors is reported and does not stop the other rows. An import does
 * not override a refusal: suppressions stay, and a suppressed contact is not subscribed. If too many rows are
 * unreadable, the job fails with this chunk. Source: contract §3.5, §9.
 */
export async function runImportChunk(
  trx: Trx,
  p: JobRef & { cursor: number; chunk: CsvChunk; suppressionKey: Buffer },
): Promise<ChunkProgress> {
  const job = await lockJob<ImportInput, ImportResult>(trx, p);
  if (!job) return createEmptyLastChunk(trx, p);
  // Another attempt of the activity has already processed this chunk. The caller continues at the job's current cursor.
  if (job.cursor !== p.cursor) return { done: false, processed: job.processed, total: 0, outbox: [], moved: true };
  const { chunk } = p;
  const { result, outbox } = await importRows(trx, { ...p, job, chunk });
  const processed = job.processed + chunk.rows.length;
  const unreadableRows = (job.result.unreadableRows ?? 0) + chunk.unreadableRows;
  const blankRows = (job.result.blankRows ?? 0) + chunk.blankRows;
  await advanceJob(trx, { ...p, cursor: chunk.nextAt, processed, result: { ...result, blankRows, unreadableRows } });
  const tooManyUnreadable = unreadableRows >= UNREADABLE_ROWS_MAX && !chunk.done;
  if (tooManyUnreadable) await finishJob(trx, { ...p, status: 'FAILED', failedReason: TOO_MANY_UNREADABLE });
  return { done: chunk.done || tooManyUnreadable, processed, total: 0, outbox };
}

async function importRows(
  trx: Trx,
  p: JobRef & { job: LockedJob<ImportInput, ImportResult>; chunk: CsvChunk; suppressionKey: Buffer },
): Promise<{ result: ImportResult; outbox: OutboxRow[] }> {
  const { rows, positions } = p.chunk;
  const { processed, result, input } = p.job;
  const firstRow = (input.layout.firstRow ?? DEFAULT_FIRST_ROW) + processed + (result.blankRows ?? 0);
  const numbered = rows.map((row, n) => ({ row, number: firstRow + (positions[n] ?? n) }));
  const validRows = numbered.flatMap(({ row, number }) => (row.ok ? [{ ...row.contact, number }] : []));
  const unreadableRows = numbered.flatMap(({ row, number }) =>
    row.ok ? [] : [{ row: number, email: row.email, error: row.error }],
  );
  const outdated = await findOutdatedSmsRefusals(trx, { projectId: p.projectId, rows: validRows });
  const { contacts, errors: writeErrors } = await writeRows(trx, { ...p, rows: validRows });
  const refusingEmails = new Set(
    validRows.flatMap(({ email, smsRefusals }) => (smsRefusals && !outdated.has(email) ? [email] : [])),
  );
  await addImportedStops(trx, p.suppressionKey, {
    projectId: p.projectId,
    contactIds: contacts.filter(({ email }) => refusingEmails.has(email)).map(({ id }) => id),
    actor: `job:${p.id}`,
  });
  const outbox = await recordSubscriptionChanges(trx, {
    projectId: p.projectId,
    contacts: p.job.input.triggerWorkflows ? contacts : contacts.map(({ isNew: _, ...contact }) => contact),
    mode: p.job.input.mode,
    untrustedTrigger: false,
    causeId: null,
    by: `job:${p.id}`,
  });
  const errors = [...unreadableRows, ...writeErrors].sort((a, b) => a.row - b.row);
  const failed = new Set(errors.map(({ row }) => row));
  const warnings = numbered.flatMap(({ row, number }) =>
    row.ok && row.warning !== undefined && !failed.has(number)
      ? [{ row: number, email: row.contact.email, warning: row.warning }]
      : [],
  );
  return { result: addOutcome(result, { rows: rows.length, contacts, errors, warnings }), outbox };
}

type NumberedRow = CsvContact & { number: number };

/**
 * Writes all rows together. If the values of a row are refused, writes the rows one by one, so that only the rows with
 * errors fail.
 */
async function writeRows(
  trx: Trx,
  p: { projectId: string; rows: NumberedRow[]; suppressionKey: Buffer },
): Promise<WriteResult> {
  const written: WriteResult = { contacts: [], errors: [] };
  if (p.rows.length === 0) return written;
  const allContacts = await tryUpsert(trx, p, p.rows);
  if (Array.isArray(allContacts)) return { contacts: allContacts, errors: [] };
  for (const row of p.rows) {
    const contact = await tryUpsert(trx, p, [row]);
    if (Array.isArray(contact)) written.contacts.push(...contact);
    else written.errors.push({ row: row.number, email: row.email, error: contact.refused });
  }
  return written;
}

async function tryUpsert(
  trx: Trx,
  p: { projectId: string; suppressionKey: Buffer },
  rows: NumberedRow[],
): Promise<UpsertedContact[] | { refused: string }> {
  try {
    return await inSavepoint(trx, () =>
      upsertContacts(trx, {
        projectId: p.projectId,
        rows: rows.map(({ number: _, smsRefusals: __, ...row }) => ({ ...row, remove: [], by: 'project' })),
        defaultSubscribed: true,
        suppressionKey: p.suppressionKey,
        liftsUnsubscribe: false,
        causeId: null,
      }),
    );
  } catch (error) {
    if (error instanceof AppError) return { refused: error.errors?.[0]?.message ?? error.message };
    if (isDataError(error)) return { refused: 'The values of this row cannot be stored.' };
    throw error;
  }
}

/**
 * Tells whether Postgres refused a value of the row: a data exception (class 22) or a limit (class 54). Another attempt
 * with the same row would fail in the same way, so the row is reported as an error.
 */
function isDataError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(22|54)/.test(String(error.code));
}

function addOutcome(
  result: ImportResult,
  p: { rows: number; contacts: UpsertedContact[]; errors: ImportError[]; warnings: ImportWarning[] },
): ImportResult {
  const { rows, contacts, errors, warnings } = p;
  const created = contacts.filter((contact) => contact.isNew).length;
  return {
    ...result,
    totalRows: result.totalRows + rows,
    successCount: result.successCount + contacts.length,
    createdCount: result.createdCount + created,
    updatedCount: result.updatedCount + contacts.length - created,
    failureCount: result.failureCount + errors.length,
    errors: [...result.errors, ...errors].slice(0, JOB_ERRORS_MAX),
    warningCount: (result.warningCount ?? 0) + warnings.length,
    warnings: [...(result.warnings ?? []), ...warnings].slice(0, JOB_ERRORS_MAX),
  };
}
