import { type RawBuilder, sql } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { RecipientTiming } from '../../rules/campaigns/gate.ts';
import type { TrackingMode } from '../../rules/content/message-tracking.ts';
import { cutServerReply } from '../../rules/cut-text.ts';
import { type RecordedOutcome, toRefusalReason } from '../../rules/emails/attempt-outcome.ts';
import type { EmailOptions } from '../../rules/emails/email-options.ts';
import type { EmailStatus } from '../../rules/emails/email-status.ts';
import type { Reason, SuppressionReason } from '../../rules/emails/reasons.ts';
import type { KeyPads } from '../../rules/emails/suppression.ts';
import { readDataInRun } from '../../rules/executions/run.ts';
import type { Data } from '../../rules/filters/data-values.ts';
import { markUntrusted, type Sourced } from '../../rules/provenance/provenance.ts';
import type { SendingWindow } from '../../rules/time/sending-window.ts';
import type { Db, Trx } from '../connection.ts';
import { suppressionReasonSql } from '../contacts/suppressions.ts';
import { isErasedSql } from '../emails/erased-emails.ts';
import { type CarriedVariables, readVariableColumns } from '../emails/variable-columns.ts';
import { wasAdvancedSql } from '../executions/visits.ts';
import { isOwnedBySql } from '../owned-by.ts';
import { prepared } from '../prepared.ts';
import type { EmailType } from '../schema/contents.ts';
import type { SentEmailSource } from '../schema/emails.ts';
import { isOnTopicSql } from '../topics/contact-topics.ts';
import { type FrequencyCap, readFrequencyCap, takeEmailSlots, wouldGetSlot } from './frequency.ts';
import { isSimulatorSql } from './simulator-addresses.ts';

/** An email that this process has claimed, with all data that decides whether and how it is sent. */
export interface ClaimedEmail extends CarriedVariables {
  id: string;
  projectId: string;
  contentId: string;
  campaignId: string | null;
  executionId: string | null;
  /** Number of the visit whose step sends the email. */
  visit: number | null;
  sourceType: SentEmailSource;
  mode: KeyMode;
  /** Null after the contact was erased. */
  to: { email: string; name: string | null } | null;
  /** The number of the claim. A result is recorded only while the row still has this number. */
  claim: number;
  /** The number of this attempt; 1 for the first one. */
  attempts: number;
  createdAt: Date;
  /** Null if the email has no contact, or if the contact was deleted. */
  contact: {
    id: string;
    email: string;
    subscribed: boolean;
    pending?: boolean;
    data: Sourced<Data>;
  } | null;
  contentType: EmailType;
  /** True if the contact has not joined the topic of the email. */
  offTopic: boolean;
  /** True if the project's frequency cap allows the contact no more email now. */
  capped: boolean;
  project: {
    tracking: TrackingMode;
    timezone: string;
    held: boolean;
    monthlyEmailLimit: number | null;
  };
  /** The project's verified domain for the sender address. Null if the address is not on a verified domain. */
  senderDomain: { id: string; domain: string; signing: boolean; returnPathHost?: string | null } | null;
  suppressedBy: SuppressionReason | null;
  /**
   * Time zones of the project and the contact, and the sending window. The window is null if it does not affect the
   * email. It affects only MARKETING email of automations: the sender of an API request has chosen the time, and a
   * campaign checks the window for each chunk of recipients.
   */
  clock?: RecipientTiming;
  /** True if a user has moved the email's step past the sending window, so that the window does not delay the email. */
  advanced: boolean;
}

/**
 * Claims single emails for their deliveries, and returns them in the order of their ids. While an email is SENDING,
 * only the delivery that claimed it can claim it again. A second delivery of the same outbox row therefore finds no
 * email. If a crash left an email in SENDING, its own delivery claims it again with a new number. The same statement
 * reads consent, hold, suppressions and the sender's domain, so all of them are current and not those at the time of
 * acceptance.
 */
export async function claimEmails(
  db: Db,
  p: { projectId: string; emails: { id: string; deliveryId: string }[]; suppressionPads: KeyPads },
): Promise<ClaimedEmail[]> {
  if (p.emails.length === 0) return [];
  const { claimed, cap } = await readClaimedEmails(
    db,
    p,
    sql`n AS MATERIALIZED (SELECT nextval('claims') AS claim), t AS (
      UPDATE emails e SET status = 'SENDING', claim = n.claim, delivery_id = u.delivery_id, attempts = e.attempts + 1
      FROM n, unnest(${p.emails.map((m) => m.id)}::uuid[], ${p.emails.map((m) => m.deliveryId)}::uuid[]) AS u (id, delivery_id)
      WHERE e.id = u.id AND ${isOwnedBySql('e.project_id', p.projectId)}
        AND (e.status = 'PENDING' OR (e.status = 'SENDING' AND e.delivery_id = u.delivery_id))
      RETURNING e.*)`,
  );
  return cap ? takeCapSlots(db, { projectId: p.projectId, cap, claimed }) : claimed;
}

