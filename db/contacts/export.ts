import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Data } from '../../rules/filters/data-values.ts';
import type { Db } from '../connection.ts';
import { segmentPredicate } from '../segments/contacts.ts';
import { getSegment } from '../segments/segments.ts';
import { type ContactSelection, contactPredicate } from './contact-search.ts';

/**
 * Contacts per query. Small enough that the first row of an export arrives soon, and large enough that a million
 * contacts need only 200 queries if a contact has at most about 400 bytes of data.
 */
const PAGE_CONTACTS = 5_000;
/** Maximum size of a page's data. The memory that an export needs thus does not depend on the number of contacts. */
const PAGE_BYTES = 2 * 1024 * 1024;

/**
 * Selects the contacts to export: the contacts of a segment or of a list, or all contacts. With a segment, the fields
 * of `ContactSelection` are ignored.
 */
export interface ExportRequest extends ContactSelection {
  projectId: string;
  segmentId?: string | undefined;
}

export interface ExportedContact {
  id: string;
  email: string;
  subscribed: boolean;
  data: Data;
}

/** The SQL predicate on `contacts` that selects the contacts of an export. */
export type ExportPredicate = RawBuilder<SqlBool>;

/**
 * Builds the predicate of an export.
 * @throws AppError NOT_FOUND for a segment that the project does not have, CONFLICT for segments that refer to each
 * other in a cycle
 */
export async function exportPredicate(db: Db, p: ExportRequest): Promise<ExportPredicate> {
  const { projectId, segmentId, ...asked } = p;
  if (segmentId === undefined) return contactPredicate(db, { projectId, ...asked });
  const segment = await getSegment(db, { projectId, id: segmentId });
  return sql<boolean>`contacts.project_id = ${projectId} AND ${await segmentPredicate(db, segment, new Date())}`;
}

/**
 * Lists the names of all data keys of these contacts, in alphabetical order. The first line of a CSV has the columns,
 * so they must be known before the rows are read.
 */
export async function listDataKeys(db: Db, predicate: ExportPredicate): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    SELECT DISTINCT jsonb_object_keys(data) AS key FROM contacts WHERE ${predicate}
  `.execute(db);
  return rows.map(({ key }) => key).sort();
}

/** Returns the next page of an export, in the order of the ids. Empty at the end. */
export async function listExportedContacts(
  db: Db,
  p: { predicate: ExportPredicate; after: string | undefined },
): Promise<ExportedContact[]> {
  const from = p.after === undefined ? sql<boolean>`true` : sql<boolean>`contacts.id > ${p.after}::uuid`;
  const { rows } = await sql<ExportedContact>`
    WITH page AS MATERIALIZED (
      SELECT id, email, subscribed, data FROM contacts WHERE ${p.predicate} AND ${from} ORDER BY id LIMIT ${PAGE_CONTACTS})
    SELECT id, email, subscribed, data FROM (
      SELECT page.*, row_number() OVER w AS n, sum(octet_length(data::text)) OVER w AS bytes FROM page WINDOW w AS (ORDER BY id)
    ) fitting WHERE n = 1 OR bytes <= ${PAGE_BYTES} ORDER BY id
  `.execute(db);
  return rows;
}
