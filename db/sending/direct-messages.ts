import { type RawBuilder, sql } from 'kysely';
import type { LastAttempt } from '../../rules/emails/last-attempt.ts';
import { OUTBOX_PRIORITY, type OutboxRow } from '../../rules/outbox.ts';
import { RowMissing } from '../../rules/row-missing.ts';
import type { Db, Trx } from '../connection.ts';
import { isOwnedBySql } from '../owned-by.ts';
import { prepared } from '../prepared.ts';

/**
 * The kinds of single messages. A worker makes the first attempt to send a single message directly, without a Temporal
 * workflow.
 */
export type MessageKind = 'email' | 'sms';

type FirstAttempt = 'email.deliver' | 'sms.deliver';
type RetryKind = 'email.retry' | 'sms.retry';

const DIRECT: Record<
  MessageKind,
  { deliver: FirstAttempt; retry: RetryKind; table: RawBuilder<unknown>; open: RawBuilder<unknown> }
> = {
  email: {
    deliver: 'email.deliver',
    retry: 'email.retry',
    table: sql.raw('emails'),
    open: sql.raw(`('PENDING', 'SENDING')`),
  },
  sms: { deliver: 'sms.deliver', retry: 'sms.retry', table: sql.raw('sms_messages'), open: sql.raw(`('PENDING')`) },
};

/** A message that waits for its next attempt, with the result of its last attempt. */
interface DeferredMessage {
  id: string;
  dueAt: Date;
  last?: LastAttempt;
}

/** Returns the kinds of outbox rows that deliver messages, as an SQL list. */
export function deliveryKindsSql(kind: MessageKind): RawBuilder<unknown> {
  const { deliver, retry } = DIRECT[kind];
  return sql`(${deliver}, ${retry})`;
}

/**
 * Throws unless each message has a row in the project.
 * @throws RowMissing for the first message without a row
 */
export async function assertMessagesExist(
  db: Db,
  { kind, projectId, ids }: { kind: MessageKind; projectId: string; ids: string[] },
): Promise<void> {
  const { rows } = await prepared<{ id: string }>`
    SELECT u.id FROM unnest(${ids}::uuid[]) AS u (id)
    WHERE NOT EXISTS (SELECT FROM ${DIRECT[kind].table} m WHERE m.id = u.id AND ${isOwnedBySql('m.project_id', projectId)}) LIMIT 1
  `.execute(db);
  if (rows[0]) throw new RowMissing(kind, rows[0].id);
}

/**
 * Updates the outbox after first attempts, in the transaction that records their results. Deletes the rows of finished
 * messages. Changes the rows of deferred messages, so that Temporal starts a workflow that waits for the next attempt.
 */
export async function finishFirstAttempts(
  trx: Trx,
  p: { kind: MessageKind; projectId: string; done: string[]; later: DeferredMessage[] },
): Promise<OutboxRow[]> {
  const { projectId, done, later } = p;
  const { deliver } = DIRECT[p.kind];
  if (done.length > 0) {
    await prepared`
      DELETE FROM outbox WHERE ref_id = ANY(${done}::uuid[]) AND kind = ${deliver} AND ${isOwnedBySql('project_id', projectId)}
    `.execute(trx);
  }
  if (later.length === 0) return [];
  await releaseMessages(
    trx,
    p,
    later.map(({ id }) => id),
  );
  return moveToTemporal(trx, p, later);
}

/**
 * Changes the outbox rows of messages so that Temporal makes their next attempt at `dueAt`. Used for messages whose
 * worker was killed, and for messages that wait for their sending window. Releases their claims, so that the result of
 * a worker that is still running is ignored. Returns the rows to pass to `outbox.wake`.
 */
export async function handOverMessages(
  trx: Trx,
  p: { kind: MessageKind; projectId: string; messages: DeferredMessage[] },
): Promise<OutboxRow[]> {
  await releaseMessages(
    trx,
    p,
    p.messages.map(({ id }) => id),
  );
  return moveToTemporal(trx, p, p.messages);
}

/** Clears the claim of messages, so that the next delivery can claim them. */
async function releaseMessages(
  trx: Trx,
  { kind, projectId }: { kind: MessageKind; projectId: string },
  ids: string[],
): Promise<void> {
  const { table, open } = DIRECT[kind];
  await sql`
    UPDATE ${table} m SET status = 'PENDING', delivery_id = NULL, claim = NULL
    WHERE m.id = ANY(${ids}::uuid[]) AND ${isOwnedBySql('m.project_id', projectId)} AND m.status IN ${open} AND m.sent_at IS NULL
  `.execute(trx);
}

async function moveToTemporal(
  trx: Trx,
  { kind, projectId }: { kind: MessageKind; projectId: string },
  messages: DeferredMessage[],
): Promise<OutboxRow[]> {
  const { deliver, retry } = DIRECT[kind];
  const { rows } = await sql<{ id: string; ref_id: string; payload: { dueAt: string; last?: LastAttempt } }>`
    UPDATE outbox o SET kind = ${retry}, priority = ${OUTBOX_PRIORITY[retry]}, attempts = 0, available_at = now(),
      payload = jsonb_strip_nulls(jsonb_build_object('dueAt', u.due_at, 'last', u.last))
    FROM unnest(${messages.map((m) => m.id)}::uuid[], ${messages.map((m) => m.dueAt.toISOString())}::text[],
      ${messages.map((m) => (m.last ? JSON.stringify(m.last) : null))}::jsonb[]) AS u (ref_id, due_at, last)
    WHERE o.ref_id = u.ref_id AND o.kind = ${deliver} AND ${isOwnedBySql('o.project_id', projectId)}
    RETURNING o.id, o.ref_id, o.payload
  `.execute(trx);
  return rows.map((row) => ({ id: row.id, projectId, kind: retry, refId: row.ref_id, payload: row.payload }));
}
