import { sql } from 'kysely';
import type { TrackingMode } from '../../rules/content/message-tracking.ts';
import { AppError } from '../../rules/errors.ts';
import type { SendingWindow } from '../../rules/time/sending-window.ts';
import type { Db, Trx } from '../connection.ts';
import type { DoubleOptIn } from '../contacts/double-opt-in.ts';
import { prepared } from '../prepared.ts';
import type { RowOf } from '../schema/database.ts';
import { type FrequencyCap, readFrequencyCap } from '../sending/frequency.ts';

export interface Project {
  id: string;
  name: string;
  publicKey: string;
  tracking: TrackingMode;
  /** Color of the hosted pages, as `#rrggbb`. Null means the service's default color. */
  color: string | null;
  /**
   * Maximum number of MARKETING emails from campaigns and automations that a contact gets within a number of days. Null
   * means no limit.
   */
  frequencyCap: FrequencyCap | null;
  /** IANA time zone of the project. The zone also applies to contacts without a time zone. */
  timezone: string;
  /** When campaigns and automations may send marketing messages. Null means at any time. */
  sendingWindow: SendingWindow | null;
  doubleOptIn: DoubleOptIn;
  /** The country (ISO 3166-1 alpha-2) of phone numbers without a calling code. */
  phoneCountry: string | null;
  /**
   * Decides how the project can subscribe a contact that refused by a complaint, or on a consent page. `protect`: only
   * with `subscribed: true` and `resubscribe: true`. `allow`: `subscribed: true` is enough.
   */
  resubscribe: ResubscribeMode;
  publicKeyMode: PublicKeyMode;
  sendRatePerSecond: number | null;
  monthlyEmailLimit: number | null;
  bounceGuard: number;
  complaintGuard: number;
  hold: { held: boolean; since: Date | null; reason: string | null };
  /**
   * Limits set by the operator. The limits above are the lower of the operator's limit and the project's own limit.
   * `SEND_RATE_PER_SECOND` is not included.
   */
  operatorLimits: OperatorLimits & { held: boolean };
  disabled: boolean;
  createdAt: Date;
  updatedAt: Date;
}

/** Upper limits that the operator has set. Null means no limit. */
export interface OperatorLimits {
  sendRatePerSecond: number | null;
  monthlyEmailLimit: number | null;
  bounceGuard: number | null;
  complaintGuard: number | null;
}

export const RESUBSCRIBE_MODES = ['allow', 'protect'] as const;
export type ResubscribeMode = (typeof RESUBSCRIBE_MODES)[number];

/**
 * The rules of `/v1/track` for requests with the public key. `protected`: a request adds values, changes only values
 * that the public key wrote, and does not end a refusal. `open`: a request can change the same values as with a secret
 * key, but ends only refusals that were made with the public key. In both modes, suppressions and double opt-in apply,
 * and the written values are untrusted. Source: contract §2.2 Public key, §2.3 Untrusted values.
 */
export const PUBLIC_KEY_MODES = ['protected', 'open'] as const;
export type PublicKeyMode = (typeof PUBLIC_KEY_MODES)[number];

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
  'public_key_open',
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

/**
 * Returns one project.
 * @throws AppError NOT_FOUND
 */
export async function getProject(db: Db, projectId: string): Promise<Project> {
  return toProject(await db.selectFrom('projects').select(COLUMNS).where('id', '=', projectId).executeTakeFirst());
}

/**
 * Returns the project with its own settings, not lowered by the operator's limits.
 * @throws AppError NOT_FOUND
 */
export async function getProjectWithOwnSettings(db: Db, projectId: string): Promise<Project> {
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
 * Returns the project and locks it until the transaction ends.
 * @throws AppError NOT_FOUND
 */
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
 * Puts a project's marketing and automation email on hold. If the project is already on hold, its date and reason do
 * not change. Safe to run twice.
 */
export async function putProjectOnHold(trx: Trx, p: { projectId: string; reason: string }): Promise<Project> {
  await sql`
    UPDATE projects SET held_at = coalesce(held_at, now()), updated_at = now(),
      hold_reason = CASE WHEN held_at IS NULL THEN ${p.reason} ELSE hold_reason END
    WHERE id = ${p.projectId}
  `.execute(trx);
  return getProject(trx, p.projectId);
}

function toProject(row: RowOf<'projects', typeof COLUMNS> | undefined): Project {
  if (!row) throw new AppError('NOT_FOUND');
  return {
    id: row.id,
    name: row.name,
    publicKey: row.public_key,
    tracking: row.tracking,
    color: row.color,
    frequencyCap: readFrequencyCap(row),
    timezone: row.timezone,
    sendingWindow: row.sending_window,
    doubleOptIn: { enabled: row.double_opt_in, templateId: row.double_opt_in_template_id },
    phoneCountry: row.phone_country,
    resubscribe: row.resubscribe_protected ? 'protect' : 'allow',
    publicKeyMode: row.public_key_open ? 'open' : 'protected',
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

/**
 * Returns a project's current tracking mode, which says whether all emails, only marketing emails or no emails are
 * tracked.
 */
export async function getTracking(db: Db, projectId: string): Promise<TrackingMode> {
  const row = await db.selectFrom('projects').select('tracking').where('id', '=', projectId).executeTakeFirst();
  return row?.tracking ?? 'DISABLED';
}

/** Returns the current rules for requests with the project's public key. */
export async function getPublicKeyMode(db: Db, projectId: string): Promise<PublicKeyMode> {
  const { rows } = await prepared<{ isOpen: boolean | null }>`
    SELECT public_key_open AS "isOpen" FROM projects WHERE id = ${projectId}
  `.execute(db);
  return rows[0]?.isOpen ? 'open' : 'protected';
}
