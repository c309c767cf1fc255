import { sql } from 'kysely';
import type { CsvReview } from '../../rules/contacts/csv-review.ts';
import { type ImportError, type ImportWarning, JOB_ERRORS_MAX } from '../../rules/contacts/jobs.ts';
import type { Db } from '../connection.ts';
import { findSuppressions } from './suppressions.ts';

/** The predicted result of an import, for the rows read so far. */
export interface ImportForecast {
  totalRows: number;
  successCount: number;
  createdCount: number;
  updatedCount: number;
  failureCount: number;
  blankRows: number;
  unreadableRows: number;
  /** Rows that would subscribe a contact with a suppressed address. An import does not subscribe these contacts. */
  suppressedCount: number;
  /**
   * `resubscribedCount`: rows that would subscribe contacts that are not subscribed now. `unsubscribedCount`: rows that
   * would unsubscribe subscribed contacts.
   */
  resubscribedCount: number;
  unsubscribedCount: number;
  /**
   * Rows with an empty consent cell. `silentKnownCount`: the contact exists, and its subscription does not change.
   * `silentNewCount`: the contact is new, and is not subscribed.
   */
  silentKnownCount: number;
  silentNewCount: number;
  errors: (ImportError & { values: string[] })[];
  warningCount: number;
  /** The first 1,000 warnings. */
  warnings: ImportWarning[];
  /** Notes about the file as a whole, as in `ImportResult`. */
  notes?: string[];
}

/**
 * Adds the rows of `review` to the preview of an import. `before` is the preview of all earlier rows. `created` has the
 * addresses that the earlier rows would add; this function adds the addresses of its own rows. `firstRow` is the number
 * of the file's first row.
 */
export async function addToImportPreview(
  db: Db,
  key: Buffer,
  p: { projectId: string; firstRow: number; before: ImportForecast; created: Set<string>; review: CsvReview },
): Promise<ImportForecast> {
  const { before, review, created, projectId } = p;
  const known = await findExistingContacts(db, { projectId, emails: review.emails });
  const suppressed = await findSuppressions(db, key, { projectId, emails: review.emails });
  let createdCount = 0;
  let { silentKnownCount, silentNewCount, suppressedCount, resubscribedCount, unsubscribedCount } = before;
  for (const [n, email] of review.emails.entries()) {
    const isKnown = known.has(email) || created.has(email);
    const subscribes = review.subscribed[n] ?? !review.silent[n];
    if (subscribes && suppressed.has(email)) suppressedCount += 1;
    else if (review.subscribed[n] === true && known.get(email) === false) resubscribedCount += 1;
    if (review.subscribed[n] === false && known.get(email) === true) unsubscribedCount += 1;
    if (review.silent[n] && isKnown) silentKnownCount += 1;
    if (review.silent[n] && !isKnown) silentNewCount += 1;
    if (isKnown) continue;
    created.add(email);
    createdCount += 1;
  }
  const firstRow = p.firstRow + before.totalRows + before.blankRows;
  const errors = review.bad.map(({ position, ...row }) => ({ row: firstRow + position, ...row }));
  const warnings = review.warnings.map(({ position, ...row }) => ({ row: firstRow + position, ...row }));
  return {
    ...before,
    totalRows: before.totalRows + review.rows,
    successCount: before.successCount + review.emails.length,
    createdCount: before.createdCount + createdCount,
    updatedCount: before.updatedCount + review.emails.length - createdCount,
    failureCount: before.failureCount + review.rows - review.emails.length,
    blankRows: before.blankRows + review.blankRows,
    unreadableRows: before.unreadableRows + review.unreadableRows,
    suppressedCount,
    resubscribedCount,
    unsubscribedCount,
    silentKnownCount,
    silentNewCount,
    errors: [...before.errors, ...errors],
    warningCount: before.warningCount + review.warned,
    warnings: [...before.warnings, ...warnings].slice(0, JOB_ERRORS_MAX),
  };
}

/** Returns the addresses that belong to contacts. The value tells whether the contact is subscribed. */
export async function findExistingContacts(
  db: Db,
  p: { projectId: string; emails: readonly string[] },
): Promise<Map<string, boolean>> {
  const { rows } = await sql<{ email: string; subscribed: boolean }>`
    SELECT email, subscribed FROM contacts WHERE project_id = ${p.projectId} AND email = ANY(${[...p.emails]}::text[])`.execute(
    db,
  );
  return new Map(rows.map(({ email, subscribed }) => [email, subscribed]));
}
