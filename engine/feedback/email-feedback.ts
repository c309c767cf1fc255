import { sql } from 'kysely';
import { markFiguresStaleSql } from '../../db/campaigns/stale-figures.ts';
import type { Trx } from '../../db/connection.ts';
import { findErasedAddresses, listHoldersOfErasedAddresses } from '../../db/contacts/erased-addresses.ts';
import { lockContacts } from '../../db/contacts/locks.ts';
import type { NewSuppression } from '../../db/contacts/suppressions.ts';
import { type Email, listEmailsOfAnyProject } from '../../db/emails/emails.ts';
import { isErasedSql } from '../../db/emails/erased-emails.ts';
import { checkRateGuards } from '../../db/sending/hold-guard.ts';
import { cutServerReply } from '../../rules/cut-text.ts';
import { isSenderRefused, toRefusalReason } from '../../rules/emails/attempt-outcome.ts';
import { emailDomain, normalizeEmail } from '../../rules/emails/email-address.ts';
import type { Feedback } from '../../rules/emails/email-feedback.ts';
import { listStatusesBefore } from '../../rules/emails/email-status.ts';
import type { Reason } from '../../rules/emails/reasons.ts';
import type { AboutMessage, AboutRecipient, AboutUs } from '../../rules/emails/refusal.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { recordEvents } from '../events/record-events.ts';
import { createEmailEvent } from '../sending/email-variables.ts';
import { findContactsByAddress, resolveHolders, suppressAddresses } from './suppress-addresses.ts';

type FoundEmail = Email & { projectId: string };

export interface FeedbackRequest {
  /** The email's id. The caller has verified the id, by a signed return path or a provider's signed callback. */
  emailId: string;
  feedback: Feedback;
  suppressionKey: Buffer;
  /** The source of the suppression: a provider such as `ses`, a bounce message (`dsn`) or a complaint (`arf`). */
  source: string;
}

export interface FeedbackResult {
  /**
   * `known`: the feedback was recorded earlier, or has no new information. `unknown`: no email has this id, or a test
   * key created the email.
   */
  outcome: 'recorded' | 'known' | 'unknown';
  /** The rows to pass to `outbox.wake` after the commit. */
  outbox: OutboxRow[];
  /**
   * Set if a mail server refused the email because of its sender. Such refusals may put the project on hold (see
   * `checkRefusalGuard`). `domain` is the recipient's domain.
   */
  refusal?: { projectId: string; domain: string };
}

/**
 * Records feedback about an email in the caller's transaction: the email's status (which only moves forward), its time,
 * and its event. A refusal of the sender or of the message only sets the status FAILED. A hard bounce or a complaint
 * also suppresses the address and unsubscribes the contact. Feedback may arrive twice and in any order. Each kind of
 * feedback counts once for each email. The exception is a Permanent bounce after a Transient bounce, which counts too.
 * A later complaint about the same email suppresses the address again. Source: contract §8.2, §9.7.
 */
export async function recordFeedback(trx: Trx, p: FeedbackRequest): Promise<FeedbackResult> {
  const email = await lockContactOfEmail(trx, p.emailId);
  // An email of a test key was never transmitted, so no report can be about it.
  if (!email || email.mode === 'test') return { outcome: 'unknown', outbox: [] };
  const { feedback } = p;
  if (feedback.kind === 'delivery') return recordDelivery(trx, email, feedback.at);
  if (feedback.kind === 'complaint') return recordComplaint(trx, email, { ...p, at: feedback.at });
  const { at, words, refusal } = feedback;
  if (refusal.about === 'recipient') return recordBounce(trx, email, { ...p, at, words, refusal });
  return recordRejection(trx, email, { at, words, refusal });
}

/**
 * Returns the email after locking its contact. Reads the email again if the contact was erased before the lock, so that
 * only the hash of the address is known.
 */
async function lockContactOfEmail(trx: Trx, id: string): Promise<FoundEmail | undefined> {
  const [email] = await listEmailsOfAnyProject(trx, [id]);
  if (!email?.contactId) return email;
  const locked = await lockContacts(trx, { projectId: email.projectId, ids: [email.contactId] });
  return locked.has(email.contactId) ? email : (await listEmailsOfAnyProject(trx, [id]))[0];
}

