import { sql } from 'kysely';
import type { Db } from '../../db/connection.ts';

/** Tables that every request or a process in the background writes, whatever the request does. */
const BACKGROUND_TABLES = /^(?:rate_windows|requests|api_key.*|begin_rates|timer_rate|processes)$/;

/** Returns every row that requests have caused, each as `<table> <row as JSON>`. */
export async function readRowsWrittenByRequests(db: Db): Promise<string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
  `.execute(db);
  const found: string[] = [];
  for (const { name } of tables.filter((table) => !BACKGROUND_TABLES.test(table.name))) {
    const { rows } = await sql<{ row: string }>`SELECT to_jsonb(t)::text AS row FROM ${sql.table(name)} t`.execute(db);
    found.push(...rows.map(({ row }) => `${name} ${row}`));
  }
  return found.sort();
}
