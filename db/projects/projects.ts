import { sql } from 'kysely';
import type { TrackingMode } from '../../rules/content/message-tracking.ts';
import { GUARD_DEFAULTS } from '../../rules/emails/hold-guard.ts';
import { AppError } from '../../rules/errors.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { SendingWindow } from '../../rules/time/sending-window.ts';
import { wakeCampaigns } from '../campaigns/lifecycle.ts';
import type { Db, Trx } from '../connection.ts';
import { assertDoubleOptIn, type DoubleOptIn } from '../contacts/double-opt-in.ts';
import { enqueue } from '../outbox/outbox.ts';
import type { RowOf } from '../schema/database.ts';
import { capOf, type FrequencyCap } from '../sending/frequency.ts';
import { resetGuard } from '../sending/hold-guard.ts';

export interface Project {
  id: string;
  name: string;
  publicKey: string;
  tracking: TrackingMode;
  /** Of the hosted pages, `#rrggbb`; null is the service's own. */
  color: string | null;
  /** How many MARKETING mails of campaigns and automations a contact gets in so many days; null is no limit. */
  frequencyCap: FrequencyCap | null;
  /** IANA; of contacts who have no zone of their own. */
  timezone: string;
  /** When marketing of campaigns and automations may leave; null at any time. */
  sendingWindow: SendingWindow | null;
  doubleOptIn: DoubleOptIn;
  /** ISO 3166-1 alpha-2: the country of phone numbers that people write without a calling code. */
  phoneCountry: string | null;
  /** Whether `subscribed: true` subscribes a contact that refused by itself, or only with `resubscribe: true`. */
  resubscribe: ResubscribeMode;
  sendRatePerSecond: number | null;
  monthlyEmailLimit: number | null;
  bounceGuard: number;
  complaintGuard: number;
  hold: { held: boolean; since: Date | null; reason: string | null };
  /**
   * What the operator of the service has set. The fields above are what holds: the tighter of this and of the project's
   * own.
   */
  operatorLimits: OperatorLimits & { held: boolean };
  disabled: boolean;
  createdAt: Date;
  updatedAt: Date;
}

/** Ceilings that the operator of the service has set; null where there is none. */
export interface OperatorLimits {
  sendRatePerSecond: number | null;
  monthlyEmailLimit: number | null;
  bounceGuard: number | null;
  complaintGuard: number | null;
}

export const RESUBSCRIBE_MODES = ['allow', 'protect'] as const;
export type ResubscribeMode = (typeof RESUBSCRIBE_MODES)[number];

/** Settings that a person may change; what is undefined stays as it is. */
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
  sendRatePerSecond?: number | null | undefined;
  monthlyEmailLimit?: number | null | undefined;
  bounceGuard?: number | undefined;
  complaintGuard?: number | undefined;
}

const COLUMNS = [
  'id',
  'name',
  'public_key',
  'tracking',
  'color',
  'double_opt_in',
  'double_opt_in_template_id',
  'frequency_max',
  'frequency_days',
  'timezone',
  'sending_window',
  'phone_country',
  'resubscribe_protected',
  'effective_send_rate_per_second',
  'effective_monthly_email_limit',
  'effective_bounce_guard',
  'effective_complaint_guard',
  'effective_held_at',
  'effective_hold_reason',
  'operator_send_rate_per_second',
  'operator_monthly_email_limit',
  'operator_bounce_guard',
  'operator_complaint_guard',
  'operator_held_at',
  'disabled_at',
  'created_at',
  'updated_at',
] as const;

const OWN_LIMITS = ['send_rate_per_second', 'monthly_email_limit', 'bounce_guard', 'complaint_guard'] as const;

/** @throws AppError NOT_FOUND */
export async function getProject(db: Db, projectId: string): Promise<Project> {
  return toProject(await db.selectFrom('projects').select(COLUMNS).where('id', '=', projectId).executeTakeFirst());
}

/** The project with the settings of its own, whatever the operator allows of them. @throws AppError NOT_FOUND */
export async function getProjectAsSet(db: Db, projectId: string): Promise<Project> {
  const row = await db
    .selectFrom('projects')
    .select([...COLUMNS, ...OWN_LIMITS])
    .where('id', '=', projectId)
    .executeTakeFirst();
  if (!row) throw new AppError('NOT_FOUND');
  return {
    ...toProject(row),
    sendRatePerSecond: row.send_rate_per_second,
    monthlyEmailLimit: row.monthly_email_limit,
    bounceGuard: row.bounce_guard,
    complaintGuard: row.complaint_guard,
  };
}

/**
 * Changes settings of the project's own. Campaigns and executions that wait go by the zone and the window of the
 * moment, so they are told to look again.
 * @param p.place where the changes stand in the request, for errors
 * @throws AppError NOT_FOUND, VALIDATION_ERROR for limits that are looser than the operator or the defaults allow
 */
export async function updateProject(
  trx: Trx,
  p: { projectId: string; changes: ProjectChanges; place?: string },
): Promise<{ project: Project; outbox: OutboxRow[] }> {
  const { projectId, changes } = p;
  const { timezone, sendingWindow, doubleOptIn } = changes;
  const current = await lockProject(trx, projectId);
  refuseLooser(changes, current, p.place);
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
  const timed = timezone !== undefined || sendingWindow !== undefined;
  return { project: await getProject(trx, projectId), outbox: timed ? await wakeWhoWaits(trx, projectId) : [] };
}