/**
 * Returns the data that a claim of an email without a row would return. `taken` is described at `readClaimedEmails`.
 * Writes nothing and takes no slot under the frequency cap.
 */
export async function previewClaim(
  db: Db,
  p: { projectId: string; suppressionPads: KeyPads },
  taken: RawBuilder<unknown>,
): Promise<ClaimedEmail | undefined> {
  const { claimed, cap } = await readClaimedEmails(db, p, taken);
  const [email] = claimed;
  if (!email?.contact || !cap || !isCountedByCap(email)) return email;
  const fits = await wouldGetSlot(db, { cap, id: email.id, contactId: email.contact.id });
  return { ...email, capped: !fits };
}

/**
 * Reads the data that decides whether and how emails are sent now, except the frequency cap.
 * @param taken CTEs: the CTE `t` has the emails in the form of rows of `emails`; a further CTE with the name of a table
 * replaces this table
 */
async function readClaimedEmails(
  db: Db,
  p: { projectId: string; suppressionPads: KeyPads },
  taken: RawBuilder<unknown>,
): Promise<{ claimed: ClaimedEmail[]; cap: FrequencyCap | null }> {
  const address = sql`coalesce(t.to_email, c.email)`;
  const reasonSqlForType = (type: EmailType): RawBuilder<string> =>
    suppressionReasonSql({ pads: p.suppressionPads, email: address, projectId: p.projectId, type });
  const { rows } = await prepared<ClaimedRow>`
    WITH ${taken}
    SELECT t.id, t.project_id, t.contact_id, t.content_id, t.campaign_id, t.execution_id, t.visit, t.source_type, t.mode, t.to_email,
      t.to_name, t.variables, t.options, t.claim, t.attempts, t.created_at,
      CASE WHEN t.source_type = 'WORKFLOW' AND k.type = 'MARKETING' THEN p.sending_window END AS sending_window, p.timezone,
      p.sending_window IS NOT NULL AND EXISTS (
        SELECT FROM execution_steps v WHERE v.execution_id = t.execution_id AND v.visit = t.visit AND ${wasAdvancedSql(sql`v`)}) AS advanced,
      c.id AS found_contact_id, c.email AS contact_email, c.subscribed, c.pending, c.data AS contact_data, c.untrusted_keys,
      k.type AS content_type, p.tracking, p.effective_held_at IS NOT NULL AS held, p.effective_monthly_email_limit AS monthly_email_limit,
      p.frequency_max, p.frequency_days,
      d.id AS domain_id, d.domain, d.signing, d.found->>'returnPathHost' AS return_path_host,
      k.topic_id IS NOT NULL AND NOT coalesce(${isOnTopicSql({ contact: sql`t.contact_id`, topic: sql`k.topic_id` })}, true) AS off_topic,
      CASE WHEN k.type = 'MARKETING' THEN (${reasonSqlForType('MARKETING')}) ELSE (${reasonSqlForType('TRANSACTIONAL')}) END AS suppressed_by
    FROM t
    JOIN projects p ON p.id = t.project_id
    JOIN contents k ON k.id = t.content_id AND ${isOwnedBySql('k.project_id', sql`t.project_id`)}
    LEFT JOIN contacts c ON c.id = t.contact_id AND ${isOwnedBySql('c.project_id', sql`t.project_id`)}
    LEFT JOIN domains d ON d.project_id = t.project_id AND d.status = 'VERIFIED'
      AND d.domain = lower(substring(k.from_email FROM '@([^@]*)$'))
    ORDER BY t.id
  `.execute(db);
  return { claimed: rows.map(toClaimed), cap: rows[0] ? readFrequencyCap(rows[0]) : null };
}

/**
 * Takes slots under the frequency cap for emails of campaigns and workflows that will be sent unless the cap prevents
 * it. Runs after the claim: after a crash between the two, the email is claimed again.
 */
async function takeCapSlots(
  db: Db,
  p: { projectId: string; cap: FrequencyCap; claimed: ClaimedEmail[] },
): Promise<ClaimedEmail[]> {
  const emails = p.claimed.flatMap((email) =>
    isCountedByCap(email) && email.contact ? [{ id: email.id, contactId: email.contact.id }] : [],
  );
  const refused = await takeEmailSlots(db, { projectId: p.projectId, cap: p.cap, emails });
  return p.claimed.map((email) => (refused.has(email.id) ? { ...email, capped: true } : email));
}

