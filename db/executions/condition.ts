import { sql } from 'kysely';
import type { Run } from '../../rules/executions/run.ts';
import { parseCondition } from '../../rules/filters/filters.ts';
import type { Db } from '../connection.ts';
import { compileCondition } from '../segments/filter-sql.ts';
import { loadSegmentSources } from '../segments/sources.ts';
import { withRun } from './run-tables.ts';

/** Whether a CONDITION step's condition holds for a contact at an instant, by the same SQL as audiences and segments. */
export async function conditionHolds(
  db: Db,
  p: {
    projectId: string;
    contactId: string;
    config: unknown;
    event: unknown;
    context: unknown;
    run: Run | null;
    now: Date;
  },
): Promise<boolean> {
  const condition = parseCondition(p.config, 'step');
  const predicate = compileCondition(condition, {
    projectId: p.projectId,
    now: p.now,
    segments: await loadSegmentSources(db, p.projectId, condition),
    alias: 'c',
    step: { event: p.event, context: p.context },
  });
  const { rows } = await sql<{ holds: boolean }>`
    ${withRun(p, p.now)} SELECT (${predicate}) IS TRUE AS holds FROM contacts c WHERE c.project_id = ${p.projectId} AND c.id = ${p.contactId}
  `.execute(db);
  return rows[0]?.holds ?? false;
}