async function recordDelivery(trx: Trx, email: FoundEmail, at: Date): Promise<FeedbackResult> {
  const isNew = await applyUpdate(
    trx,
    sql`UPDATE emails SET delivered_at = ${at}, status = ${advancedStatusSql('DELIVERED')} WHERE id = ${email.id} AND delivered_at IS NULL`,
  );
  if (!isNew) return KNOWN;
  return toRecordedResult(await recordEmailEvent(trx, email, 'email.delivery', { deliveredAt: at.toISOString() }));
}

type ReportOrigin = Pick<FeedbackRequest, 'suppressionKey' | 'source'> & { at: Date };

async function recordComplaint(trx: Trx, email: FoundEmail, p: ReportOrigin): Promise<FeedbackResult> {
  const isNew = await applyUpdate(
    trx,
    sql`UPDATE emails SET complained_at = ${p.at}, status = ${advancedStatusSql('COMPLAINED')} WHERE id = ${email.id} AND complained_at IS NULL`,
  );
  // A person who subscribed again may report the same email again, which is a new refusal.
  const isRepeated = !isNew && email.complainedAt !== null && p.at > email.complainedAt;
  if (isRepeated)
    return { outcome: 'known', outbox: await suppressRecipient(trx, email, { ...p, because: 'complaint' }) };
  if (!isNew) return KNOWN;
  const outbox = await recordEmailEvent(trx, email, 'email.complaint', { complainedAt: p.at.toISOString() });
  outbox.push(...(await suppressRecipient(trx, email, { ...p, because: 'complaint' })));
  outbox.push(...(await countForGuards(trx, email, { dead: 0, complaints: 1 })));
  return toRecordedResult(outbox);
}

/**
 * Marks an email as failed after a mail server refused it because of the sender or the message. The contact does not
 * change, because its mailbox is not the cause.
 */
async function recordRejection(
  trx: Trx,
  email: FoundEmail,
  { refusal, at, words }: { refusal: AboutUs | AboutMessage; at: Date; words: string },
): Promise<FeedbackResult> {
  const before = listStatusesBefore('FAILED');
  const isNew = await applyUpdate(
    trx,
    sql`
      UPDATE emails SET status = 'FAILED', failed_at = ${at}, ${reasonColumnsSql(toRefusalReason(refusal), words)}
      WHERE id = ${email.id} AND status = ANY(${before}::text[])`,
  );
  if (!isNew) return KNOWN;
  return isSenderRefused(refusal) ? { ...toRecordedResult([]), ...toSenderRefusal(email) } : toRecordedResult([]);
}

/** Returns the assignments for a refusal. The reply usually contains the address, so an erased email stores no reply. */
function reasonColumnsSql(reason: Reason, words: string) {
  const error = cutServerReply(words);
  return sql`reason = ${reason}, error = CASE WHEN NOT ${isErasedSql('emails')} THEN ${error} END`;
}

async function recordBounce(
  trx: Trx,
  email: FoundEmail,
  p: ReportOrigin & { refusal: AboutRecipient; words: string },
): Promise<FeedbackResult> {
  const { refusal, at } = p;
  const { bounceType } = refusal;
  const isNew = await applyUpdate(
    trx,
    sql`
      UPDATE emails SET bounced_at = coalesce(bounced_at, ${at}), bounce_type = ${bounceType},
        ${reasonColumnsSql(toRefusalReason(refusal), p.words)}, status = ${advancedStatusSql('BOUNCED')}
      WHERE id = ${email.id} AND status <> 'FAILED'
        AND (bounced_at IS NULL OR (bounce_type = 'Transient' AND ${bounceType} = 'Permanent'))`,
  );
  if (!isNew) return KNOWN;
  const detail = bounceType === 'Permanent' ? { bouncedAt: at.toISOString() } : { transientBounce: true };
  const outbox = await recordEmailEvent(trx, email, 'email.bounce', { bounceType, ...detail });
  if (refusal.why === 'dead_mailbox') {
    outbox.push(...(await suppressRecipient(trx, email, { ...p, because: 'bounce' })));
    outbox.push(...(await countForGuards(trx, email, { dead: 1, complaints: 0 })));
  }
  return toRecordedResult(outbox);
}

