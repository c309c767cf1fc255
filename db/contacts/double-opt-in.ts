import { type RawBuilder, sql } from 'kysely';
import type { EmailText } from '../../rules/content/email-text.ts';
import { AppError, createFieldError } from '../../rules/errors.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import type { Db, Trx } from '../connection.ts';
import { saveContent } from '../contents/contents.ts';
import { selectEmailText } from '../contents/email-text.ts';
import { enqueue } from '../outbox/outbox.ts';
import { takeMonthlyAllowance } from '../sending/monthly-usage.ts';

/**
 * The project's setting for double opt-in. If it is enabled and an untrusted caller subscribes a contact, the contact
 * is pending until the contact confirms. The setting includes the template of the confirmation email.
 */
export interface DoubleOptIn {
  enabled: boolean;
  templateId: string | null;
}

/**
 * Proof of a confirmation: the time, the IP address, the text that the person agreed to, and the confirmation email.
 */
export interface SubscriptionProof {
  at: Date;
  ip: string;
  text: string;
  emailId: string;
}

/** SQL interval: the minimum time between two confirmation emails to a person. */
const ASK_EVERY = sql.raw(`interval '1 hour'`);
/** SQL interval: how long the link of a confirmation email is valid. */
const HOLDS = sql.raw(`interval '30 days'`);

/**
 * Checks the setting against the project's templates, and locks the template until the transaction ends.
 * @throws AppError NOT_FOUND for a template of another project, VALIDATION_ERROR for a template without a sender or
 * without the confirmation link, or if double opt-in is enabled without a template
 */
export async function assertDoubleOptIn(trx: Trx, p: { projectId: string; doubleOptIn: DoubleOptIn }): Promise<void> {
  const { enabled, templateId } = p.doubleOptIn;
  if (templateId === null) {
    if (enabled)
      throw createFieldError('doubleOptIn.templateId', 'Required while double opt-in is enabled.', 'invalid_type');
    return;
  }
  const { rows } = await sql<{ from: string | null; asks: boolean }>`
    SELECT from_email AS "from", position('confirmUrl' IN body) > 0 AS asks
    FROM templates WHERE project_id = ${p.projectId} AND id = ${templateId} FOR KEY SHARE
  `.execute(trx);
  const template = rows[0];
  if (!template)
    throw new AppError('NOT_FOUND', { message: 'No template of this project has the id in doubleOptIn.templateId.' });
  if (!template.from) throw createFieldError('doubleOptIn.templateId', 'The template needs a sender.');
  if (!template.asks)
    throw createFieldError('doubleOptIn.templateId', 'The body of the template must contain {{confirmUrl}}.');
}

/** Tells whether the project uses double opt-in. */
export async function usesDoubleOptIn(db: Db, projectId: string): Promise<boolean> {
  const { rows } = await sql`SELECT id FROM projects WHERE id = ${projectId} AND double_opt_in`.execute(db);
  return rows.length > 0;
}

/**
 * Marks the contacts that are not subscribed as pending. Queues a confirmation email to each of them, unless the
 * contact was asked within the last hour. Contacts who unsubscribed earlier also get the email, because this is how
 * they can subscribe again. While a contact is pending, its earlier confirmation links stay valid. When a contact that
 * is no longer pending, such as after a refusal, gets a new confirmation email, its earlier links expire. The caller
 * has locked the contacts.
 */
export async function requestConfirmations(trx: Trx, p: { projectId: string; contactIds: string[] }): Promise<void> {
  if (p.contactIds.length === 0) return;
  const { rows: asked } = await sql<{ id: string; email: string; due: boolean; waited: boolean }>`
    UPDATE contacts SET pending = true,
      confirmation_asked_at = CASE WHEN ${isConfirmationDue(sql`confirmation_asked_at`)} THEN now() ELSE confirmation_asked_at END
    WHERE project_id = ${p.projectId} AND id = ANY(${p.contactIds}::uuid[]) AND NOT subscribed
    RETURNING id, email, ${isConfirmationDue(sql`old.confirmation_asked_at`)} AS due, old.pending AS waited
  `.execute(trx);
  const due = asked.filter((contact) => contact.due);
  if (due.length === 0) return;
  await expireLinks(trx, { projectId: p.projectId, contacts: due.filter(({ waited }) => !waited) });
  await sendConfirmations(trx, { projectId: p.projectId, contacts: due });
}

