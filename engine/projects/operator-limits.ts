import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { insertAudit } from '../../db/projects/audit-log.ts';
import { getProject, lockProject, type OperatorLimits, type Project } from '../../db/projects/projects.ts';
import { deleteOutdatedMonthRow } from '../../db/sending/monthly-usage.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { queueRelease } from './project-changes.ts';

/** A change that an operator makes to a project. */
export interface OperatorChange {
  projectId: string;
  /** The name in the audit log: `operator:<name>`. */
  actor: string;
}

/**
 * Sets ceilings that the project's own settings cannot exceed. If a setting is already above its ceiling, the ceiling
 * applies. Null removes a ceiling, so that only the project's own setting applies.
 * @throws AppError NOT_FOUND
 */
export async function setOperatorLimits(
  trx: Trx,
  { projectId, actor }: OperatorChange,
  limits: Partial<OperatorLimits>,
): Promise<Project> {
  const before = await lockProject(trx, projectId);
  const columns = {
    operator_send_rate_per_second: limits.sendRatePerSecond,
    operator_monthly_email_limit: limits.monthlyEmailLimit,
    operator_bounce_guard: limits.bounceGuard,
    operator_complaint_guard: limits.complaintGuard,
  };
  await trx
    .updateTable('projects')
    .set({ ...columns, updated_at: sql`now()` })
    .where('id', '=', projectId)
    .execute();
  const entry = { projectId, action: 'project.updated' as const, actor, target: null, ip: null };
  await insertAudit(trx, { ...entry, details: { operatorLimits: limits } });
  const project = await getProject(trx, projectId);
  const { monthlyEmailLimit: limit } = project;
  await deleteOutdatedMonthRow(trx, { projectId, limitBefore: before.monthlyEmailLimit, limit });
  return project;
}

/**
 * Puts a project on hold until the operator releases it. If the operator already holds the project, the date stays and
 * the reason is replaced.
 * @throws AppError NOT_FOUND
 */
export async function holdByOperator(trx: Trx, { projectId, actor }: OperatorChange, reason: string): Promise<Project> {
  await lockProject(trx, projectId);
  await sql`
    UPDATE projects SET operator_held_at = coalesce(operator_held_at, now()), operator_hold_reason = ${reason}, updated_at = now()
    WHERE id = ${projectId}
  `.execute(trx);
  const entry = { projectId, action: 'project.held' as const, actor, target: null, ip: null };
  await insertAudit(trx, { ...entry, details: { reason } });
  return getProject(trx, projectId);
}

/**
 * Ends the operator's hold and queues the held emails. If a guard of the project also holds the project, the emails
 * stay held. Safe to run twice: only the call that ends the hold queues work.
 * @param note for the audit log
 * @throws AppError NOT_FOUND
 */
export async function releaseByOperator(
  trx: Trx,
  { projectId, actor }: OperatorChange,
  note?: string,
): Promise<{ project: Project; outbox: OutboxRow[] }> {
  const before = await lockProject(trx, projectId);
  if (!before.operatorLimits.held) return { project: before, outbox: [] };
  await sql`
    UPDATE projects SET operator_held_at = NULL, operator_hold_reason = NULL, updated_at = now() WHERE id = ${projectId}
  `.execute(trx);
  const entry = { projectId, action: 'project.released' as const, actor, target: null, ip: null };
  await insertAudit(trx, { ...entry, details: note === undefined ? {} : { note } });
  const project = await getProject(trx, projectId);
  return { project, outbox: project.hold.held ? [] : await queueRelease(trx, projectId) };
}
