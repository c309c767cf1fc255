import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { CopyOptions, EmailOptions } from '../../rules/emails/email-options.ts';
import type { EmailHappened, EmailSourceType } from '../../rules/emails/email-source.ts';
import type { EmailStatus } from '../../rules/emails/email-status.ts';
import { AppError } from '../../rules/errors.ts';
import type { Data } from '../../rules/filters/data-values.ts';
import type { HeaderMailbox } from '../../rules/mime/mime-headers.ts';
import { markUntrusted, type Sourced } from '../../rules/provenance/provenance.ts';
import type { Db } from '../connection.ts';
import { earliestIdSql, latestIdSql } from '../id-time.ts';
import { afterCursorSql, type Page, type PageRequest, toPage } from '../keyset.ts';
import { countResponseBytes, PAGE_MAX_BYTES } from '../page-budget.ts';
import type { EmailType } from '../schema/contents.ts';
import { type CarriedVariables, readVariableColumns } from './variable-columns.ts';

/** A stored email without its body, with the variables that it is rendered from. */
export interface Email extends CarriedVariables {
  id: string;
  contactId: string | null;
  to: string | null;
  toName: string | null;
  from: string;
  fromName: string | null;
  replyTo: string | null;
  /** The subject before variables are filled in. */
  subject: string;
  type: EmailType;
  contentId: string;
  status: EmailStatus;
  mode: KeyMode;
  sourceType: EmailSourceType;
  templateId: string | null;
  campaignId: string | null;
  executionId: string | null;
  providerMessageId: string | null;
  opens: number;
  clicks: number;
  /** Opens by bots, such as prefetchers and scanners. */
  machineOpens: number;
  machineClicks: number;
  attempts: number;
  bounceType: 'Permanent' | 'Transient' | null;
  reason: string | null;
  error: string | null;
  contactEmail: string | null;
  /** The current data of the contact. Empty if the email has no contact, or the contact was deleted. */
  contactData: Sourced<Data>;
  /** The time zone of the project, used to format dates. */
  projectZone: string;
  createdAt: Date;
  sentAt: Date | null;
  deliveredAt: Date | null;
  openedAt: Date | null;
  clickedAt: Date | null;
  bouncedAt: Date | null;
  complainedAt: Date | null;
  /** When the email failed or was skipped. */
  failedAt: Date | null;
  /**
   * True if the email was sent to a simulator address. The project's guards, monthly limit and analytics do not count
   * such an email.
   */
  simulated: boolean;
}

/** The columns that `toEmail` combines into values with untrusted marks. */
interface SourcedColumns {
  variables: Data | null;
  options: EmailOptions | null;
  contactData: Data | null;
  untrustedKeys: string[] | null;
}

type SourcedFields = Pick<Email, 'variables' | 'options' | 'contactData'>;
type Row<T extends SourcedFields = Email> = Omit<T, keyof SourcedFields> & SourcedColumns;

/**
 * Maps a row to an email, with the untrusted values marked. Every function of this file returns emails through this
 * one, so callers cannot get the values without these marks.
 */
function toEmail<T extends SourcedFields>({ untrustedKeys, ...row }: Row<T>): T {
  const fields: SourcedFields = {
    ...readVariableColumns(row),
    contactData: markUntrusted(row.contactData ?? {}, untrustedKeys),
  };
  return { ...row, ...fields } as unknown as T;
}

