import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { RecipientOutcome } from '../../rules/campaigns/outcomes.ts';
import { toSearchForms } from '../../rules/emails/email-address.ts';
import type { EmailStatus } from '../../rules/emails/email-status.ts';
import { escapeLike } from '../escape-like.ts';
import { notBeforeSql } from './chunk-clock.ts';
import { OUTCOME_OF_E } from './outcomes.ts';

/** One recipient of a campaign: the recipient's row of the ledger. `email` is null after the contact was erased. */
export interface CampaignRecipientRow {
  id: string;
  contactId: string | null;
  email: string | null;
  status: EmailStatus;
  reason: string | null;
  error: string | null;
  attempts: number;
  /**
   * Name of the recipient's variant. Null if the campaign has no variants, for a recipient who waits for the winner,
   * and for a recipient who was skipped before variants were assigned.
   */
  variant: string | null;
  /**
   * The earliest time at which the email may be sent, if the recipient waits because of a time zone or a sending
   * window.
   */
  notBefore: Date | null;
  sentAt: Date | null;
  deliveredAt: Date | null;
  openedAt: Date | null;
  clickedAt: Date | null;
  bouncedAt: Date | null;
  unsubscribedAt: Date | null;
}

export interface RecipientFilter {
  statuses?: EmailStatus[] | undefined;
  reasons?: string[] | undefined;
  /** Selects the recipients that the statistics count as this outcome. */
  outcome?: RecipientOutcome | undefined;
  /** A substring of the address, in upper or lower case. */
  search?: string | undefined;
}

/** SQL list of the statuses of recipients who still have to get the email. */
export const OPEN_RECIPIENTS = sql.raw(`('PENDING', 'SENDING', 'HELD')`);

/**
 * The columns of a recipient `e` of `emails` with its contact `c`. `email` is the address to which the email was sent,
 * or the contact's current address if the email was not sent yet.
 */
export const RECIPIENT_COLUMNS = sql`e.id, e.contact_id AS "contactId",
  CASE WHEN e.contact_id IS NOT NULL THEN coalesce(e.to_email, c.email) END AS email, e.status,
  e.reason, e.error, e.attempts, e.sent_at AS "sentAt", e.delivered_at AS "deliveredAt", e.opened_at AS "openedAt",
  e.clicked_at AS "clickedAt", e.bounced_at AS "bouncedAt", e.unsubscribed_at AS "unsubscribedAt",
  CASE WHEN e.variant IS NOT NULL THEN (SELECT k.variants->e.variant->>'name' FROM campaigns k WHERE k.id = e.campaign_id) END AS variant,
  ${notBeforeSql('e')} AS "notBefore"`;

/**
 * SQL condition that a row belongs to the campaign, for rows within a range of ids. The condition is written so that
 * Postgres cannot use an index for it. Otherwise the planner would read the whole campaign by the index (campaign_id,
 * contact_id) for each chunk of a large campaign. The range of ids is enough to find the rows.
 */
export function isOfCampaignSql(column: RawBuilder<unknown>, p: { campaignId: string }): RawBuilder<boolean> {
  return sql<boolean>`(${column} = ${p.campaignId}::uuid) IS TRUE`;
}

/** SQL condition that a row `e` of `emails` matches the whole filter. */
export function matchesFilterSql(p: RecipientFilter): RawBuilder<SqlBool> {
  const ofReason = p.reasons ? sql<SqlBool>`e.reason = ANY(${p.reasons}::text[])` : sql<SqlBool>`true`;
  return sql<SqlBool>`${hasStatusSql(p)} AND ${ofReason} AND ${hasOutcomeSql(p)} AND ${hasAddressSql(p)}`;
}

/** SQL condition that the row has one of the filter's statuses. */
export function hasStatusSql({ statuses }: RecipientFilter): RawBuilder<SqlBool> {
  return statuses ? sql<SqlBool>`e.status = ANY(${statuses}::text[])` : sql<SqlBool>`true`;
}

/** SQL condition that the row has the filter's outcome. */
export function hasOutcomeSql({ outcome }: RecipientFilter): RawBuilder<SqlBool> {
  return outcome ? OUTCOME_OF_E[outcome] : sql<SqlBool>`true`;
}

/**
 * SQL condition that the address contains the filter's search text. Uses the address stored with the email. The
 * contact's address is used only for recipients who were not sent to yet.
 */
export function hasAddressSql({ search }: RecipientFilter): RawBuilder<SqlBool> {
  if (!search) return sql<SqlBool>`true`;
  const part = `%${toLikeText(search)}%`;
  return sql<SqlBool>`CASE WHEN e.to_email IS NOT NULL THEN e.to_email LIKE ${part} ELSE EXISTS (
    SELECT FROM contacts c WHERE c.id = e.contact_id AND c.project_id = e.project_id AND c.email LIKE ${part}) END`;
}

/** Returns the search text in lower case, like the stored addresses, and escaped for LIKE. */
export function toLikeText(search: string): string {
  return escapeLike(toSearchForms(search).at(-1) ?? search);
}
