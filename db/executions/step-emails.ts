import { sql } from 'kysely';
import type { Db } from '../connection.ts';
import { isOwnedBySql } from '../owned-by.ts';
import { isNotSandboxVisit } from './step-stats.ts';

/**
 * The open and click rates of a step are computed from the emails of its latest completed visits, at most this many.
 * One of 500 emails changes a rate by 0.2 percentage points, and 500 emails are read in milliseconds.
 */
const EMAILS_MAX = 500;

/** Results of the latest emails of a step. Opens and clicks by bots are not counted. */
export interface StepEmails {
  stepId: string;
  sent: number;
  opened: number;
  clicked: number;
}

/**
 * Counts the results of each step's latest emails, for visits that ended within a time span (`until` exclusive). Finds
 * the latest completed visits by the index `execution_steps_ended` and their emails by `emails_execution_visit`. A step
 * with a million emails therefore costs no more than a step with 500. Emails of sandbox executions are not counted.
 */
export async function countStepEmails(
  db: Db,
  p: { projectId: string; stepIds: string[]; since?: Date | undefined; until?: Date | undefined },
): Promise<StepEmails[]> {
  const { projectId, stepIds, since, until } = p;
  if (stepIds.length === 0) return [];
  const { rows } = await sql<StepEmails>`
    SELECT w.step_id AS "stepId", count(e.sent_at)::int AS sent, count(e.opened_at)::int AS opened,
      count(e.clicked_at)::int AS clicked
    FROM unnest(${stepIds}::uuid[]) AS w (step_id)
    CROSS JOIN LATERAL (
      SELECT v.execution_id, v.visit FROM execution_steps v
      WHERE v.step_id = w.step_id AND v.status = 'COMPLETED' AND ${isOwnedBySql('v.project_id', projectId)}
        AND ${isNotSandboxVisit('v')}
        ${since ? sql`AND v.completed_at >= ${since}` : sql``} ${until ? sql`AND v.completed_at < ${until}` : sql``}
      ORDER BY v.completed_at DESC, v.execution_id DESC, v.visit DESC LIMIT ${EMAILS_MAX}) v
    JOIN emails e ON e.execution_id = v.execution_id AND e.visit = v.visit AND ${isOwnedBySql('e.project_id', projectId)}
    WHERE e.sent_at IS NOT NULL
    GROUP BY w.step_id
  `.execute(db);
  return rows;
}
