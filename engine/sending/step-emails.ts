import { sql } from 'kysely';
import type { z } from 'zod';
import type { Db, Trx } from '../../db/connection.ts';
import { type NewContent, saveContents } from '../../db/contents/contents.ts';
import { selectEmailText } from '../../db/contents/email-text.ts';
import { toVariableColumns, type VariableColumns } from '../../db/emails/variable-columns.ts';
import { isOwnedBySql } from '../../db/owned-by.ts';
import { prepared } from '../../db/prepared.ts';
import type { EmailType } from '../../db/schema/contents.ts';
import type { GraphStep } from '../../db/workflows/graph.ts';
import { type EmailText, pickEmailText } from '../../rules/content/email-text.ts';
import { interpolate, readsUntrustedValue } from '../../rules/content/interpolate.ts';
import { parseMailbox } from '../../rules/emails/email-address.ts';
import { SendEmailConfig } from '../../rules/executions/steps/send-email.ts';
import { markUntrusted } from '../../rules/provenance/provenance.ts';
import type { CurrentExecution } from '../automations/locked-executions.ts';
import type { EffectPosition } from '../automations/resume.ts';
import { loadStepVariables } from '../automations/variables.ts';

/**
 * The email of one visit of an execution to a SEND_EMAIL step, or the error that prevents the email. Such an error is
 * in the workflow, and the workflow's owner must correct it.
 */
export type StepEmail = { position: EffectPosition } & (
  | { outcome: 'saved'; emailId: string }
  | { outcome: 'unsendable'; error: string }
);

/** The email of a SEND_EMAIL step before it is inserted. If `to` is null, the email is sent to the contact. */
export interface StepEmailDraft {
  position: EffectPosition;
  content: NewContent;
  to: string | null;
}

interface DraftError {
  position: EffectPosition;
  error: string;
}

/** A visit with the draft of its email, or with the error that prevents the email. */
export type DraftedVisit = StepEmailDraft | DraftError;

/**
 * Inserts the drafted emails of SEND_EMAIL visits of one project. Returns them in the order of the drafts. Safe to run
 * twice: a second run returns the same rows, because each visit has at most one email.
 */
export async function saveStepEmails(trx: Trx, p: { projectId: string; drafts: DraftedVisit[] }): Promise<StepEmail[]> {
  const sendable = p.drafts.filter((draft) => 'content' in draft);
  const contentIds = await saveContents(
    trx,
    sendable.map((draft) => draft.content),
  );
  const emailIds = await insertStepEmails(trx, { projectId: p.projectId, drafts: sendable, contentIds });
  return p.drafts.map((draft) =>
    'error' in draft
      ? { position: draft.position, outcome: 'unsendable', error: draft.error }
      : {
          position: draft.position,
          outcome: 'saved',
          emailId: requireEmailId(emailIds.get(draft.position.execution.id)),
        },
  );
}

/**
 * Drafts the emails of SEND_EMAIL visits, in the order of the positions. Writes nothing, because previews call this
 * function too.
 */
export async function draftStepEmails(
  db: Db,
  p: { projectId: string; positions: EffectPosition[] },
): Promise<DraftedVisit[]> {
  const { projectId, positions } = p;
  const configs = positions.map(({ step }) => parseConfig(step));
  const templateIds = configs.flatMap((config) => config?.templateId ?? []);
  const templates = await findTemplates(db, { projectId, ids: templateIds });
  const drafts: DraftedVisit[] = [];
  for (const [index, position] of positions.entries()) {
    drafts.push(await draftStepEmail(db, position, { config: configs[index], templates }));
  }
  return drafts;
}

/** Returns the columns `variables` and `options` for the email of a step. */
export function buildStepEmailRow({
  context,
  event,
  untrusted,
  untrustedTrigger,
  run,
}: CurrentExecution): VariableColumns {
  return toVariableColumns({
    variables: markUntrusted({ ...context, event, context }, untrusted ? ['event'] : []),
    options: {
      ...(untrustedTrigger && { forStranger: true }),
      ...(run && { sandbox: { contact: run.contact, skipDelays: run.skipDelays } }),
    },
  });
}

async function draftStepEmail(
  db: Db,
  position: EffectPosition,
  { config, templates }: { config: StepConfig | undefined; templates: Map<string, TemplateRow> },
): Promise<DraftedVisit> {
  if (!config) return { position, error: 'the SEND_EMAIL step has no template' };
  const template = templates.get(config.templateId);
  if (!template) return { position, error: 'the template of the SEND_EMAIL step does not exist' };
  const from = typeof config.from === 'string' ? { email: config.from } : config.from;
  const sender = from?.email ?? template.from;
  if (!sender) return { position, error: 'neither the SEND_EMAIL step nor its template has a sender' };
  const to = await resolveRecipient(db, position, config);
  if (to !== null && typeof to === 'object') return { position, error: to.error };
  const content = {
    ...pickEmailText(template),
    from: sender.toLowerCase(),
    fromName: from ? (from.name ?? null) : template.fromName,
    projectId: position.execution.projectId,
    type: template.type,
    templateId: config.templateId,
    topicId: template.topicId,
  };
  return { position, content, to };
}

