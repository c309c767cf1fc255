import { type Kysely, sql } from 'kysely';
import { normalizeStrings } from '../../rules/nfc.ts';

const BATCH_ROWS = 1_000;

/**
 * Converts to Unicode form C the stored values that running workflows compare with definitions: the data of open
 * executions, the filters of waits, and the event names of webhooks. Few rows are in another form. Each batch commits
 * separately. After a killed run, the next run starts again and changes the rest.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    UPDATE webhook_endpoints
    SET events = ARRAY(SELECT DISTINCT normalize(name, NFC) FROM unnest(events) AS name)
    WHERE array_to_string(events, '') IS NOT NFC NORMALIZED
  `.execute(db);
  while (await normalizeExecutions(db));
  while (await normalizeWaits(db));
}

/**
 * Converts one batch of executions.
 * @returns true if there may be more
 */
async function normalizeExecutions(db: Kysely<unknown>): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: string; event: unknown; context: unknown }>`
      SELECT id, event, context FROM executions
      WHERE completed_at IS NULL AND (event::text IS NOT NFC NORMALIZED OR context::text IS NOT NFC NORMALIZED)
      ORDER BY id LIMIT ${sql.lit(BATCH_ROWS)} FOR NO KEY UPDATE
    `.execute(trx);
    for (const { id, event, context } of rows)
      await sql`
        UPDATE executions SET event = ${jsonOf(event)}::jsonb, context = ${jsonOf(context)}::jsonb WHERE id = ${id}
      `.execute(trx);
    return rows.length === BATCH_ROWS;
  });
}

/**
 * Converts one batch of waits.
 * @returns true if there may be more
 */
async function normalizeWaits(db: Kysely<unknown>): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: string; visit: number; filters: unknown }>`
      SELECT execution_id AS id, visit, filters FROM execution_waits WHERE filters::text IS NOT NFC NORMALIZED
      ORDER BY execution_id, visit LIMIT ${sql.lit(BATCH_ROWS)} FOR NO KEY UPDATE
    `.execute(trx);
    for (const { id, visit, filters } of rows)
      await sql`
        UPDATE execution_waits SET filters = ${jsonOf(filters)}::jsonb WHERE execution_id = ${id} AND visit = ${visit}
      `.execute(trx);
    return rows.length === BATCH_ROWS;
  });
}

function jsonOf(value: unknown): string {
  return JSON.stringify(normalizeStrings(value));
}
