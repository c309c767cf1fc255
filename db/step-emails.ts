import { sql, type Transaction } from 'kysely';
import { z } from 'zod';
import { interpolate } from '../domain/interpolate.ts';
import { SendEmailConfig } from '../domain/steps.ts';
import { saveContent } from './contents.ts';
import type { EffectStanding } from './execution-resume.ts';
import { loadStepVariables } from './execution-variables.ts';
import type { Database } from './schema.ts';

/** The mail of a SEND_EMAIL visit, or why there can be none: a fault of the workflow, which its owner has to mend. */
export type StepEmail = { outcome: 'saved'; emailId: string } | { outcome: 'unsendable'; error: string };

/** Puts the mail of a SEND_EMAIL visit into the ledger; running it again finds the same row (unique by execution and visit). */
export async function saveStepEmail(trx: Transaction<Database>, standing: EffectStanding): Promise<StepEmail> {
  const { execution, step, next } = standing;
  const config = SendEmailConfig.safeParse({ ...step.config, templateId: step.templateId ?? step.config.templateId });
  if (!config.success) return { outcome: 'unsendable', error: 'the SEND_EMAIL step has no template' };
  const template = await findTemplate(trx, execution.projectId, config.data.templateId);
  if (!template) return { outcome: 'unsendable', error: 'the template of the SEND_EMAIL step does not exist' };
  const from = typeof config.data.from === 'string' ? { email: config.data.from } : config.data.from;
  const fromEmail = from?.email ?? template.fromEmail;
  if (!fromEmail) return { outcome: 'unsendable', error: 'neither the SEND_EMAIL step nor its template has a sender' };
  const to = await recipientOf(trx, standing, config.data);
  if (to === undefined)
    return { outcome: 'unsendable', error: 'the customEmail of the SEND_EMAIL step is not an address' };
  const contentId = await saveContent(trx, {
    projectId: execution.projectId,
    subject: template.subject,
    body: template.body,
    type: template.type,
    fromEmail: fromEmail.toLowerCase(),
    fromName: from ? (from.name ?? null) : template.fromName,
    replyTo: template.replyTo,
    templateId: config.data.templateId,
  });
  return { outcome: 'saved', emailId: await insertStepEmail(trx, standing, { contentId, to, visit: next.visit }) };
}

interface TemplateRow {
  subject: string;
  body: string;
  type: 'TRANSACTIONAL' | 'MARKETING';
  fromEmail: string | null;
  fromName: string | null;
  replyTo: string | null;
}

async function findTemplate(
  trx: Transaction<Database>,
  projectId: string,
  templateId: string,
): Promise<TemplateRow | undefined> {
  const { rows } = await sql<TemplateRow>`
    SELECT subject, body, type, from_email AS "fromEmail", from_name AS "fromName", reply_to AS "replyTo"
    FROM templates WHERE project_id = ${projectId} AND id = ${templateId}
  `.execute(trx);
  return rows[0];
}

/** The custom address of the step, interpolated; null is the contact's own; undefined is none that mail can go to. */
async function recipientOf(
  trx: Transaction<Database>,
  { execution }: EffectStanding,
  { recipient }: z.output<typeof SendEmailConfig>,
): Promise<string | null | undefined> {
  if (recipient?.type !== 'CUSTOM') return null;
  const { variables, untrusted } = await loadStepVariables(trx, execution);
  const address = interpolate(recipient.customEmail ?? '', variables, { without: untrusted })
    .trim()
    .toLowerCase();
  return z.email().safeParse(address).success ? address : undefined;
}

async function insertStepEmail(
  trx: Transaction<Database>,
  { execution }: EffectStanding,
  mail: { contentId: string; to: string | null; visit: number },
): Promise<string> {
  const variables = { ...execution.context, event: execution.event, context: execution.context };
  const options = execution.untrusted ? { untrustedKeys: ['event'] } : null;
  const { rows } = await sql<{ id: string }>`
    INSERT INTO emails
      (project_id, contact_id, content_id, execution_id, visit, source_type, mode, to_email, variables, options)
    SELECT ${execution.projectId}, c.id, ${mail.contentId}, ${execution.id}, ${mail.visit}, 'WORKFLOW', ${execution.mode},
      coalesce(${mail.to}::text, c.email), ${JSON.stringify(variables)}::jsonb,
      ${options ? JSON.stringify(options) : null}::jsonb
    FROM contacts c WHERE c.project_id = ${execution.projectId} AND c.id = ${execution.contactId}
    ON CONFLICT (execution_id, visit) WHERE execution_id IS NOT NULL DO UPDATE SET content_id = emails.content_id
    RETURNING id
  `.execute(trx);
  const id = rows[0]?.id;
  if (!id) throw new Error('the contact of a running execution is gone');
  return id;
}