async function wakeWhoWaits(trx: Trx, projectId: string): Promise<OutboxRow[]> {
  const executions = await enqueue(trx, [{ projectId, kind: 'window.changed', refId: projectId }]);
  return [...executions, ...(await wakeCampaigns(trx, projectId))];
}

/** The project as it stands, which nobody changes before the transaction ends. @throws AppError NOT_FOUND */
export async function lockProject(trx: Trx, projectId: string): Promise<Project> {
  const row = await trx
    .selectFrom('projects')
    .select(COLUMNS)
    .where('id', '=', projectId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return toProject(row);
}

/**
 * Names every field that would be looser than its ceiling; null is no limit at all. Without a ceiling of the operator
 * the defaults bound the guards. A guard that an earlier release let a project loosen may stay or be tightened.
 */
function refuseLooser(changes: ProjectChanges, current: Project, place?: string): void {
  const { operatorLimits } = current;
  const fields = ['sendRatePerSecond', 'monthlyEmailLimit', 'bounceGuard', 'complaintGuard'] as const;
  const errors = fields.flatMap((field) => {
    const isGuard = field === 'bounceGuard' || field === 'complaintGuard';
    const byDefault = isGuard ? Math.max(GUARD_DEFAULTS[field], current[field]) : null;
    const [wanted, ceiling] = [changes[field], operatorLimits[field] ?? byDefault];
    if (wanted === undefined || ceiling === null || (wanted !== null && wanted <= ceiling)) return [];
    const message =
      operatorLimits[field] === null
        ? `Must be at most ${ceiling}: only the operator of this service can allow a looser guard.`
        : `The operator of this service allows at most ${ceiling}: the project can only be stricter.`;
    return [{ field: place === undefined ? field : `${place}.${field}`, message, code: 'too_big' }];
  });
  if (errors.length > 0) throw new AppError('VALIDATION_ERROR', { errors });
}

/**
 * Puts a project's marketing and automation mail on hold; one on hold already keeps its date and reason. May run twice.
 */
export async function holdProject(trx: Trx, p: { projectId: string; reason: string }): Promise<Project> {
  await sql`
    UPDATE projects SET held_at = coalesce(held_at, now()), updated_at = now(),
      hold_reason = CASE WHEN held_at IS NULL THEN ${p.reason} ELSE hold_reason END
    WHERE id = ${p.projectId}
  `.execute(trx);
  return getProject(trx, p.projectId);
}

/**
 * Ends the project's own hold and queues the sending of what was held. May run twice: work is queued only by the call
 * that ended it.
 * @throws AppError FORBIDDEN while the operator of the service holds it
 */
export async function releaseProject(trx: Trx, projectId: string): Promise<{ project: Project; outbox: OutboxRow[] }> {
  const { hold, operatorLimits } = await lockProject(trx, projectId);
  if (operatorLimits.held) {
    throw new AppError('FORBIDDEN', {
      message: `The operator of this service has put the project on hold: ${hold.reason}`,
      suggestion: 'Ask the operator: only they release it.',
    });
  }
  const { numUpdatedRows } = await trx
    .updateTable('projects')
    .set({ held_at: null, hold_reason: null, updated_at: sql`now()` })
    .where('id', '=', projectId)
    .where('held_at', 'is not', null)
    .executeTakeFirst();
  const outbox = numUpdatedRows ? await sendHeld(trx, projectId) : [];
  return { project: await getProject(trx, projectId), outbox };
}

/** Begins to count the guards anew, and queues the sending of what a hold that has just ended held. */
export async function sendHeld(trx: Trx, projectId: string): Promise<OutboxRow[]> {
  await resetGuard(trx, projectId);
  const outbox = await enqueue(trx, [{ projectId, kind: 'hold.release', refId: projectId }]);
  return [...outbox, ...(await wakeCampaigns(trx, projectId))];
}

function toProject(row: RowOf<'projects', typeof COLUMNS> | undefined): Project {
  if (!row) throw new AppError('NOT_FOUND');
  return {
    id: row.id,
    name: row.name,
    publicKey: row.public_key,
    tracking: row.tracking,
    color: row.color,
    frequencyCap: capOf(row),
    timezone: row.timezone,
    sendingWindow: row.sending_window,
    doubleOptIn: { enabled: row.double_opt_in, templateId: row.double_opt_in_template_id },
    phoneCountry: row.phone_country,
    resubscribe: row.resubscribe_protected ? 'protect' : 'allow',
    sendRatePerSecond: row.effective_send_rate_per_second,
    monthlyEmailLimit: row.effective_monthly_email_limit,
    bounceGuard: row.effective_bounce_guard,
    complaintGuard: row.effective_complaint_guard,
    hold: { held: row.effective_held_at !== null, since: row.effective_held_at, reason: row.effective_hold_reason },
    operatorLimits: {
      sendRatePerSecond: row.operator_send_rate_per_second,
      monthlyEmailLimit: row.operator_monthly_email_limit,
      bounceGuard: row.operator_bounce_guard,
      complaintGuard: row.operator_complaint_guard,
      held: row.operator_held_at !== null,
    },
    disabled: row.disabled_at !== null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Which mails of a project are tracked, as of now. */
export async function getTracking(db: Db, projectId: string): Promise<TrackingMode> {
  const row = await db.selectFrom('projects').select('tracking').where('id', '=', projectId).executeTakeFirst();
  return row?.tracking ?? 'DISABLED';
}
