import { sql } from 'kysely';
import { parseCondition } from '../../rules/filters/filters.ts';
import type { Trx } from '../connection.ts';
import { compileCondition } from '../segments/filter-sql.ts';
import { loadSegmentSources } from '../segments/sources.ts';

/** Whether a CONDITION step's condition holds for a contact now, by the same SQL as audiences and segments. */
export async function conditionHolds(
  trx: Trx,
  p: { projectId: string; contactId: string; config: unknown; event: unknown; context: unknown },
): Promise<boolean> {
  const condition = parseCondition(p.config, 'step');
  const predicate = compileCondition(condition, {
    projectId: p.projectId,
    now: new Date(),
    segments: await loadSegmentSources(trx, p.projectId, condition),
    alias: 'c',
    step: { event: p.event, context: p.context },
  });
  const { rows } = await sql<{ holds: boolean }>`
    SELECT (${predicate}) IS TRUE AS holds FROM contacts c WHERE c.project_id = ${p.projectId} AND c.id = ${p.contactId}
  `.execute(trx);
  return rows[0]?.holds ?? false;
}