async function expireLinks(trx: Trx, p: { projectId: string; contacts: { id: string }[] }): Promise<void> {
  if (p.contacts.length === 0) return;
  await sql`
    DELETE FROM confirmations
    WHERE project_id = ${p.projectId} AND contact_id = ANY(${p.contacts.map(({ id }) => id)}::uuid[]) AND confirmed_at IS NULL
  `.execute(trx);
}

function isConfirmationDue(at: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(${at} IS NULL OR ${at} <= now() - ${ASK_EVERY})`;
}

interface AskingTemplate extends EmailText<string | null> {
  id: string;
  limit: number | null;
}

/**
 * Queues the confirmation emails as TRANSACTIONAL, even if the template is MARKETING, because the person requested the
 * email. Queues none if the template has no sender, or if the project's monthly limit does not allow all of them.
 */
async function sendConfirmations(
  trx: Trx,
  p: { projectId: string; contacts: { id: string; email: string }[] },
): Promise<void> {
  const { projectId, contacts } = p;
  const { rows } = await sql<AskingTemplate>`
    SELECT t.id, p.effective_monthly_email_limit AS limit, ${selectEmailText('t')}
    FROM projects p JOIN templates t ON t.id = p.double_opt_in_template_id AND t.project_id = p.id WHERE p.id = ${projectId}
  `.execute(trx);
  const template = rows[0];
  if (!template?.from) return;
  if (!(await takeMonthlyAllowance(trx, { projectId, n: contacts.length, limit: template.limit }))) return;
  const { id: templateId, limit: _, ...text } = template;
  const contentId = await saveContent(trx, {
    ...text,
    from: template.from,
    projectId,
    type: 'TRANSACTIONAL' as const,
    templateId,
  });
  const emails = contacts.map((contact) => ({ ...contact, emailId: uuidv7() }));
  const options = JSON.stringify({ forStranger: true });
  await sql`
    WITH inserted AS (
      INSERT INTO emails (id, project_id, contact_id, content_id, source_type, mode, to_email, options)
      SELECT u.id, ${projectId}, u.contact_id, ${contentId}, 'TRANSACTIONAL', 'live', u.email, ${options}::jsonb
      FROM unnest(${emails.map((m) => m.emailId)}::uuid[], ${emails.map((m) => m.id)}::uuid[], ${emails.map((m) => m.email)}::text[])
        AS u (id, contact_id, email)
      RETURNING id, contact_id)
    INSERT INTO confirmations (email_id, project_id, contact_id) SELECT id, ${projectId}, contact_id FROM inserted
  `.execute(trx);
  await enqueue(
    trx,
    emails.map(({ emailId }) => ({ projectId, kind: 'email.deliver' as const, refId: emailId })),
  );
}

/**
 * Tells whether the confirmation link of an email is valid: the link was not used, it has not expired, and the contact
 * is still pending. A refusal ends the pending state, so a link from before the refusal cannot undo the refusal.
 */
export async function isConfirmationLinkValid(
  db: Db,
  p: { projectId: string; emailId: string | null },
): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM confirmations f JOIN contacts c ON c.id = f.contact_id AND c.project_id = f.project_id
    WHERE f.project_id = ${p.projectId} AND f.email_id = ${p.emailId}
      AND f.confirmed_at IS NULL AND f.created_at > now() - ${HOLDS} AND c.pending
  `.execute(db);
  return rows.length > 0;
}

/** Stores the proof of a confirmation. If a proof exists, it does not change. Safe to run twice. */
export async function storeConfirmationProof(
  trx: Trx,
  p: { projectId: string; emailId: string; ip: string; text: string },
): Promise<void> {
  await sql`
    UPDATE confirmations SET confirmed_at = now(), ip = ${p.ip}, text = ${p.text}
    WHERE project_id = ${p.projectId} AND email_id = ${p.emailId} AND confirmed_at IS NULL
  `.execute(trx);
}

/** Lists the proofs of a contact's confirmations, oldest first. */
export async function listConfirmationProofs(
  db: Db,
  p: { projectId: string; contactId: string },
): Promise<SubscriptionProof[]> {
  const { rows } = await sql<SubscriptionProof>`
    SELECT confirmed_at AS at, ip, text, email_id AS "emailId" FROM confirmations
    WHERE project_id = ${p.projectId} AND contact_id = ${p.contactId} AND confirmed_at IS NOT NULL ORDER BY confirmed_at, email_id
  `.execute(db);
  return rows;
}