/** Tells whether the frequency cap counts an email: a live MARKETING email that nothing else prevents. */
function isCountedByCap(email: ClaimedEmail): boolean {
  if (email.contentType !== 'MARKETING' || email.sourceType === 'TRANSACTIONAL' || email.mode !== 'live') return false;
  const canBeSent = email.contact?.subscribed && !email.suppressedBy && !email.offTopic;
  return Boolean(canBeSent && email.senderDomain && !email.project.held);
}

/** Releases the claim of an email that was not attempted, as if it had not been claimed. Safe to run twice. */
export async function releaseEmail(db: Db, { id, projectId, claim }: ClaimedEmail): Promise<void> {
  await sql`
    UPDATE emails SET status = 'PENDING', attempts = attempts - 1, claim = NULL
    WHERE id = ${id} AND project_id = ${projectId} AND claim = ${claim} AND status = 'SENDING'
  `.execute(db);
}

/**
 * Finds the single emails that count towards the send rate. Emails of test keys and to simulator addresses do not
 * count, because they are not transmitted.
 */
export async function findEmailsUnderSendRate(db: Db, p: { projectId: string; ids: string[] }): Promise<Set<string>> {
  const { rows } = await prepared<{ id: string }>`
    SELECT id FROM emails WHERE id = ANY(${p.ids}::uuid[]) AND ${isOwnedBySql('project_id', p.projectId)} AND mode = 'live'
      AND NOT ${isSimulatorSql(sql`to_email`)}
  `.execute(db);
  return new Set(rows.map((row) => row.id));
}

/** The result of an attempt, with the number of its claim. */
export interface EmailSettlement {
  id: string;
  claim: number;
  outcome: RecordedOutcome;
}

/**
 * The part of an email that an erasure removed during the attempt: the recipient, or, for a copy of an erased contact's
 * email, only the text. Null if the email was not erased.
 */
export type ErasedPart = 'recipient' | 'text' | null;

/**
 * Records the results of claimed emails with one statement, in the caller's transaction. Returns the ids of the
 * recorded emails, each with the part that was erased. The result does not contain an email that another attempt has
 * claimed in the meantime. If a provider's callback has already set a later status, that status stays. If the attempt's
 * result is then SENT, the other columns are recorded. Otherwise nothing is recorded, and the result does not contain
 * the email. For an email that becomes HELD, the attempt does not count. For an email whose contact was erased, the
 * statement stores neither the provider's reply, which usually contains the address, nor the Message-ID.
 */
export async function settleEmails(
  trx: Trx,
  p: { projectId: string; settlements: EmailSettlement[] },
): Promise<Map<string, ErasedPart>> {
  const { projectId } = p;
  const sorted = [...p.settlements].sort((a, b) => (a.id < b.id ? -1 : 1));
  if (sorted.length === 0) return new Map();
  const columns = sorted.map(({ outcome }) => toOutcomeColumns(outcome));
  const { rows } = await prepared<{ id: string; erased: ErasedPart }>`
    UPDATE emails e SET
      status = CASE WHEN e.status = 'SENDING' THEN u.status ELSE e.status END,
      claim = NULL, attempts = e.attempts - (u.status = 'HELD')::int, reason = u.reason,
      error = CASE WHEN NOT ${isErasedSql('e')} THEN u.error END, bounce_type = u.bounce_type,
      provider_message_id = CASE WHEN ${isErasedSql('e')} THEN e.provider_message_id
        ELSE coalesce(u.provider_message_id, e.provider_message_id) END,
      sent_at = CASE WHEN u.status = 'SENT' THEN now() ELSE e.sent_at END,
      bounced_at = CASE WHEN u.status = 'BOUNCED' THEN now() ELSE e.bounced_at END,
      failed_at = CASE WHEN u.status = 'FAILED' THEN now() ELSE e.failed_at END
    FROM unnest(${sorted.map((s) => s.id)}::uuid[], ${sorted.map((s) => s.claim)}::bigint[],
      ${columns.map((c) => c.status)}::text[], ${columns.map((c) => c.reason)}::text[],
      ${columns.map((c) => c.error)}::text[], ${columns.map((c) => c.bounceType)}::text[],
      ${columns.map((c) => c.providerMessageId)}::text[]) AS u (id, claim, status, reason, error, bounce_type, provider_message_id)
    WHERE e.id = u.id AND ${isOwnedBySql('e.project_id', projectId)} AND e.claim = u.claim AND e.sent_at IS NULL
      AND (e.status = 'SENDING' OR u.status = 'SENT')
    RETURNING e.id, CASE WHEN ${isErasedSql('e')} THEN 'recipient' WHEN e.options ? 'erased' THEN 'text' END AS erased
  `.execute(trx);
  return new Map(rows.map((row) => [row.id, row.erased]));
}

