import { type RawBuilder, sql } from 'kysely';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { Db, Trx } from '../connection.ts';
import { FAILED_EMAIL_SQL } from '../emails/failed-emails.ts';
import { uuidBoundAt } from '../events/activity-sources.ts';
import { enqueue } from '../outbox/outbox.ts';
import { deliveryKindsSql, type MessageKind } from '../sending/direct-messages.ts';

/** A message that was accepted and handed to Temporal a while ago, and was not sent. */
export interface OpenMessage {
  projectId: string;
  id: string;
  /** The number of the message's claim when the message was read. Null if no attempt is in progress. */
  claim: number | null;
}

/**
 * If an email was being sent when its execution was cancelled, the result of the email is recorded within this time.
 */
const SETTLED_MS = 10 * 60_000;
/**
 * Maximum number of messages per round. Only an outage of a provider leaves more messages unsent, and their delivery
 * workflows still exist.
 */
const ROUND_MAX = 100_000;

/**
 * The conditions for open messages. The ledger has no index on status, because such an index would prevent heap-only
 * updates. Rows are therefore found by the time in their ids.
 */
const OPEN: Record<
  MessageKind,
  { table: RawBuilder<unknown>; where: RawBuilder<unknown>; deliver: 'email.deliver' | 'sms.deliver' }
> = {
  email: {
    table: sql`emails`,
    // Excludes emails of campaigns, because chunks send them. Excludes emails of steps, because the execution sends
    // them; an email that was held is included if the execution has continued without it. Uses a scalar subquery,
    // because for EXISTS the planner would build a hash of all steps.
    where: sql`m.status IN ('PENDING', 'SENDING') AND m.campaign_id IS NULL AND (m.execution_id IS NULL OR 'COMPLETED' = (
      SELECT s.status FROM execution_steps s WHERE s.execution_id = m.execution_id AND s.visit = m.visit))`,
    deliver: 'email.deliver',
  },
  sms: { table: sql`sms_messages`, where: sql`m.status = 'PENDING'`, deliver: 'sms.deliver' },
};

/**
 * Lists messages of all projects that should have a delivery workflow: they were not sent, and were handed to Temporal.
 * Scans the primary key once, over the messages that were accepted from `since` until `settledMs` ago.
 */
export async function listOpenMessages(
  db: Db,
  p: { kind: MessageKind; since: Date; settledMs: number },
): Promise<OpenMessage[]> {
  const { table, where } = OPEN[p.kind];
  const settled = new Date(Date.now() - p.settledMs);
  const { rows } = await sql<OpenMessage>`
    SELECT m.project_id AS "projectId", m.id, m.claim FROM ${table} m
    WHERE m.id >= ${uuidBoundAt(p.since, '0')}::uuid AND m.id < ${uuidBoundAt(settled, '0')}::uuid AND ${where}
      AND NOT EXISTS (SELECT FROM outbox o WHERE o.ref_id = m.id AND o.kind IN ${deliveryKindsSql(p.kind)})
    ORDER BY m.id LIMIT ${ROUND_MAX}
  `.execute(db);
  return rows;
}

/**
 * Queues messages of a project for a new delivery. A message does not change if it was claimed or settled since it was
 * read, because its claim number or status differs then. If a message was being transmitted when its delivery was lost,
 * it is sent again with the same Message-ID, as after a crash.
 */
export async function requeueMessages(
  trx: Trx,
  p: { kind: MessageKind; projectId: string; messages: OpenMessage[] },
): Promise<OutboxRow[]> {
  const { table, where, deliver } = OPEN[p.kind];
  const { rows } = await sql<{ id: string }>`
    UPDATE ${table} m SET status = 'PENDING', delivery_id = NULL, claim = NULL
    FROM unnest(${p.messages.map((m) => m.id)}::uuid[], ${p.messages.map((m) => m.claim)}::bigint[]) AS u (id, claim)
    WHERE m.project_id = ${p.projectId} AND m.id = u.id AND m.claim IS NOT DISTINCT FROM u.claim AND m.sent_at IS NULL AND ${where}
    RETURNING m.id
  `.execute(trx);
  return enqueue(
    trx,
    rows.map(({ id }) => ({ projectId: p.projectId, kind: deliver, refId: id })),
  );
}

/** Finds the emails and SMS among these ids that wait or are being sent, in all projects. */
export async function findOpenMessageIds(db: Db, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const isOpen = sql`id = ANY(${ids}::uuid[]) AND status IN ('PENDING', 'SENDING')`;
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM emails WHERE ${isOpen} UNION ALL SELECT id FROM sms_messages WHERE ${isOpen}
  `.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/**
 * Marks messages of a project as sent if Temporal's history shows that a delivery has sent them. Postgres does not show
 * that they were sent, because it was restored from a backup. Returns the number of changed messages. Stores the
 * current time, because the real time is unknown.
 */
export async function markMessagesSent(
  db: Db,
  p: { kind: MessageKind; projectId: string; messages: OpenMessage[] },
): Promise<number> {
  const { table, where } = OPEN[p.kind];
  const { numAffectedRows } = await sql`
    UPDATE ${table} m SET status = 'SENT', sent_at = now(), claim = NULL
    FROM unnest(${p.messages.map((m) => m.id)}::uuid[], ${p.messages.map((m) => m.claim)}::bigint[]) AS u (id, claim)
    WHERE m.project_id = ${p.projectId} AND m.id = u.id AND m.claim IS NOT DISTINCT FROM u.claim AND m.sent_at IS NULL AND ${where}
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/**
 * Sets emails of steps to FAILED with the reason `cancelled` if their step was cancelled while they waited for their
 * next attempt, in all projects. Skips emails whose step was cancelled less than `SETTLED_MS` ago, because such an
 * email may have been transmitted, and its result is still to be recorded. Returns the number of changed emails. Safe
 * to run twice, and at any time.
 */
export async function endCancelledStepEmails(db: Db, since: Date): Promise<number> {
  const settled = new Date(Date.now() - SETTLED_MS);
  const { numAffectedRows } = await sql`
    UPDATE emails SET ${FAILED_EMAIL_SQL}, reason = 'cancelled', claim = NULL
    WHERE id IN (
      SELECT m.id FROM emails m
      WHERE m.id >= ${uuidBoundAt(since, '0')}::uuid AND m.id < ${uuidBoundAt(settled, '0')}::uuid
        AND m.status IN ('PENDING', 'SENDING') AND m.execution_id IS NOT NULL AND 'CANCELLED' = (
          SELECT s.status FROM execution_steps s
          WHERE s.execution_id = m.execution_id AND s.visit = m.visit AND s.completed_at < ${settled}))
      AND status IN ('PENDING', 'SENDING')
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}
