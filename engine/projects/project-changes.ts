import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { assertDoubleOptIn } from '../../db/contacts/double-opt-in.ts';
import { enqueue } from '../../db/outbox/outbox.ts';
import {
  getProject,
  lockProject,
  type Project,
  type PublicKeyMode,
  type ResubscribeMode,
} from '../../db/projects/projects.ts';
import type { FrequencyCap } from '../../db/sending/frequency.ts';
import { resetGuardCounts } from '../../db/sending/hold-guard.ts';
import { deleteOutdatedMonthRow } from '../../db/sending/monthly-usage.ts';
import { requestPhoneUpdate } from '../../db/sms/phone-updates.ts';
import type { TrackingMode } from '../../rules/content/message-tracking.ts';
import { GUARD_DEFAULTS } from '../../rules/emails/hold-guard.ts';
import { AppError } from '../../rules/errors.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { SendingWindow } from '../../rules/time/sending-window.ts';
import { wakeCampaigns } from '../campaigns/lifecycle.ts';

/** Settings that a user may change; undefined leaves a setting unchanged. */
export interface ProjectChanges {
  name?: string | undefined;
  tracking?: TrackingMode | undefined;
  color?: string | null | undefined;
  frequencyCap?: FrequencyCap | null | undefined;
  timezone?: string | undefined;
  sendingWindow?: SendingWindow | null | undefined;
  doubleOptIn?: { enabled: boolean; templateId?: string | null | undefined } | undefined;
  phoneCountry?: string | null | undefined;
  resubscribe?: ResubscribeMode | undefined;
  publicKeyMode?: PublicKeyMode | undefined;
  sendRatePerSecond?: number | null | undefined;
  monthlyEmailLimit?: number | null | undefined;
  bounceGuard?: number | undefined;
  complaintGuard?: number | undefined;
}

/**
 * Changes settings of a project. A change of the time zone or the sending window wakes SENDING campaigns and waiting
 * executions, so that they check the new setting. After a change of the country for phone numbers,
 * periodic work parses the numbers of the project's contacts again.
 * @param p.fieldPrefix the path of `changes` in the request body, which precedes the field names in errors
 * @throws AppError NOT_FOUND, VALIDATION_ERROR for limits that are looser than the operator or the defaults allow
 */
export async function updateProject(
  trx: Trx,
  p: { projectId: string; changes: ProjectChanges; fieldPrefix?: string },
): Promise<{ project: Project; outbox: OutboxRow[] }> {
  const { projectId, changes } = p;
  const { timezone, sendingWindow, doubleOptIn } = changes;
  const current = await lockProject(trx, projectId);
  assertWithinCeilings(changes, current, p.fieldPrefix);
  if (doubleOptIn) await assertDoubleOptIn(trx, { projectId, doubleOptIn: { ...current.doubleOptIn, ...doubleOptIn } });
  const columns = {
    name: changes.name,
    tracking: changes.tracking,
    color: changes.color,
    double_opt_in: doubleOptIn?.enabled,
    double_opt_in_template_id: doubleOptIn?.templateId,
    frequency_max: changes.frequencyCap === null ? null : changes.frequencyCap?.max,
    frequency_days: changes.frequencyCap === null ? null : changes.frequencyCap?.days,
    timezone,
    sending_window: sendingWindow && JSON.stringify(sendingWindow),
    phone_country: changes.phoneCountry,
    resubscribe_protected: changes.resubscribe && changes.resubscribe === 'protect',
    public_key_open: changes.publicKeyMode && changes.publicKeyMode === 'open',
    send_rate_per_second: changes.sendRatePerSecond,
    monthly_email_limit: changes.monthlyEmailLimit,
    bounce_guard: changes.bounceGuard,
    complaint_guard: changes.complaintGuard,
  };
  await trx
    .updateTable('projects')
    .set({ ...columns, updated_at: sql`now()` })
    .where('id', '=', projectId)
    .execute();
  if (changes.phoneCountry !== undefined && changes.phoneCountry !== current.phoneCountry)
    await requestPhoneUpdate(trx, projectId);
  const project = await getProject(trx, projectId);
  const { monthlyEmailLimit: limit } = project;
  await deleteOutdatedMonthRow(trx, { projectId, limitBefore: current.monthlyEmailLimit, limit });
  const changesTiming = timezone !== undefined || sendingWindow !== undefined;
  return { project, outbox: changesTiming ? await wakeWaiting(trx, projectId) : [] };
}

async function wakeWaiting(trx: Trx, projectId: string): Promise<OutboxRow[]> {
  const executions = await enqueue(trx, [{ projectId, kind: 'window.changed', refId: projectId }]);
  return [...executions, ...(await wakeCampaigns(trx, projectId))];
}

/**
 * Throws if limits exceed their ceiling. The error lists every field that does. Null means no limit. If the operator
 * has set no ceiling for the bounce guard or the complaint guard, the guard's default is the ceiling. Earlier releases
 * allowed guards above the default; a project with such a guard may keep or lower it.
 */
function assertWithinCeilings(changes: ProjectChanges, current: Project, fieldPrefix?: string): void {
  const { operatorLimits } = current;
  const fields = ['sendRatePerSecond', 'monthlyEmailLimit', 'bounceGuard', 'complaintGuard'] as const;
  const errors = fields.flatMap((field) => {
    const isGuard = field === 'bounceGuard' || field === 'complaintGuard';
    const byDefault = isGuard ? Math.max(GUARD_DEFAULTS[field], current[field]) : null;
    const [requested, ceiling] = [changes[field], operatorLimits[field] ?? byDefault];
    if (requested === undefined || ceiling === null || (requested !== null && requested <= ceiling)) return [];
    const message =
      operatorLimits[field] === null
        ? `Must be at most ${ceiling}: only the operator of this service can allow a looser guard.`
        : `The operator of this service allows at most ${ceiling}: the project can only be stricter.`;
    return [{ field: fieldPrefix === undefined ? field : `${fieldPrefix}.${field}`, message, code: 'too_big' }];
  });
  if (errors.length > 0) throw new AppError('VALIDATION_ERROR', { errors });
}

/**
 * Ends the hold that a guard of the project caused, and queues the held emails. Safe to run twice: only the call that
 * ends the hold queues work.
 * @throws AppError FORBIDDEN while the project is on hold by the operator
 */
export async function releaseProject(trx: Trx, projectId: string): Promise<{ project: Project; outbox: OutboxRow[] }> {
  const { hold, operatorLimits } = await lockProject(trx, projectId);
  if (operatorLimits.held) {
    throw new AppError('FORBIDDEN', {
      message: `The operator of this service has put the project on hold: ${hold.reason}`,
      suggestion: 'Ask the operator to release the project.',
    });
  }
  const { numUpdatedRows } = await trx
    .updateTable('projects')
    .set({ held_at: null, hold_reason: null, updated_at: sql`now()` })
    .where('id', '=', projectId)
    .where('held_at', 'is not', null)
    .executeTakeFirst();
  const outbox = numUpdatedRows ? await queueRelease(trx, projectId) : [];
  return { project: await getProject(trx, projectId), outbox };
}

/**
 * Resets the counts of the bounce and complaint guards, queues the release of the held emails, and wakes the campaigns.
 */
export async function queueRelease(trx: Trx, projectId: string): Promise<OutboxRow[]> {
  await resetGuardCounts(trx, projectId);
  const outbox = await enqueue(trx, [{ projectId, kind: 'hold.release', refId: projectId }]);
  return [...outbox, ...(await wakeCampaigns(trx, projectId))];
}