interface OutcomeColumns {
  status: EmailStatus;
  reason: Reason | null;
  error: string | null;
  bounceType: string | null;
  providerMessageId: string | null;
}

function toOutcomeColumns(outcome: RecordedOutcome): OutcomeColumns {
  const none = { reason: null, error: null, bounceType: null, providerMessageId: null };
  switch (outcome.kind) {
    case 'accepted':
      return { ...none, status: 'SENT', providerMessageId: outcome.providerMessageId };
    case 'failed':
      return { ...none, status: 'FAILED', reason: outcome.reason, error: cutError(outcome.error) };
    case 'bounced':
      return {
        ...none,
        status: 'BOUNCED',
        reason: toRefusalReason(outcome.refusal),
        error: cutError(outcome.error),
        bounceType: outcome.refusal.bounceType,
      };
    case 'held':
      return { ...none, status: 'HELD' };
    case 'deferred':
      return { ...none, status: 'SENDING', error: cutError(outcome.error) };
  }
}

function cutError(text: string | null): string | null {
  return text === null ? null : cutServerReply(text);
}

interface ClaimedRow {
  id: string;
  project_id: string;
  contact_id: string | null;
  content_id: string;
  campaign_id: string | null;
  execution_id: string | null;
  visit: number | null;
  source_type: SentEmailSource;
  mode: KeyMode;
  to_email: string | null;
  to_name: string | null;
  variables: Data | null;
  options: EmailOptions | null;
  claim: number;
  attempts: number;
  created_at: Date;
  found_contact_id: string | null;
  contact_email: string | null;
  subscribed: boolean | null;
  pending: boolean | null;
  contact_data: Data | null;
  untrusted_keys: string[] | null;
  content_type: EmailType;
  off_topic: boolean;
  frequency_max: number | null;
  frequency_days: number | null;
  tracking: ClaimedEmail['project']['tracking'];
  held: boolean;
  monthly_email_limit: number | null;
  domain_id: string | null;
  domain: string | null;
  signing: boolean | null;
  return_path_host: string | null;
  suppressed_by: SuppressionReason | null;
  sending_window: SendingWindow | null;
  timezone: string;
  advanced: boolean;
}

function toClaimed(row: ClaimedRow): ClaimedEmail {
  const address = row.to_email ?? row.contact_email;
  return {
    id: row.id,
    projectId: row.project_id,
    contentId: row.content_id,
    campaignId: row.campaign_id,
    executionId: row.execution_id,
    visit: row.visit,
    sourceType: row.source_type,
    mode: row.mode,
    to: address === null ? null : { email: address, name: row.to_name },
    ...readVariableColumns(row),
    claim: row.claim,
    attempts: row.attempts,
    createdAt: row.created_at,
    contact: row.found_contact_id === null ? null : toContact(row, row.found_contact_id),
    contentType: row.content_type,
    offTopic: row.off_topic,
    capped: false,
    project: {
      tracking: row.tracking,
      timezone: row.timezone,
      held: row.held,
      monthlyEmailLimit: row.monthly_email_limit,
    },
    senderDomain:
      row.domain_id === null || row.domain === null
        ? null
        : { id: row.domain_id, domain: row.domain, signing: row.signing ?? true, returnPathHost: row.return_path_host },
    suppressedBy: row.suppressed_by,
    clock: {
      zone: readZone(row.contact_data),
      projectZone: row.timezone,
      window: row.options?.sandbox?.skipDelays ? null : row.sending_window,
    },
    advanced: row.advanced,
  };
}

function readZone(data: Data | null): string | null {
  return typeof data?.timezone === 'string' ? data.timezone : null;
}

/** Returns the contact of an email. For an email of a sandbox, returns the contact as the sandbox has changed it. */
function toContact(row: ClaimedRow, id: string): NonNullable<ClaimedEmail['contact']> {
  const run = row.options?.sandbox?.contact;
  return {
    id,
    email: row.contact_email ?? '',
    subscribed: run?.subscribed ?? row.subscribed ?? false,
    pending: row.pending ?? false,
    data: readDataInRun(run, markUntrusted(row.contact_data ?? {}, row.untrusted_keys)),
  };
}