/** Counts feedback for the bounce and complaint guards. Feedback of the simulator does not count. */
async function countForGuards(
  trx: Trx,
  { projectId, simulated }: FoundEmail,
  found: { dead: number; complaints: number },
): Promise<OutboxRow[]> {
  return simulated ? [] : (await checkRateGuards(trx, { projectId, emails: 0, ...found })).outbox;
}

/**
 * Suppresses the address of the email's recipient, and unsubscribes the contact that has the address now. A complaint
 * also suppresses the current address of the email's contact, unless a workflow step sent the email. If the contact was
 * erased, the stored hashes replace both addresses.
 */
async function suppressRecipient(
  trx: Trx,
  email: FoundEmail,
  p: ReportOrigin & { because: 'bounce' | 'complaint' },
): Promise<OutboxRow[]> {
  const { projectId, executionId: causeId } = email;
  const { suppressionKey, source, because } = p;
  const reported = await lockReportedAddresses(trx, email, p);
  return suppressAddresses(trx, {
    projectId,
    ended: [{ ...reported, causeId }],
    because,
    suppressionKey,
    source,
  });
}

/**
 * Finds the addresses that a report is about, and locks the contacts that have them now. After an erasure, only the
 * hash of the address is known. A bounce is about the mailbox. A complaint is about the person, so it also includes the
 * address that the contact has now. An email of a workflow step is an exception, because a step may send to another
 * person.
 */
async function lockReportedAddresses(
  trx: Trx,
  email: FoundEmail,
  { suppressionKey: key, because }: { suppressionKey: Buffer; because: 'bounce' | 'complaint' },
): Promise<{ addresses: NewSuppression['email'][]; contactIds: string[] }> {
  const { projectId, to, contactEmail } = email;
  const isAboutPerson = because === 'complaint';
  if (to === null && contactEmail === null) {
    const all = await findErasedAddresses(trx, { kind: 'email', id: email.id });
    const erased = all.filter(({ isRecipient }) => isRecipient || isAboutPerson);
    const contactIds = await listHoldersOfErasedAddresses(trx, key, erased);
    return { addresses: erased, contactIds: [...(await lockContacts(trx, { projectId, ids: contactIds }))] };
  }
  const isContacts = email.sourceType !== 'WORKFLOW' || to === null;
  const reported = [to ?? contactEmail, isAboutPerson && isContacts ? contactEmail : null];
  const addresses = [...new Set(reported.flatMap((address) => (address === null ? [] : normalizeEmail(address))))];
  const holders = await findContactsByAddress(trx, { projectId, addresses });
  const lockedContacts = await lockContacts(trx, { projectId, ids: [...holders.values()] });
  return resolveHolders(addresses, { holders, lockedContacts, suppressionKey: key });
}

function toSenderRefusal({ projectId, to, contactEmail }: FoundEmail): Pick<FeedbackResult, 'refusal'> {
  const domain = emailDomain(to ?? contactEmail ?? '');
  return domain === '' ? {} : { refusal: { projectId, domain } };
}

const KNOWN: FeedbackResult = { outcome: 'known', outbox: [] };

function toRecordedResult(outbox: OutboxRow[]): FeedbackResult {
  return { outcome: 'recorded', outbox };
}

function advancedStatusSql(to: 'DELIVERED' | 'BOUNCED' | 'COMPLAINED') {
  return sql`CASE WHEN status = ANY(${listStatusesBefore(to)}::text[]) THEN ${to} ELSE status END`;
}

async function applyUpdate(trx: Trx, update: ReturnType<typeof sql>): Promise<boolean> {
  const { rows } = await sql`
    WITH moved AS (${update} RETURNING id, campaign_id, project_id), touched AS (${markFiguresStaleSql(sql`SELECT * FROM moved`)})
    SELECT id FROM moved
  `.execute(trx);
  return rows.length > 0;
}

async function recordEmailEvent(
  trx: Trx,
  email: FoundEmail,
  name: string,
  detail: Record<string, unknown>,
): Promise<OutboxRow[]> {
  const event = { ...createEmailEvent(email, name, detail), causeId: email.executionId };
  return (await recordEvents(trx, { projectId: email.projectId, events: [event] })).outbox;
}
