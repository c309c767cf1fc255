import { sql } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { Reason } from '../../rules/emails/reasons.ts';
import { type SmsStatus, smsStatusesBefore } from '../../rules/sms/status.ts';
import type { Db } from '../connection.ts';

export interface ClaimedSms {
  id: string;
  projectId: string;
  to: string;
  from: string;
  body: string;
  mode: KeyMode;
  claim: number;
  attempts: number;
  /** False once the person has answered STOP. */
  consents: boolean;
}

/**
 * Takes SMS for one delivery, which keeps them: the first that takes one owns it, and takes it again after a crash.
 * Consent is read in the same statement, of the contact it is to and of whoever else has the number.
 */
export async function claimSms(
  db: Db,
  p: { projectId: string; messages: { id: string; deliveryId: string }[] },
): Promise<ClaimedSms[]> {
  const { rows } = await sql<ClaimedSms>`
    WITH n AS MATERIALIZED (SELECT nextval('claims') AS claim)
    UPDATE sms_messages s SET claim = n.claim, delivery_id = u.delivery_id, attempts = s.attempts + 1
    FROM n, unnest(${p.messages.map((m) => m.id)}::uuid[], ${p.messages.map((m) => m.deliveryId)}::uuid[]) AS u (id, delivery_id)
    WHERE s.project_id = ${p.projectId} AND s.id = u.id AND s.status = 'PENDING'
      AND (s.delivery_id IS NULL OR s.delivery_id = u.delivery_id)
    RETURNING s.id, s.project_id AS "projectId", s.to_phone AS "to", s.from_phone AS "from", s.body, s.mode, s.claim, s.attempts,
      NOT EXISTS (
        SELECT FROM contacts c WHERE c.project_id = s.project_id AND NOT c.sms_subscribed
          AND (c.id = s.contact_id OR c.phone = s.to_phone)) AS consents
  `.execute(db);
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** What became of one attempt to send an SMS. `later` keeps it PENDING. */
export type SmsOutcome =
  | { kind: 'accepted'; status: 'QUEUED' | 'SENT'; providerMessageId: string | null }
  | { kind: 'failed'; reason: Reason; error: string | null }
  | { kind: 'later'; error: string };

/**
 * Records an outcome; false when another attempt has taken the SMS since. A callback that came first keeps its status.
 */
export async function settleSms(
  db: Db,
  p: { projectId: string; id: string; claim: number; outcome: SmsOutcome },
): Promise<boolean> {
  const { outcome } = p;
  const status: SmsStatus =
    outcome.kind === 'accepted' ? outcome.status : outcome.kind === 'failed' ? 'FAILED' : 'PENDING';
  const sent = outcome.kind === 'accepted';
  const result = await sql`
    UPDATE sms_messages SET
      status = CASE WHEN status = ANY(${smsStatusesBefore(status)}::text[]) THEN ${status} ELSE status END,
      claim = NULL,
      reason = ${outcome.kind === 'failed' ? outcome.reason : null},
      error = coalesce(${sent ? null : outcome.error}, error),
      provider_message_id = coalesce(${sent ? outcome.providerMessageId : null}, provider_message_id),
      sent_at = CASE WHEN ${sent} THEN coalesce(sent_at, now()) ELSE sent_at END
    WHERE project_id = ${p.projectId} AND id = ${p.id} AND claim = ${p.claim}
  `.execute(db);
  return (result.numAffectedRows ?? 0n) > 0n;
}

/**
 * Records what the provider reports later, by our id or by the provider's; false when it changes nothing. The
 * callback's signature is the authority here, not a project: the caller has checked it.
 */
export async function reportSmsStatus(
  db: Db,
  p: { id: string | undefined; providerMessageId: string; status: SmsStatus; error: string | null },
): Promise<boolean> {
  const which = p.id === undefined ? sql`provider_message_id = ${p.providerMessageId}` : sql`id = ${p.id}`;
  const result = await sql`
    UPDATE sms_messages SET
      status = ${p.status}, error = coalesce(${p.error}, error),
      reason = CASE WHEN ${p.status} IN ('FAILED', 'UNDELIVERED') THEN 'provider_rejected' ELSE reason END,
      provider_message_id = coalesce(provider_message_id, ${p.providerMessageId}),
      sent_at = CASE WHEN ${p.status} IN ('SENT', 'DELIVERED') THEN coalesce(sent_at, now()) ELSE sent_at END,
      delivered_at = CASE WHEN ${p.status} = 'DELIVERED' THEN now() ELSE delivered_at END
    WHERE ${which} AND status = ANY(${smsStatusesBefore(p.status)}::text[])
  `.execute(db);
  return (result.numAffectedRows ?? 0n) > 0n;
}

/**
 * Records STOP or START of a number, for the contacts with that number in every project that sends from the number it
 * was written to; returns how many changed. It is consent to SMS and nothing else (contract §10.3).
 */
export async function setSmsConsent(db: Db, p: { phone: string; sender: string; consents: boolean }): Promise<number> {
  const result = await sql`
    UPDATE contacts SET sms_subscribed = ${p.consents}, updated_at = now()
    WHERE phone = ${p.phone} AND sms_subscribed <> ${p.consents}
      AND project_id IN (SELECT project_id FROM sms_senders WHERE from_phone = ${p.sender})
  `.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}
