import { type RawBuilder, sql } from 'kysely';
import {
  describeBrokenGuard,
  describeBrokenRefusalGuard,
  GUARD_HOURS,
  RECENT_EMAILS,
  type SendOutcomes,
} from '../../rules/emails/hold-guard.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { Db, Trx } from '../connection.ts';
import { prepared } from '../prepared.ts';
import { insertAudit } from '../projects/audit-log.ts';
import { queueOwnerNotice } from '../projects/owner-notices.ts';

/**
 * Rows per project and hour. With several rows, concurrent transactions mostly update different rows and do not wait
 * for each other.
 */
const SLOTS = 8;

/**
 * Builds the statement that adds to the counts of live emails, by project. Run it in the statement or transaction that
 * records the emails, so that each email counts once. `rows` selects `project_id`, `mails`, `dead` and `complaints`,
 * with one row per project.
 */
export function countOutcomesSql(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    INSERT INTO send_outcomes (project_id, hour, slot, mails, dead, complaints)
    SELECT r.project_id, date_trunc('hour', now(), 'UTC'), pg_backend_pid() % ${sql.lit(SLOTS)}, r.mails, r.dead, r.complaints
    FROM (${rows}) AS r ORDER BY r.project_id
    ON CONFLICT (project_id, hour, slot) DO UPDATE SET mails = send_outcomes.mails + excluded.mails,
      dead = send_outcomes.dead + excluded.dead, complaints = send_outcomes.complaints + excluded.complaints`;
}

/**
 * Counts the results of a project's live emails, and puts the project on hold if a guard is reached. Computes the rates
 * only if there are new hard bounces or complaints, because other results only lower the rates. If other emails
 * complete a guard's minimum number of emails, the next hard bounce or complaint reaches the guard. Call this function
 * last in a transaction, because other connections may wait for the row that it locks. `watched`: a mailbox provider
 * has recently refused email of the project (see `countWatchedEmails`).
 */
export async function checkRateGuards(
  trx: Trx,
  p: SendOutcomes & { projectId: string },
): Promise<{ outbox: OutboxRow[]; watched: boolean }> {
  const { projectId, emails, dead, complaints } = p;
  const ofProject = sql`
    SELECT ${projectId}::uuid AS project_id, ${emails}::int AS mails, ${dead}::int AS dead, ${complaints}::int AS complaints`;
  const { rows } = await prepared<{ watched: boolean }>`
    WITH counts AS (${countOutcomesSql(ofProject)})
    SELECT EXISTS (SELECT FROM provider_outcomes WHERE project_id = ${projectId}) AS watched
  `.execute(trx);
  const watched = rows[0]?.watched ?? false;
  if (dead + complaints === 0) return { outbox: [], watched };
  const counts = await findGuardCounts(trx, projectId);
  const why = counts && describeBrokenGuard(counts, counts);
  return { outbox: why ? await putOnHoldOnce(trx, { projectId, reason: why }) : [], watched };
}

/**
 * Records emails that a mailbox provider refused because of the sender (class `policy`). Puts the project on hold if
 * the provider has refused too many of the project's last emails.
 */
export async function checkRefusalGuard(
  trx: Trx,
  p: { projectId: string; provider: string; refused: number },
): Promise<OutboxRow[]> {
  const { projectId, provider } = p;
  const { rows } = await sql<{ refused: number }>`
    INSERT INTO provider_outcomes (project_id, provider, recent)
    VALUES (${projectId}, ${provider}, repeat('1', ${Math.min(p.refused, RECENT_EMAILS)}::int))
    ON CONFLICT (project_id, provider) DO UPDATE
      SET recent = right(provider_outcomes.recent || excluded.recent, ${sql.lit(RECENT_EMAILS)}), updated_at = now()
    RETURNING length(replace(recent, '0', '')) AS refused
  `.execute(trx);
  const why = describeBrokenRefusalGuard({ provider, refused: rows[0]?.refused ?? 0 });
  return why ? putOnHoldOnce(trx, { projectId, reason: why }) : [];
}

/** The number of emails of one project to one domain. */
export interface SentToDomain {
  projectId: string;
  domain: string;
  emails: number;
}

/**
 * Counts the live emails among these ids by project and recipient domain, for projects with a mailbox provider that has
 * recently refused their email. The result is usually empty.
 */
export async function countWatchedEmails(db: Db, emailIds: string[]): Promise<SentToDomain[]> {
  const { rows } = await sql<{ project_id: string; domain: string; emails: number }>`
    SELECT e.project_id, lower(substring(coalesce(e.to_email, c.email) FROM '@([^@]*)$')) AS domain, count(*) AS emails
    FROM emails e LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = e.project_id
    WHERE e.id = ANY(${emailIds}::uuid[]) AND e.mode = 'live'
      AND EXISTS (SELECT FROM provider_outcomes p WHERE p.project_id = e.project_id)
    GROUP BY 1, 2
  `.execute(db);
  return rows.flatMap(({ project_id, domain, emails }) => (domain ? [{ projectId: project_id, domain, emails }] : []));
}

/**
 * Records emails that a mailbox provider accepted. If the provider has refused none of the project's last emails, it is
 * no longer watched.
 */
export async function recordAcceptedEmails(
  db: Db,
  accepted: { projectId: string; provider: string; emails: number }[],
): Promise<void> {
  if (accepted.length === 0) return;
  await sql`
    UPDATE provider_outcomes p SET recent = right(p.recent || repeat('0', u.emails), ${sql.lit(RECENT_EMAILS)}), updated_at = now()
    FROM unnest(${accepted.map((t) => t.projectId)}::uuid[], ${accepted.map((t) => t.provider)}::text[],
      ${accepted.map((t) => Math.min(t.emails, RECENT_EMAILS))}::int[]) AS u (project_id, provider, emails)
    WHERE p.project_id = u.project_id AND p.provider = u.provider
  `.execute(db);
  await sql`
    DELETE FROM provider_outcomes
    WHERE project_id = ANY(${[...new Set(accepted.map((t) => t.projectId))]}::uuid[]) AND strpos(recent, '1') = 0
  `.execute(db);
}

/**
 * Deletes the counts of the guards when a hold is released. The person who releases the hold accepts the earlier
 * results.
 */
export async function resetGuardCounts(trx: Trx, projectId: string): Promise<void> {
  await sql`DELETE FROM send_outcomes WHERE project_id = ${projectId}`.execute(trx);
  await sql`DELETE FROM provider_outcomes WHERE project_id = ${projectId}`.execute(trx);
}

type GuardCounts = SendOutcomes & { bounceGuard: number; complaintGuard: number };

/** Returns the counts of a project. Undefined if the project is already on hold. */
async function findGuardCounts(trx: Trx, projectId: string): Promise<GuardCounts | undefined> {
  const { rows } = await sql<GuardCounts>`
    SELECT p.effective_bounce_guard AS "bounceGuard", p.effective_complaint_guard AS "complaintGuard",
      sum(o.mails) AS emails, sum(o.dead) AS dead, sum(o.complaints) AS complaints
    FROM projects p JOIN send_outcomes o ON o.project_id = p.id AND o.hour > now() - make_interval(hours => ${GUARD_HOURS})
    WHERE p.id = ${projectId} AND p.held_at IS NULL GROUP BY p.id
  `.execute(trx);
  return rows[0];
}

/**
 * Puts a project on hold, notifies its owners and writes the audit log. The UPDATE changes only a project that is not
 * on hold, so this happens once.
 */
async function putOnHoldOnce(
  trx: Trx,
  { projectId, reason }: { projectId: string; reason: string },
): Promise<OutboxRow[]> {
  const { numAffectedRows } = await sql`
    UPDATE projects SET held_at = now(), hold_reason = ${reason}, updated_at = now() WHERE id = ${projectId} AND held_at IS NULL
  `.execute(trx);
  if (!numAffectedRows) return [];
  const entry = { projectId, action: 'project.held' as const, actor: 'system', target: null, ip: null };
  await insertAudit(trx, { ...entry, details: { reason } });
  return queueOwnerNotice(trx, {
    projectId,
    subject: 'Sending is paused',
    body: `<p>Marketing and automation emails are paused, because ${reason}.</p>
      <p>Paused emails wait, and each is sent once after you resume. Transactional emails are still sent, and no contact was unsubscribed.</p>
      <p>Fix the cause, then resume sending in the dashboard under Settings, Project, or with POST /project/release.</p>`,
  });
}
