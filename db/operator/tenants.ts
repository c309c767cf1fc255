import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { GUARD_HOURS } from '../../rules/emails/hold-guard.ts';
import { AppError } from '../../rules/errors.ts';
import type { Db } from '../connection.ts';
import { escapeLike } from '../escape-like.ts';
import { afterCursorSql, type Page, type PageRequest, toPage } from '../keyset.ts';
import type { OperatorLimits } from '../projects/projects.ts';

/** Sort orders of the list of tenants. All orders except `newest` exist for a day and for a month. */
export const TENANT_ORDERS = ['newest', 'mails', 'bounces', 'complaints'] as const;
export type TenantOrder = (typeof TENANT_ORDERS)[number];

/** Number of owners shown per project. */
const OWNERS_SHOWN = 3;
/** The number of hours for which outcomes are stored. */
const HOURS_SHOWN = 2 * GUARD_HOURS;
const AUDIT_SHOWN = 20;
/** The number of days that the counts of a month (`TenantMonth`) cover. */
export const TENANT_DAYS = 30;

/**
 * A project as the operator sees it: how much email it sends, how many bounces and complaints it gets, and its holds
 * and limits.
 */
export interface Tenant {
  id: string;
  name: string;
  /** Addresses of the project's first owners. */
  owners: string[];
  createdAt: Date;
  disabled: boolean;
  /**
   * The hold by the project's guards or members, and the hold by the operator. The two holds can exist at the same
   * time.
   */
  ownHold: TenantHold;
  operatorHold: TenantHold;
  /** The lower of the project's own limit and the operator's limit, without `SEND_RATE_PER_SECOND`. */
  limits: {
    sendRatePerSecond: number | null;
    monthlyEmailLimit: number | null;
    bounceGuard: number;
    complaintGuard: number;
  };
  operatorLimits: OperatorLimits;
  /** Live emails of the last 24 hours, as the guards count them: a release restarts the count. */
  mails: number;
  /** Hard bounces of these emails. */
  dead: number;
  complaints: number;
  month: TenantMonth;
}

/**
 * Counts of the live emails of 30 days, up to the last hour in `mail_hours`. A release does not restart these counts.
 * Includes soft bounces.
 */
export interface TenantMonth {
  sent: number;
  bounced: number;
  complained: number;
}

export interface TenantHold {
  held: boolean;
  since: Date | null;
  reason: string | null;
}

interface TenantRow {
  id: string;
  name: string;
  owners: string[] | null;
  created_at: Date;
  disabled: boolean;
  held_at: Date | null;
  hold_reason: string | null;
  operator_held_at: Date | null;
  operator_hold_reason: string | null;
  limits: Tenant['limits'];
  operatorLimits: OperatorLimits;
  mails: number;
  dead: number;
  complaints: number;
  month: TenantMonth;
}

const MONTH_BEGINS = sql`floor(extract(epoch FROM now() - make_interval(days => ${sql.lit(TENANT_DAYS)})) / 3600)::int`;

const COLUMNS = sql`
  p.id, p.name, p.created_at, p.disabled_at IS NOT NULL AS disabled, p.held_at, p.hold_reason, p.operator_held_at, p.operator_hold_reason,
  jsonb_build_object('sendRatePerSecond', p.effective_send_rate_per_second, 'monthlyEmailLimit', p.effective_monthly_email_limit,
    'bounceGuard', p.effective_bounce_guard, 'complaintGuard', p.effective_complaint_guard) AS limits,
  jsonb_build_object('sendRatePerSecond', p.operator_send_rate_per_second, 'monthlyEmailLimit', p.operator_monthly_email_limit,
    'bounceGuard', p.operator_bounce_guard, 'complaintGuard', p.operator_complaint_guard) AS "operatorLimits",
  (SELECT array_agg(o.email) FROM (
    SELECT u.email FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.project_id = p.id AND m.role = 'OWNER'
    ORDER BY m.created_at, u.id LIMIT ${sql.lit(OWNERS_SHOWN)}) o) AS owners,
  coalesce(s.mails, 0) AS mails, coalesce(s.dead, 0) AS dead, coalesce(s.complaints, 0) AS complaints,
  (SELECT jsonb_build_object('sent', coalesce(sum(h.sent), 0), 'bounced', coalesce(sum(h.bounced), 0),
      'complained', coalesce(sum(h.complained), 0))
    FROM mail_hours h WHERE h.project_id = p.id AND h.hour >= ${MONTH_BEGINS}) AS month`;

