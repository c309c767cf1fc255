import { sql } from 'kysely';
import type { Condition } from '../../rules/filters/filters.ts';
import type { Db } from '../connection.ts';
import { CONTACT_COLUMNS, type Contact, type ContactRow, toContact } from '../contacts/contacts.ts';
import { compileCondition } from './filter-sql.ts';
import { loadSegmentSources } from './sources.ts';

/** Contacts that are shown of those that are meant. */
const SAMPLE_CONTACTS = 10;

export interface ConditionPreview {
  /** How many contacts the condition holds for now. */
  count: number;
  /** The newest of them. */
  sample: Contact[];
}

/** Whom a condition means now: counted, and the newest of them. @throws AppError CONFLICT for segments in a circle */
export async function previewCondition(
  db: Db,
  { projectId, condition }: { projectId: string; condition: Condition },
): Promise<ConditionPreview> {
  const segments = await loadSegmentSources(db, projectId, condition);
  const predicate = compileCondition(condition, { projectId, now: new Date(), segments });
  const counting = sql<{ count: number }>`
    SELECT count(*) AS count FROM contacts WHERE project_id = ${projectId} AND ${predicate}`.execute(db);
  // One pass over a condition that holds for nobody, not two: the newest of few are looked for all over the project.
  const count = (await counting).rows[0]?.count ?? 0;
  if (count === 0) return { count, sample: [] };
  const { rows } = await sql<ContactRow>`
    SELECT ${CONTACT_COLUMNS} FROM contacts WHERE project_id = ${projectId} AND ${predicate}
    ORDER BY id DESC LIMIT ${SAMPLE_CONTACTS}`.execute(db);
  return { count, sample: rows.map(toContact) };
}
