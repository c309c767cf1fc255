import { sql } from 'kysely';
import type { World } from './world.ts';

/** How long ago the newest record of a table was created, and the distance to the next older record, in days. */
const AGES = [
  { table: 'templates', newest: 12, distance: 9 },
  { table: 'segments', newest: 40, distance: 11 },
  { table: 'segment_members', newest: 4, distance: 0 },
  { table: 'topics', newest: 150, distance: 20 },
  { table: 'suppressions', newest: 1, distance: 1 },
  { table: 'assets', newest: 30, distance: 6 },
  { table: 'workflows', newest: 6, distance: 30 },
  { table: 'webhook_endpoints', newest: 60, distance: 40 },
  { table: 'memberships', newest: 90, distance: 30 },
  { table: 'sms_senders', newest: 100, distance: 0 },
] as const;
/** Tables whose records were also changed, half as long ago as they were created. */
const CHANGED = ['templates', 'segments', 'topics', 'workflows', 'webhook_endpoints'] as const;

/** The builders create all records at once. Moves their times back, so that records are older than their use. */
export async function buildAges({ db, projectId }: Pick<World, 'db' | 'projectId'>): Promise<void> {
  for (const { table, newest, distance } of AGES) {
    await sql`
      UPDATE ${sql.table(table)} AS t
      SET created_at = now() - make_interval(hours => 24 * (${newest} + ${distance} * aged.n)::int)
      FROM (SELECT ctid, row_number() OVER (ORDER BY created_at DESC) - 1 AS n FROM ${sql.table(table)}
            WHERE project_id = ${projectId}) AS aged
      WHERE t.ctid = aged.ctid
    `.execute(db);
  }
  for (const table of CHANGED)
    await sql`
      UPDATE ${sql.table(table)} SET updated_at = created_at + (now() - created_at) / 2 WHERE project_id = ${projectId}
    `.execute(db);
  await sql`
    UPDATE campaigns SET created_at = coalesce(started_at, now()) - interval '2 days' WHERE project_id = ${projectId}
  `.execute(db);
}