/** SQL for the counts of all projects in one query. There are a few rows per hour and project. */
const COUNTS = sql`
  (SELECT project_id, sum(mails) AS mails, sum(dead) AS dead, sum(complaints) AS complaints FROM send_outcomes
    WHERE hour > now() - make_interval(hours => ${sql.lit(GUARD_HOURS)}) GROUP BY project_id) s`;

/**
 * SQL for the same counts of a month, by which the list can be sorted. There is one row per project and hour with email
 * activity.
 */
const MONTH_COUNTS = sql`
  (SELECT project_id, sum(sent) AS mails, sum(bounced) AS dead, sum(complained) AS complaints FROM mail_hours
    WHERE hour >= ${MONTH_BEGINS} GROUP BY project_id) o`;

/**
 * Returns the ORDER BY. The orders `bounces` and `complaints` sort by the rate. The rate of a project with fewer than
 * 100 emails is computed as for 100 emails, because one bounce among very few emails means nothing.
 */
function orderBySql(order: TenantOrder, counts: string): RawBuilder<unknown> {
  const [emails, dead, complaints] = ['mails', 'dead', 'complaints'].map((name) => sql.ref(`${counts}.${name}`));
  const orders: Record<TenantOrder, RawBuilder<unknown>> = {
    newest: sql`p.id DESC`,
    mails: sql`coalesce(${emails}, 0) DESC, p.id DESC`,
    bounces: sql`(${dead}::float8 / greatest(${emails}, 100)) DESC NULLS LAST, p.id DESC`,
    complaints: sql`(${complaints}::float8 / greatest(${emails}, 100)) DESC NULLS LAST, p.id DESC`,
  };
  return orders[order];
}

/**
 * Lists tenants whose name or a member's address contains the search text, or whose id equals it. `held: true` selects
 * the tenants on hold, and `held: false` all other tenants. The order `newest` has a cursor. In the other orders,
 * tenants change their positions while the operator reads, so these orders have only one page. `total` is 0 on later
 * pages. Only the operator may call this list, because it covers all projects.
 */
export async function listTenants(
  db: Db,
  p: PageRequest & {
    search?: string | undefined;
    held?: boolean | undefined;
    order: TenantOrder;
    over?: 'day' | 'month' | undefined;
  },
): Promise<Page<Tenant> & { total: number }> {
  const where = sql.join([matchesSearchSql(p.search), hasHoldStateSql(p.held)], sql` AND `);
  const byMonth = p.over === 'month' && p.order !== 'newest';
  const { rows } = await sql<TenantRow>`
    SELECT ${COLUMNS} FROM projects p LEFT JOIN ${COUNTS} ON s.project_id = p.id
    ${byMonth ? sql`LEFT JOIN ${MONTH_COUNTS} ON o.project_id = p.id` : sql``}
    WHERE ${where} AND ${p.order === 'newest' ? afterCursorSql(p.cursor, 'p.id') : sql`true`}
    ORDER BY ${orderBySql(p.order, byMonth ? 'o' : 's')} LIMIT ${p.limit + 1}
  `.execute(db);
  const page = toPage(rows, p.limit, toTenant);
  const list = p.order === 'newest' ? page : { ...page, cursor: null, hasMore: false };
  return { ...list, total: p.cursor ? 0 : await countTenants(db, where) };
}

/**
 * Returns one tenant.
 * @throws AppError NOT_FOUND
 */
export async function getTenant(db: Db, projectId: string): Promise<Tenant> {
  const { rows } = await sql<TenantRow>`
    SELECT ${COLUMNS} FROM projects p LEFT JOIN ${COUNTS} ON s.project_id = p.id WHERE p.id = ${projectId}
  `.execute(db);
  const [row] = rows;
  if (!row) throw new AppError('NOT_FOUND', { message: 'No project has this id.' });
  return toTenant(row);
}

/** Counts of one hour. */
export interface TenantHour {
  hour: Date;
  mails: number;
  dead: number;
  complaints: number;
}

