import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Reason } from '../../rules/emails/reasons.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { Trx } from '../connection.ts';
import { endExecutions } from './end-executions.ts';

const CONTACT_DELETED = 'contact_deleted' satisfies Reason;

/** How an execution ends if its contact is erased. */
export const ERASED_END = { status: 'CANCELLED', reason: CONTACT_DELETED } as const;

/**
 * Cancels the executions of erased contacts, and removes personal data from all their executions, also from executions
 * that ended earlier. Safe to run twice. Source: contract §3.4 Erasure.
 * @param p.where SQL condition on `executions`
 * @param p.isOver set if the Temporal workflows need no signal, because they get the end as the result of an activity
 */
export async function eraseExecutions(
  trx: Trx,
  p: { projectId: string; where: RawBuilder<SqlBool>; isOver?: true },
): Promise<OutboxRow[]> {
  const { projectId, where } = p;
  const { outbox } = await endExecutions(trx, { ...p, ...ERASED_END });
  await sql`
    UPDATE execution_steps SET output = NULL, error = NULL WHERE (output IS NOT NULL OR error IS NOT NULL) AND execution_id IN (
      SELECT id FROM executions WHERE project_id = ${projectId} AND (${where}))
  `.execute(trx);
  await sql`
    UPDATE executions SET context = '{}', event = '{}', error = NULL, run = NULL, reentry_value = NULL
    WHERE project_id = ${projectId} AND (${where}) AND (context <> '{}' OR event <> '{}' OR error IS NOT NULL OR run IS NOT NULL)
  `.execute(trx);
  return outbox;
}
