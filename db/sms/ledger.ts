import { type SqlBool, sql } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { RecipientTiming } from '../../rules/campaigns/gate.ts';
import type { Reason } from '../../rules/emails/reasons.ts';
import type { KeyPads } from '../../rules/emails/suppression.ts';
import { listSmsStatusesBefore, type SmsStatus } from '../../rules/sms/status.ts';
import type { Db, Trx } from '../connection.ts';
import type { ClockRow } from '../contacts/clock.ts';
import { wasAdvancedSql } from '../executions/visits.ts';
import { isOwnedBySql } from '../owned-by.ts';
import { addSmsStops, isSmsStoppedSql, liftSmsStops } from './stops.ts';

export interface ClaimedSms {
  id: string;
  projectId: string;
  contactId: string | null;
  to: string;
  from: string;
  body: string;
  mode: KeyMode;
  claim: number;
  attempts: number;
  /** False if a stop or a missing consent prevents the SMS (`isSmsStoppedSql`). */
  consents: boolean;
  /**
   * Time zones of the project and the contact, and the sending window. The window is null if it does not affect the
   * SMS. It affects only marketing SMS of automations. It does not affect a sandbox, whose step has waited if it had to.
   */
  clock: RecipientTiming;
  /** True if a user has moved the SMS's step past the sending window, so that the window does not delay the SMS. */
  advanced: boolean;
}

/**
 * Claims SMS for their deliveries. Until the claim is released, only the delivery that claimed an SMS can claim it
 * again, for example after a crash. The same statement reads consent (`isSmsStoppedSql`) and the sending window.
 */
export async function claimSms(
  db: Db,
  p: { projectId: string; messages: { id: string; deliveryId: string }[]; pads: KeyPads },
): Promise<ClaimedSms[]> {
  const marketing = sql<SqlBool>`coalesce(s.marketing, s.execution_id IS NOT NULL)`;
  const { rows } = await sql<Omit<ClaimedSms, 'clock'> & ClockRow>`
    WITH n AS MATERIALIZED (SELECT nextval('claims') AS claim), s AS (
      UPDATE sms_messages m SET claim = n.claim, delivery_id = u.delivery_id, attempts = m.attempts + 1
      FROM n, unnest(${p.messages.map((m) => m.id)}::uuid[], ${p.messages.map((m) => m.deliveryId)}::uuid[]) AS u (id, delivery_id)
      WHERE m.project_id = ${p.projectId} AND m.id = u.id AND m.status = 'PENDING'
        AND (m.delivery_id IS NULL OR m.delivery_id = u.delivery_id)
      RETURNING m.*)
    SELECT s.id, s.project_id AS "projectId", s.contact_id AS "contactId", s.to_phone AS "to", s.from_phone AS "from", s.body, s.mode, s.claim, s.attempts,
      NOT ${isSmsStoppedSql({
        pads: p.pads,
        projectId: sql`s.project_id`,
        to: sql`s.to_phone`,
        from: sql`s.from_phone`,
        contactId: sql`s.contact_id`,
        marketing,
      })} AS consents,
      c.data->>'timezone' AS zone, p.timezone AS "projectZone",
      CASE WHEN s.execution_id IS NOT NULL AND ${marketing} AND NOT s.sandbox THEN p.sending_window END AS window,
      p.sending_window IS NOT NULL AND EXISTS (
        SELECT FROM execution_steps v WHERE v.execution_id = s.execution_id AND v.output->>'smsId' = s.id::text
          AND ${wasAdvancedSql(sql`v`)}) AS advanced
    FROM s JOIN projects p ON p.id = s.project_id
    LEFT JOIN contacts c ON c.id = s.contact_id AND ${isOwnedBySql('c.project_id', sql`s.project_id`)}
    ORDER BY s.id
  `.execute(db);
  return rows.map(({ zone, projectZone, window, ...sms }) => ({ ...sms, clock: { zone, projectZone, window } }));
}

/** Releases the claim of an SMS that was not attempted, as if it had not been claimed. Safe to run twice. */
export async function releaseSms(db: Db, { id, projectId, claim }: ClaimedSms): Promise<void> {
  await sql`
    UPDATE sms_messages SET attempts = attempts - 1, claim = NULL
    WHERE id = ${id} AND project_id = ${projectId} AND claim = ${claim}
  `.execute(db);
}

/** Result of one attempt to send an SMS. After `deferred`, the SMS stays PENDING. */
export type SmsOutcome =
  | { kind: 'accepted'; status: 'QUEUED' | 'SENT'; providerMessageId: string | null }
  | { kind: 'failed'; reason: Reason; error: string | null }
  | { kind: 'deferred'; error: string };