/** Lists the counts of a project's last 48 hours, oldest first. Omits hours without email. */
export async function listTenantHours(db: Db, projectId: string): Promise<TenantHour[]> {
  const { rows } = await sql<TenantHour>`
    SELECT hour, sum(mails) AS mails, sum(dead) AS dead, sum(complaints) AS complaints FROM send_outcomes
    WHERE project_id = ${projectId} AND hour > now() - make_interval(hours => ${HOURS_SHOWN}) GROUP BY hour ORDER BY hour
  `.execute(db);
  return rows;
}

/**
 * A mailbox provider that has refused some of the project's last emails because of the sender. `of` is the number of
 * last emails to this provider that are considered.
 */
export interface Refusals {
  provider: string;
  refused: number;
  of: number;
}

/**
 * Lists mailbox providers that have refused some of a project's last emails, the provider with the most refusals first.
 */
export async function listProviderRefusals(db: Db, projectId: string): Promise<Refusals[]> {
  const { rows } = await sql<Refusals>`
    SELECT provider, length(replace(recent, '0', '')) AS refused, length(recent) AS of FROM provider_outcomes
    WHERE project_id = ${projectId} ORDER BY 2 DESC, 1
  `.execute(db);
  return rows;
}

/** An entry of the audit log about a hold or a release of a project, or about any change by an operator. */
export interface TenantAction {
  id: string;
  action: string;
  actor: string;
  /** Address of a user or an operator, or name of a key. Null for the service itself, and for a deleted actor. */
  actorName: string | null;
  details: Record<string, unknown>;
  createdAt: Date;
}

/** SQL for the id after `user:` or `key:`. Null if the actor has no id. */
const ACTOR_ID = sql`(CASE WHEN a.actor ~ ':[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN split_part(a.actor, ':', 2)::uuid END)`;

/**
 * Lists the newest holds and releases of a project, and all changes that operators made to it, newest first, at most
 * `AUDIT_SHOWN`.
 */
export async function listTenantActions(db: Db, projectId: string): Promise<TenantAction[]> {
  const { rows } = await sql<TenantAction>`
    SELECT a.id, a.action, a.actor, a.details, a.created_at AS "createdAt",
      CASE split_part(a.actor, ':', 1)
        WHEN 'operator' THEN substr(a.actor, 10)
        WHEN 'user' THEN (SELECT u.email FROM users u WHERE u.id = ${ACTOR_ID})
        WHEN 'key' THEN (SELECT k.name FROM api_keys k WHERE k.project_id = a.project_id AND k.id = ${ACTOR_ID})
      END AS "actorName"
    FROM audit_log a
    WHERE a.project_id = ${projectId} AND (a.action IN ('project.held', 'project.released') OR a.actor LIKE 'operator:%')
    ORDER BY a.id DESC LIMIT ${AUDIT_SHOWN}
  `.execute(db);
  return rows;
}

async function countTenants(db: Db, where: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ total: number }>`SELECT count(*) AS total FROM projects p WHERE ${where}`.execute(db);
  return rows[0]?.total ?? 0;
}

function matchesSearchSql(search: string | undefined): RawBuilder<SqlBool> {
  if (!search) return sql<SqlBool>`true`;
  const pattern = `%${escapeLike(search)}%`;
  return sql<SqlBool>`(p.name ILIKE ${pattern} OR p.id::text = lower(${search}) OR EXISTS (
    SELECT FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.project_id = p.id AND u.email ILIKE ${pattern}))`;
}

function hasHoldStateSql(held: boolean | undefined): RawBuilder<SqlBool> {
  if (held === undefined) return sql<SqlBool>`true`;
  return held ? sql<SqlBool>`p.effective_held_at IS NOT NULL` : sql<SqlBool>`p.effective_held_at IS NULL`;
}

function toTenant({ owners, created_at, ...row }: TenantRow): Tenant {
  const { held_at, hold_reason, operator_held_at, operator_hold_reason, ...rest } = row;
  return {
    ...rest,
    owners: owners ?? [],
    createdAt: created_at,
    ownHold: { held: held_at !== null, since: held_at, reason: hold_reason },
    operatorHold: { held: operator_held_at !== null, since: operator_held_at, reason: operator_hold_reason },
  };
}
