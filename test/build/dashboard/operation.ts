import { sql } from 'kysely';
import type { Db } from '../../../db/connection.ts';
import { uuidv7 } from '../../../rules/uuid.ts';

/** Builds three processes of one build, and a last round of each kind of periodic work that just ended. */
export async function buildHealthyProcesses(db: Db): Promise<void> {
  const buildProcess = (kind: 'api' | 'worker', host: string, pid: number) => ({
    id: uuidv7(),
    kind,
    host,
    pid,
    version: '0.1.0',
    build: '5f2c9d0b7a41e683',
    started_at: sql<Date>`now() - interval '6 days'`,
    // Later than any screenshot, so that no process counts as lost.
    seen_at: sql<Date>`now() + interval '1 hour'`,
  });
  await db
    .insertInto('processes')
    .values([
      buildProcess('api', 'mail-1', 4121),
      buildProcess('worker', 'mail-1', 4122),
      buildProcess('worker', 'mail-2', 988),
    ])
    .execute();
  await sql`
    UPDATE periodic_work SET began_at = now() - interval '40 seconds', ended_at = now() - interval '30 seconds',
      duration_ms = 900 + 400 * length(kind)
  `.execute(db);
}