/**
 * Records a result. Returns false if another attempt has claimed the SMS in the meantime. If a callback has already
 * reported the SMS, its status, reason and error stay. This also covers an attempt whose response was lost.
 */
export async function settleSms(
  db: Db,
  p: { projectId: string; id: string; claim: number; outcome: SmsOutcome },
): Promise<boolean> {
  const { outcome } = p;
  const status: SmsStatus =
    outcome.kind === 'accepted' ? outcome.status : outcome.kind === 'failed' ? 'FAILED' : 'PENDING';
  const sent = outcome.kind === 'accepted';
  const isNews = sql`status = ANY(${status === 'PENDING' ? ['PENDING'] : listSmsStatusesBefore(status)}::text[])`;
  const result = await sql`
    UPDATE sms_messages SET
      status = CASE WHEN ${isNews} THEN ${status} ELSE status END,
      claim = NULL,
      reason = CASE WHEN ${isNews} THEN ${outcome.kind === 'failed' ? outcome.reason : null} ELSE reason END,
      error = CASE WHEN ${isNews} THEN ${sent ? null : outcome.error} ELSE error END,
      provider_message_id = coalesce(${sent ? outcome.providerMessageId : null}, provider_message_id),
      sent_at = CASE WHEN ${sent} THEN coalesce(sent_at, now()) ELSE sent_at END
    WHERE project_id = ${p.projectId} AND id = ${p.id} AND claim = ${p.claim}
  `.execute(db);
  return (result.numAffectedRows ?? 0n) > 0n;
}

/** The project, the contact and the phone numbers of an SMS whose status a report has changed. */
export interface ReportedSms {
  projectId: string;
  contactId: string | null;
  /** Empty after the contact was erased. */
  to: string;
  from: string;
}

/**
 * Records a later report of the provider, by the id of the SMS or the provider's id. Undefined if the report changes
 * nothing. Stores no error of an erased SMS, because the error may contain the number. Does not check the project: the caller has verified the signature of the callback.
 */
export async function recordSmsReport(
  db: Db,
  p: { id: string | undefined; providerMessageId: string; status: SmsStatus; reason: Reason; error: string | null },
): Promise<ReportedSms | undefined> {
  const which = p.id === undefined ? sql`provider_message_id = ${p.providerMessageId}` : sql`id = ${p.id}`;
  const { rows } = await sql<ReportedSms>`
    UPDATE sms_messages SET
      status = ${p.status}, error = CASE WHEN to_phone <> '' THEN ${p.error} END,
      reason = CASE WHEN ${p.status} IN ('FAILED', 'UNDELIVERED') THEN ${p.reason} ELSE reason END,
      provider_message_id = coalesce(provider_message_id, ${p.providerMessageId}),
      sent_at = CASE WHEN ${p.status} IN ('SENT', 'DELIVERED') THEN coalesce(sent_at, now()) ELSE sent_at END,
      delivered_at = CASE WHEN ${p.status} = 'DELIVERED' THEN now() ELSE delivered_at END
    WHERE ${which} AND status = ANY(${listSmsStatusesBefore(p.status)}::text[])
    RETURNING project_id AS "projectId", contact_id AS "contactId", to_phone AS "to", from_phone AS "from"
  `.execute(db);
  return rows[0];
}

/**
 * Records that a person sent STOP or START from a number to a sender. Applies to the given projects, or to all projects
 * that send, or have sent, from the sender. Only changes the consent to SMS (contract §10.3 SMS consent). Safe to run
 * twice.
 */
export async function setSmsConsent(
  trx: Trx,
  key: Buffer,
  p: { phone: string; sender: string; consents: boolean; projectIds?: readonly string[] },
): Promise<void> {
  const { phone, sender } = p;
  for (const projectId of p.projectIds ?? (await listProjectsForSms(trx, p))) {
    if (p.consents) await liftSmsStops(trx, key, { projectId, phone, from: sender });
    else {
      const stops = [{ phone, from: sender, source: 'twilio', actor: 'contact' }];
      await addSmsStops(trx, key, { projectId, stops });
    }
  }
}

/**
 * Lists the projects that send from a number, in the order of their ids. Includes projects that have sent from the
 * number to this person and have removed the sender since.
 */
export async function listProjectsForSms(db: Db, p: { phone: string; sender: string }): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT project_id AS id FROM sms_senders WHERE from_phone = ${p.sender}
    UNION SELECT project_id FROM sms_messages
    WHERE to_phone = ${p.phone} AND to_phone <> '' AND from_phone = ${p.sender}
    ORDER BY id`.execute(db);
  return rows.map(({ id }) => id);
}