type StepConfig = z.output<typeof SendEmailConfig>;

function parseConfig({ config, templateId }: GraphStep): StepConfig | undefined {
  return SendEmailConfig.safeParse({ ...config, templateId: templateId ?? config.templateId }).data;
}

interface TemplateRow extends EmailText<string | null> {
  id: string;
  type: EmailType;
  topicId: string | null;
}

async function findTemplates(db: Db, p: { projectId: string; ids: string[] }): Promise<Map<string, TemplateRow>> {
  const { rows } = await prepared<TemplateRow>`
    SELECT t.id, t.type, t.topic_id AS "topicId", ${selectEmailText('t')} FROM templates t
    WHERE t.id = ANY(${[...new Set(p.ids)]}::uuid[]) AND ${isOwnedBySql('t.project_id', p.projectId)}
  `.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

const NO_ADDRESS = 'the customEmail of the SEND_EMAIL step is not an address';
const UNTRUSTED_ADDRESS =
  'the customEmail of the SEND_EMAIL step names a value from a request with the public key or from an email, so anyone could choose the recipient';

/**
 * Returns the custom address of the step with its variables filled in, or the reason why the address is unusable. Null
 * means the contact's own address.
 */
async function resolveRecipient(
  db: Db,
  { execution }: EffectPosition,
  { recipient }: StepConfig,
): Promise<string | null | { error: string }> {
  if (recipient?.type !== 'CUSTOM') return null;
  const { variables } = await loadStepVariables(db, execution);
  const template = recipient.customEmail ?? '';
  if (readsUntrustedValue(template, variables)) return { error: UNTRUSTED_ADDRESS };
  const address = interpolate(template, variables, { untrusted: 'omit' });
  const parsed = parseMailbox(address);
  return parsed.ok ? parsed.email : { error: NO_ADDRESS };
}

/** Inserts the emails. Returns the email ids by execution id. */
async function insertStepEmails(
  trx: Trx,
  p: { projectId: string; drafts: StepEmailDraft[]; contentIds: string[] },
): Promise<Map<string, string>> {
  const { projectId, drafts, contentIds } = p;
  if (drafts.length === 0) return new Map();
  const executions = drafts.map(({ position }) => position.execution);
  const columns = executions.map(buildStepEmailRow);
  const { rows } = await prepared<{ execution_id: string; id: string }>`
    INSERT INTO emails
      (project_id, contact_id, content_id, execution_id, visit, source_type, mode, to_email, variables, options)
    SELECT ${projectId}, c.id, u.content_id, u.execution_id, u.visit, 'WORKFLOW', u.mode, coalesce(u.to_email, c.email),
      u.variables, u.options
    FROM unnest(${executions.map((e) => e.contactId)}::uuid[], ${contentIds}::uuid[], ${executions.map((e) => e.id)}::uuid[],
      ${drafts.map(({ position }) => position.next.visit)}::int[], ${executions.map((e) => e.mode)}::text[],
      ${drafts.map((draft) => draft.to)}::text[], ${columns.map((c) => c.variables)}::jsonb[], ${columns.map((c) => c.options)}::jsonb[])
      AS u (contact_id, content_id, execution_id, visit, mode, to_email, variables, options)
    JOIN contacts c ON c.id = u.contact_id AND ${isOwnedBySql('c.project_id', projectId)}
    ON CONFLICT (execution_id, visit) WHERE execution_id IS NOT NULL DO UPDATE SET content_id = emails.content_id
    RETURNING execution_id, id
  `.execute(trx);
  return new Map(rows.map((row) => [row.execution_id, row.id]));
}

function requireEmailId(emailId: string | undefined): string {
  if (emailId === undefined) throw new Error('the contact of a running execution is gone');
  return emailId;
}

/**
 * Marks the email of a visit as sent, if the email has no result yet. Call this function only if the Temporal workflow
 * is already past the visit, because the email was then sent.
 */
export async function recordStepEmailSent(
  trx: Trx,
  p: { projectId: string; executionId: string; visit: number },
): Promise<void> {
  await sql`
    UPDATE emails SET status = 'SENT', sent_at = now(), claim = NULL
    WHERE project_id = ${p.projectId} AND execution_id = ${p.executionId} AND visit = ${p.visit}
      AND status IN ('PENDING', 'SENDING') AND sent_at IS NULL
  `.execute(trx);
}
