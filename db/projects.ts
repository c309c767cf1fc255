import { sql, type Transaction } from 'kysely';
import { AppError } from '../domain/errors.ts';
import type { OutboxRow } from '../domain/outbox.ts';
import { wakeCampaigns } from './campaign-lifecycle.ts';
import type { Db } from './connection.ts';
import { resetGuard } from './hold-guard.ts';
import { enqueue } from './outbox.ts';
import type { Database } from './schema.ts';

export type Tracking = 'ENABLED' | 'MARKETING_ONLY' | 'DISABLED';

export interface Project {
  id: string;
  name: string;
  publicKey: string;
  tracking: Tracking;
  /** Of the hosted pages, `#rrggbb`; null is the service's own. */
  color: string | null;
  sendRatePerSecond: number | null;
  monthlyEmailLimit: number | null;
  bounceGuard: number;
  complaintGuard: number;
  hold: { held: boolean; since: Date | null; reason: string | null };
  disabled: boolean;
  createdAt: Date;
  updatedAt: Date;
}

/** Settings that a person may change; what is undefined stays as it is. */
export interface ProjectChanges {
  name?: string | undefined;
  tracking?: Tracking | undefined;
  color?: string | null | undefined;
  sendRatePerSecond?: number | null | undefined;
  monthlyEmailLimit?: number | null | undefined;
  bounceGuard?: number | undefined;
  complaintGuard?: number | undefined;
}

const COLUMNS = sql.raw(`id, name, public_key, tracking, color, send_rate_per_second, monthly_email_limit, bounce_guard,
  complaint_guard, held_at, hold_reason, disabled_at, created_at, updated_at`);

/** @throws AppError NOT_FOUND */
export async function getProject(db: Db, projectId: string): Promise<Project> {
  const { rows } = await sql<ProjectRow>`SELECT ${COLUMNS} FROM projects WHERE id = ${projectId}`.execute(db);
  return toProject(rows[0]);
}

/** Changes settings. @throws AppError NOT_FOUND */
export async function updateProject(
  trx: Transaction<Database>,
  projectId: string,
  changes: ProjectChanges,
): Promise<Project> {
  const columns = {
    name: changes.name,
    tracking: changes.tracking,
    color: changes.color,
    send_rate_per_second: changes.sendRatePerSecond,
    monthly_email_limit: changes.monthlyEmailLimit,
    bounce_guard: changes.bounceGuard,
    complaint_guard: changes.complaintGuard,
  };
  const row = await trx
    .updateTable('projects')
    .set({ ...columns, updated_at: sql`now()` })
    .where('id', '=', projectId)
    .returningAll()
    .executeTakeFirst();
  return toProject(row);
}

/** Puts a project's marketing and automation mail on hold; one on hold already keeps its date and reason. May run twice. */
export async function holdProject(trx: Transaction<Database>, projectId: string, reason: string): Promise<Project> {
  const { rows } = await sql<ProjectRow>`
    UPDATE projects SET held_at = coalesce(held_at, now()), updated_at = now(),
      hold_reason = CASE WHEN held_at IS NULL THEN ${reason} ELSE hold_reason END
    WHERE id = ${projectId} RETURNING ${COLUMNS}
  `.execute(trx);
  return toProject(rows[0]);
}

/** Ends a hold and queues the sending of what was held. May run twice: work is queued only by the call that ended it. */
export async function releaseProject(
  trx: Transaction<Database>,
  projectId: string,
): Promise<{ project: Project; outbox: OutboxRow[] }> {
  const { rows } = await sql<ProjectRow>`
    UPDATE projects SET held_at = NULL, hold_reason = NULL, updated_at = now()
    WHERE id = ${projectId} AND held_at IS NOT NULL RETURNING ${COLUMNS}
  `.execute(trx);
  if (!rows[0]) return { project: await getProject(trx, projectId), outbox: [] };
  await resetGuard(trx, projectId);
  const outbox = await enqueue(trx, [{ projectId, kind: 'hold.release', refId: projectId }]);
  outbox.push(...(await wakeCampaigns(trx, projectId)));
  return { project: toProject(rows[0]), outbox };
}

interface ProjectRow {
  id: string;
  name: string;
  public_key: string;
  tracking: string;
  color: string | null;
  send_rate_per_second: number | null;
  monthly_email_limit: number | null;
  bounce_guard: number;
  complaint_guard: number;
  held_at: Date | null;
  hold_reason: string | null;
  disabled_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

function toProject(row: ProjectRow | undefined): Project {
  if (!row) throw new AppError('NOT_FOUND');
  return {
    id: row.id,
    name: row.name,
    publicKey: row.public_key,
    // The column's CHECK holds it to these.
    tracking: row.tracking as Tracking,
    color: row.color,
    sendRatePerSecond: row.send_rate_per_second,
    monthlyEmailLimit: row.monthly_email_limit,
    bounceGuard: row.bounce_guard,
    complaintGuard: row.complaint_guard,
    hold: { held: row.held_at !== null, since: row.held_at, reason: row.hold_reason },
    disabled: row.disabled_at !== null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
