import { sql } from 'kysely';
import { cutServerReply } from '../../rules/cut-text.ts';
import { EMAIL_PROVIDERS, type EmailProviderKind } from '../../rules/emails/email-providers.ts';
import type { Db } from '../connection.ts';
import { isErasedSql } from '../emails/erased-emails.ts';
import { insertProviderMessagesSql } from '../emails/provider-messages.ts';
import { hasListenersSql } from '../events/listeners.ts';
import { prepared } from '../prepared.ts';
import { countOutcomesSql } from '../sending/hold-guard.ts';
import { markFiguresStaleSql } from './stale-figures.ts';

/** An email that the provider deferred, with the provider's reply. */
export interface Deferred {
  id: string;
  claim: number;
  error: string;
}

/** Emails that the provider accepted. `ids`, `claims` and `providerIds` have one value per email, in the same order. */
export interface SentEmails {
  ids: string[];
  claims: number[];
  /** The provider's ids of the messages; null for providers without such ids. */
  providerIds: (string | null)[];
  /** The projects of the emails, without duplicates. */
  projectIds: string[];
  /**
   * The provider. Message ids are stored in `ses_messages` if the provider's callbacks identify emails by these ids.
   */
  source: EmailProviderKind;
}

/** Result of `recordSentEmails`. */
export interface CompletedSent {
  /**
   * The number of emails that this call completed. If the number is lower than the number of emails passed in, the
   * other emails were completed before, were claimed by other processes, or belong to the `listening` projects.
   */
  counted: number;
  /** True if a mailbox provider has recently refused email of one of these projects (see `countWatchedEmails`). */
  watched: boolean;
  /** Projects for which nothing was recorded, because a workflow or webhook endpoint reacts to their events. */
  listening: string[];
}

/**
 * Records accepted emails, each with its event `email.sent`. The event has no payload; the payload is derived from the
 * email when the event is read, so a million events store no text. Records emails only for projects without a workflow
 * or endpoint that reacts to the event. For other projects, the caller uses `recordEvents`. If a provider's callback
 * has already set a later status, that status stays.
 */
export async function recordSentEmails(db: Db, p: SentEmails): Promise<CompletedSent> {
  const done = sql`
    UPDATE emails e SET status = CASE WHEN e.status = 'SENDING' THEN 'SENT' ELSE e.status END, sent_at = now(), error = NULL,
      provider_message_id = d.provider_id
    FROM unnest(${toPlainArray(p.ids)}::uuid[], ${toPlainArray(p.claims)}::bigint[], ${providerIdsToStore(p)}::text[]) AS d (id, claim, provider_id)
    WHERE e.id = d.id AND e.claim = d.claim AND e.sent_at IS NULL AND e.project_id <> ALL (ARRAY(SELECT id FROM listening))`;
  const byProject = sql`
    SELECT project_id, count(*)::int AS mails, 0 AS dead, 0 AS complaints FROM done WHERE mode = 'live' GROUP BY project_id`;
  // Includes emails that this call did not complete: an email that was transmitted twice has two ids.
  const handedOver = sql`
    SELECT d.provider_id, e.project_id, e.id FROM unnest(${toPlainArray(p.ids)}::uuid[], ${providerIdsToStore(p)}::text[]) AS d (id, provider_id)
    JOIN emails e ON e.id = d.id WHERE d.provider_id IS NOT NULL`;
  const { rows } = await prepared<CompletedSent>`
    WITH listening AS MATERIALIZED (
        SELECT p.id FROM unnest(${p.projectIds}::uuid[]) AS p (id) WHERE ${hasListenersSql(sql`p.id`, 'email.sent')}),
      done AS (${done} RETURNING e.project_id, e.contact_id, e.id, e.mode, e.campaign_id, e.status),
      late AS (${markFiguresStaleSql(sql`SELECT * FROM done WHERE status <> 'SENT'`)}),
      noted AS (
        INSERT INTO events (project_id, contact_id, email_id, name) SELECT project_id, contact_id, id, 'email.sent' FROM done),
      ${EMAIL_PROVIDERS[p.source].tellsById ? sql`known AS (${insertProviderMessagesSql(handedOver)}),` : sql``}
      counts AS (${countOutcomesSql(byProject)})
    SELECT count(*) AS counted,
      EXISTS (SELECT FROM provider_outcomes w WHERE w.project_id IN (SELECT project_id FROM done)) AS watched,
      ARRAY(SELECT id FROM listening) AS listening
    FROM done
  `.execute(db);
  return rows[0] ?? { counted: 0, watched: false, listening: [] };
}

/**
 * Sets deferred emails back to PENDING, so that they are claimed again. Stores no reply if the contact was erased.
 * Returns the number of changed emails.
 */
export async function requeueDeferredEmails(db: Db, rows: Deferred[]): Promise<number> {
  if (rows.length === 0) return 0;
  const result = await sql`
    UPDATE emails e SET status = 'PENDING', error = CASE WHEN NOT ${isErasedSql('e')} THEN d.error END
    FROM unnest(${rows.map((r) => r.id)}::uuid[], ${rows.map((r) => r.claim)}::bigint[],
      ${rows.map((r) => cutServerReply(r.error))}::text[]) AS d (id, claim, error)
    WHERE e.id = d.id AND e.claim = d.claim AND e.sent_at IS NULL
  `.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}

/**
 * Returns the ids of the emails that still have this claim and whose result (sent or deferred) was recorded. Used when
 * the connection was lost before the response to a commit.
 */
export async function findCompletedEmails(db: Db, p: { ids: string[]; claims: number[] }): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    SELECT e.id FROM unnest(${p.ids}::uuid[], ${p.claims}::bigint[]) AS d (id, claim)
    JOIN emails e ON e.id = d.id AND e.claim = d.claim AND e.status <> 'SENDING'
  `.execute(db);
  return new Set(rows.map((row) => row.id));
}

/**
 * Formats a Postgres array of values that need no quotes. Faster than the driver, which checks each value for
 * characters to escape.
 */
function toPlainArray(values: (string | number)[]): string {
  return `{${values.join(',')}}`;
}

/**
 * Returns the ids for `unnest`. Returns an empty array if no email has an id, because `unnest` fills shorter arrays
 * with NULL.
 */
function providerIdsToStore({ providerIds }: SentEmails): (string | null)[] {
  return providerIds.some((id) => id !== null) ? providerIds : [];
}
