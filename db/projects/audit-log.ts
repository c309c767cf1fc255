import { sql } from 'kysely';
import type { Db, Trx } from '../connection.ts';
import { afterCursorSql, type Page, type PageRequest, toPage } from '../keyset.ts';
import type { RowOf } from '../schema/database.ts';

/** Actions that are recorded in the audit log. */
export const AUDIT_ACTIONS = [
  'apikey.created',
  'apikey.revoked',
  'apikey.rotated',
  'project.updated',
  'project.held',
  'project.released',
  'team.invited',
  'team.invitation_withdrawn',
  'team.joined',
  'team.role_changed',
  'team.removed',
  'contact.resubscribed',
  'sms_sender.created',
  'sms_sender.deleted',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export interface AuditEntry {
  id: string;
  action: string;
  /** The actor, such as `user:<id>`. */
  actor: string;
  /** Id of the record that was changed. Null for the project itself. */
  target: string | null;
  ip: string | null;
  details: Record<string, unknown>;
  createdAt: Date;
}

const COLUMNS = ['id', 'action', 'actor', 'target', 'ip', 'details', 'created_at'] as const;

/** Records an action in the transaction that performs it, so that either both are committed or neither. */
export async function insertAudit(
  trx: Trx,
  entry: {
    projectId: string;
    action: AuditAction;
    actor: string;
    target: string | null;
    ip: string | null;
    details?: Record<string, unknown>;
  },
): Promise<void> {
  await trx
    .insertInto('audit_log')
    .values({
      project_id: entry.projectId,
      action: entry.action,
      actor: entry.actor,
      target: entry.target,
      ip: entry.ip,
      details: JSON.stringify(entry.details ?? {}),
    })
    .execute();
}

/** Lists the audit log newest first. `total` is 0 on later pages. */
export async function listAudit(
  db: Db,
  { projectId, ...page }: PageRequest & { projectId: string },
): Promise<Page<AuditEntry> & { total: number }> {
  const rows = await db
    .selectFrom('audit_log')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .where(afterCursorSql(page.cursor))
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .execute();
  return { ...toPage(rows, page.limit, toEntry), total: page.cursor ? 0 : await countAudit(db, projectId) };
}

async function countAudit(db: Db, projectId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM audit_log WHERE project_id = ${projectId}
  `.execute(db);
  return rows[0]?.count ?? 0;
}

function toEntry({ created_at, ...row }: RowOf<'audit_log', typeof COLUMNS>): AuditEntry {
  return { ...row, createdAt: created_at };
}