export interface EmailFilter {
  projectId: string;
  mode: KeyMode | 'all';
  status?: EmailStatus | undefined;
  sourceType?: EmailSourceType | undefined;
  reason?: string | undefined;
  happened?: EmailHappened | undefined;
  contactId?: string | undefined;
  workflowExecutionId?: string | undefined;
  campaignId?: string | undefined;
  templateId?: string | undefined;
  /** The address of a contact. An address that no contact has finds nothing. */
  to?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

/**
 * The columns of an email. `to` is the contact's address for a recipient of a campaign whose email is not claimed yet;
 * the claim stores the address in the row.
 */
const COLUMNS = sql.raw(`
  e.id, e.contact_id AS "contactId", coalesce(e.to_email, c.email) AS "to", e.to_name AS "toName", k.from_email AS "from",
  k.from_name AS "fromName", k.reply_to AS "replyTo", k.subject, k.type, e.content_id AS "contentId", e.status, e.mode,
  e.source_type AS "sourceType", k.template_id AS "templateId", e.campaign_id AS "campaignId", e.execution_id AS "executionId",
  e.provider_message_id AS "providerMessageId", e.opens, e.clicks, e.machine_opens AS "machineOpens",
  e.machine_clicks AS "machineClicks", e.attempts, e.bounce_type AS "bounceType", e.reason, e.error, e.variables, e.options,
  c.email AS "contactEmail", c.data AS "contactData", c.untrusted_keys AS "untrustedKeys",
  (SELECT p.timezone FROM projects p WHERE p.id = e.project_id) AS "projectZone",
  e.created_at AS "createdAt", e.sent_at AS "sentAt", e.delivered_at AS "deliveredAt", e.opened_at AS "openedAt",
  e.clicked_at AS "clickedAt", e.bounced_at AS "bouncedAt", e.complained_at AS "complainedAt", e.failed_at AS "failedAt",
  e.simulated`);

/**
 * Lists emails newest first. Uses the index `emails_project`, or `emails_contact` or `emails_execution_visit` if the
 * filter has a contact, an address or an execution. No index of a project's emails has the status, source, reason or
 * template. A filter for a rare value of these fields reads all emails between `since` and `until`.
 */
export async function listEmails(db: Db, p: PageRequest & EmailFilter): Promise<Page<Email>> {
  const { rows } = await sql<Row>`
    SELECT ${COLUMNS} FROM emails e
    JOIN contents k ON k.id = e.content_id
    LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = e.project_id
    WHERE e.project_id = ${p.projectId} AND ${toFilterPredicate(p)} AND ${afterCursorSql(p.cursor, 'e.id')}
    ORDER BY e.id DESC LIMIT ${p.limit + 1}
  `.execute(db);
  return toPage(
    rows,
    p.limit,
    (row) => toEmail<Email>(row),
    // Removes fields that the list does not show from the size of the row.
    ({ variables: _, options: __, contactData: ___, ...row }) => countResponseBytes(row),
  );
}

/**
 * Returns one email.
 * @throws AppError NOT_FOUND, also for an id of another project
 */
export async function getEmail(db: Db, p: { projectId: string; id: string }): Promise<Email> {
  const { rows } = await sql<Row>`
    SELECT ${COLUMNS} FROM emails e
    JOIN contents k ON k.id = e.content_id
    LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = e.project_id
    WHERE e.project_id = ${p.projectId} AND e.id = ${p.id}
  `.execute(db);
  const [row] = rows;
  if (!row) throw new AppError('NOT_FOUND', { message: 'No email of this project has this id.' });
  return toEmail<Email>(row);
}

/**
 * Finds the recipients that the header of a copy shows: the recipients of the original email (RFC 5322 §3.6.3). Omits
 * erased contacts.
 */
export async function findShownRecipients(
  db: Db,
  { projectId, copies }: { projectId: string; copies: CopyOptions },
): Promise<{ to: HeaderMailbox | undefined; cc: HeaderMailbox[] }> {
  const { rows } = await sql<{ id: string; email: string; name: string | null }>`
    SELECT id, to_email AS email, to_name AS name FROM emails
    WHERE project_id = ${projectId} AND id = ANY(${[copies.to, ...copies.cc]}::uuid[]) AND to_email IS NOT NULL
  `.execute(db);
  const found = new Map(rows.map(({ id, email, name }) => [id, { email, name }]));
  return { to: found.get(copies.to), cc: copies.cc.flatMap((id) => found.get(id) ?? []) };
}

/** Returns emails of a project by id, in no particular order. Ignores unknown ids. */
export async function listEmailsById(db: Db, p: { projectId: string; ids: string[] }): Promise<Email[]> {
  if (p.ids.length === 0) return [];
  const { rows } = await sql<Row>`
    SELECT ${COLUMNS} FROM emails e
    JOIN contents k ON k.id = e.content_id
    LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = e.project_id
    WHERE e.project_id = ${p.projectId} AND e.id = ANY(${p.ids}::uuid[])
  `.execute(db);
  return rows.map((row) => toEmail<Email>(row));
}

/** An email of any project, whose id the caller has verified. */
export type ProvenEmail = Email & { projectId: string };

/**
 * Returns emails of any project. Only for callers that have verified the ids, by a signed token or a return path.
 * Ignores unknown ids.
 */
export async function listEmailsOfAnyProject(db: Db, ids: string[]): Promise<ProvenEmail[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<Row<ProvenEmail>>`
    SELECT e.project_id AS "projectId", ${COLUMNS} FROM emails e
    JOIN contents k ON k.id = e.content_id
    LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = e.project_id
    WHERE e.id = ANY(${ids}::uuid[])
  `.execute(db);
  return rows.map((row) => toEmail<ProvenEmail>(row));
}

/** The fields of an email that its links are built from. */
export type LinkSource = Pick<
  Email,
  'id' | 'contactId' | 'contentId' | 'to' | 'variables' | 'options' | 'contactEmail' | 'contactData' | 'projectZone'
> & { projectId: string };

/**
 * Like `listEmailsOfAnyProject`, but reads only the fields that a click needs, because a person is waiting for the
 * response.
 */
export async function listEmailsForClicks(db: Db, ids: string[]): Promise<LinkSource[]> {
  const { rows } = await sql<Row<LinkSource>>`
    SELECT e.id, e.project_id AS "projectId", e.contact_id AS "contactId", e.content_id AS "contentId", e.to_email AS "to",
      e.variables, e.options, c.email AS "contactEmail", c.data AS "contactData", c.untrusted_keys AS "untrustedKeys",
      (SELECT p.timezone FROM projects p WHERE p.id = e.project_id) AS "projectZone"
    FROM emails e
    LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = e.project_id
    WHERE e.id = ANY(${ids}::uuid[])
  `.execute(db);
  return rows.map((row) => toEmail<LinkSource>(row));
}

export interface EmailTimelineEvent {
  id: string;
  name: string;
  /** Null for `email.sent` of a campaign. For such an event, the data is derived from the email itself. */
  data: Data | null;
  createdAt: Date;
}

/**
 * The maximum number of events that are read for one email. An email usually has fewer than 10, but callers can record
 * any number of events for an email (`POST /events/track`).
 */
const EMAIL_EVENTS_MOST = 10_000;

/**
 * Lists the events of one email, oldest first. Stops when the data of the events exceeds `PAGE_MAX_BYTES`; the caller
 * then removes the events that do not fit into the response. The index starts with `contact_id`, so the events of an
 * email without a contact are found by project.
 */
export async function listEmailEvents(
  db: Db,
  p: { projectId: string; emailId: string; contactId: string | null },
): Promise<EmailTimelineEvent[]> {
  const ofContact = p.contactId === null ? sql`contact_id IS NULL` : sql`contact_id = ${p.contactId}`;
  const { rows } = await sql<EmailTimelineEvent>`
    SELECT id, name, data, created_at AS "createdAt" FROM (
      SELECT id, name, data, created_at,
        coalesce(sum(octet_length(data::text)) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes
      FROM (SELECT id, name, data, created_at FROM events
        WHERE project_id = ${p.projectId} AND ${ofContact} AND email_id = ${p.emailId}
        ORDER BY id LIMIT ${EMAIL_EVENTS_MOST}::int) first
    ) summed WHERE bytes <= ${PAGE_MAX_BYTES}::int ORDER BY id
  `.execute(db);
  return rows;
}

function toFilterPredicate(p: EmailFilter): RawBuilder<SqlBool> {
  const parts = [
    p.mode === 'all' ? undefined : sql<SqlBool>`e.mode = ${p.mode}`,
    p.status && sql<SqlBool>`e.status = ${p.status}`,
    p.to === undefined
      ? undefined
      : sql<SqlBool>`e.contact_id = (SELECT id FROM contacts WHERE project_id = ${p.projectId} AND email = ${p.to})`,
    p.sourceType && sql<SqlBool>`e.source_type = ${p.sourceType}`,
    p.reason && sql<SqlBool>`e.reason = ${p.reason}`,
    p.happened && sql<SqlBool>`${sql.ref(`e.${p.happened}_at`)} IS NOT NULL`,
    p.contactId && sql<SqlBool>`e.contact_id = ${p.contactId}`,
    p.workflowExecutionId && sql<SqlBool>`e.execution_id = ${p.workflowExecutionId}`,
    p.campaignId && sql<SqlBool>`e.campaign_id = ${p.campaignId}`,
    p.templateId && sql<SqlBool>`k.template_id = ${p.templateId}`,
    p.since && sql<SqlBool>`e.created_at >= ${p.since} AND e.id >= ${earliestIdSql(p.since)}`,
    p.until && sql<SqlBool>`e.created_at <= ${p.until} AND e.id < ${latestIdSql(p.until)}`,
  ].filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? sql<SqlBool>`true` : sql.join(parts, sql` AND `);
}
