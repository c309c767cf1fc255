import type { Compute } from '../../../compute/compute.ts';
import { compileForSending, renderToStrings } from '../../../compute/contents.ts';
import type { Db } from '../../../db/connection.ts';
import { createSuppressionPads } from '../../../db/contacts/suppressions.ts';
import type { NewContent } from '../../../db/contents/contents.ts';
import type { ClaimedEmail } from '../../../db/sending/email-ledger.ts';
import { maskStepConfig } from '../../../db/workflows/step-secrets.ts';
import type { ExecutionEnvironment } from '../../../engine/automations/environment.ts';
import type { EffectPreviews, PreviewedEffect } from '../../../engine/automations/preview.ts';
import type { EffectPosition } from '../../../engine/automations/resume.ts';
import { previewEmail } from '../../../engine/sending/email-preview.ts';
import { draftStepEmails } from '../../../engine/sending/step-emails.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import type { Config } from '../../../rules/config.ts';
import { toContentSource } from '../../../rules/content/content.ts';
import { createLinkTokens } from '../../../rules/content/link-tokens.ts';
import { TemplateError } from '../../../rules/content/template-error.ts';
import { buildVariables } from '../../../rules/content/variables.ts';
import { createFailedOutcome, type RecordedOutcome } from '../../../rules/emails/attempt-outcome.ts';
import { decideWithholding } from '../../../rules/emails/withheld.ts';
import { toEmailStepOutcome } from '../../../rules/executions/email-step-outcome.ts';
import { WebhookConfig } from '../../../rules/executions/steps/webhook.ts';
import { toUpdateStepOutcome } from '../../../rules/executions/update-outcome.ts';
import { writeWebhookBody } from '../../../rules/executions/webhook-body.ts';
import { toWebhookStepOutcome } from '../../../rules/executions/webhook-outcome.ts';
import { buildWebhookPayload } from '../../../rules/executions/webhook-payload.ts';
import { fillWebhookUrl } from '../../../rules/executions/webhook-url.ts';
import { previewSms } from './sms-effect.ts';
import { advanceToSendingWindow } from './window.ts';

/** The response that a preview assumes for the request of a WEBHOOK step. `step` is the step's id or name. */
export interface AssumedResponse {
  step: string;
  status: number;
  body?: unknown;
}

export interface EffectDeps {
  db: Db;
  compute: Compute;
  config: Pick<Config, 'secretKey' | 'publicUrl'>;
}

/**
 * Creates the functions that preview the effects of a workflow's steps for a contact. The same code as for a real email
 * decides, by the current settings and consent, whether an email would be sent.
 */
export function createEffectPreviews(deps: EffectDeps, webhooks: AssumedResponse[]): EffectPreviews {
  /** How often the preview has reached each step. */
  const visits = new Map<string, number>();
  return {
    SEND_SMS: (position, environment) => previewSms(deps, position, environment),
    SEND_EMAIL: (position, environment) => previewEmailStep(deps, position, environment),
    UPDATE_CONTACT: previewUpdate,
    WEBHOOK: (position, environment) => previewRequest(deps, position, { environment, webhooks, visits }),
  };
}

async function previewEmailStep(
  deps: EffectDeps,
  position: EffectPosition,
  environment: ExecutionEnvironment,
): Promise<PreviewedEffect> {
  const { execution } = position;
  const [draft] = await draftStepEmails(deps.db, { projectId: execution.projectId, positions: [position] });
  if (!draft || 'error' in draft) return toUnsendableEffect(draft?.error ?? 'the SEND_EMAIL step cannot be read');
  const opensAt = draft.content.type === 'MARKETING' ? await advanceToSendingWindow(position, environment) : undefined;
  const email = await previewEmail(deps.db, {
    execution,
    draft,
    now: environment.now(execution),
    suppressionPads: createSuppressionPads(deriveKey(deps.config.secretKey, 'suppression')),
  });
  const rendered = await renderEmail(deps, draft.content, email);
  const outcome = decideOutcome(email, rendered);
  const { changes, ...ending } = toEmailStepOutcome(outcome, email?.id ?? '');
  const { emailId: _, ...output } = ending.output;
  return {
    opensAt,
    outcome: { ...ending, output, ...(changes && { changes }) },
    shown: {
      channel: 'email',
      wouldSend: outcome.kind === 'accepted',
      reason: readReason(outcome),
      to: email?.to?.email ?? draft.to,
      from: draft.content.from,
      subject: 'subject' in rendered ? rendered.subject : null,
    },
  };
}

function toUnsendableEffect(error: string): PreviewedEffect {
  return {
    outcome: { status: 'FAILED', error, fails: true },
    shown: { channel: 'email', wouldSend: false, reason: error },
  };
}

type Rendered = { subject: string } | { refused: RecordedOutcome };

/**
 * Decides whether a previewed email would be sent: it must pass the rule for real emails, and its template must be
 * rendered without an error.
 */
function decideOutcome(email: ClaimedEmail | undefined, rendered: Rendered): RecordedOutcome {
  const withheld = email ? decideWithholding(email) : createFailedOutcome('contact_deleted');
  if (withheld) return withheld;
  return 'refused' in rendered
    ? rendered.refused
    : { kind: 'accepted', providerMessageId: null, subject: rendered.subject };
}

function readReason(outcome: RecordedOutcome): string | null {
  if (outcome.kind === 'held') return 'project_held';
  return 'reason' in outcome ? outcome.reason : null;
}

/** Renders a previewed email, even if the email would not be sent, so that the user sees its content. */
async function renderEmail(
  { compute, config }: EffectDeps,
  content: NewContent,
  email: ClaimedEmail | undefined,
): Promise<Rendered> {
  if (!email) return { refused: createFailedOutcome('contact_deleted') };
  const { contact } = email;
  const work = { projectId: email.projectId, kind: 'workflow.preview' };
  try {
    const ready = await compileForSending(compute, work, toContentSource(content, false));
    const parts = await renderToStrings(compute, work, {
      content: ready,
      input: {
        vars: buildVariables({
          contact: { id: contact?.id ?? '', email: contact?.email ?? email.to?.email ?? '', data: contact?.data },
          data: email.variables,
          zone: email.project.timezone,
        }),
        urls: { baseUrl: config.publicUrl, ...createLinkTokens(config.secretKey, email.id) },
      },
    });
    return { subject: parts.subject };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const { field, message, line, column } = error;
    return { refused: createFailedOutcome('template_error', `${field}: ${message} (line ${line}, column ${column})`) };
  }
}

async function previewUpdate(
  { execution, step }: EffectPosition,
  environment: ExecutionEnvironment,
): Promise<PreviewedEffect> {
  const { contact, variables } = await environment.loadVariables(execution);
  const outcome = toUpdateStepOutcome({
    config: step.config,
    contact,
    variables,
    untrustedTrigger: execution.untrustedTrigger,
  });
  const changedContact = 'changes' in outcome ? outcome.changes.contact : undefined;
  return {
    outcome,
    shown: { contact: changedContact ? { subscribed: changedContact.subscribed, data: changedContact.data } : null },
  };
}

async function previewRequest(
  { config: { secretKey } }: EffectDeps,
  { execution, step }: EffectPosition,
  p: { environment: ExecutionEnvironment; webhooks: AssumedResponse[]; visits: Map<string, number> },
): Promise<PreviewedEffect> {
  // Uses the config with masked secrets, because the response of a preview must not contain secrets.
  const config = WebhookConfig.parse(maskStepConfig(secretKey, step));
  const { contact, variables } = await p.environment.loadVariables(execution);
  const { status = 200, body: reply } = takeAssumedResponse(step, p) ?? {};
  const text = reply === undefined ? '' : typeof reply === 'string' ? reply : JSON.stringify(reply);
  const outcome = toWebhookStepOutcome({ statusCode: status, body: text, latencyMs: 0 }, config.onFailure);
  const url = fillWebhookUrl(config.url, variables);
  const source = { execution, contact, variables };
  // If the body is a text, the preview shows it as it would be sent. Otherwise it shows the value before encoding.
  const showBody = () =>
    typeof config.body === 'string' ? writeWebhookBody(config, source) : buildWebhookPayload(config, source);
  const body = config.method === 'GET' ? null : showBody();
  return { outcome, shown: { request: { method: config.method, url, body } } };
}

/**
 * Counts a visit to a step and returns its assumed response: the n-th response of the step for the n-th visit, and the
 * last response for further visits. Undefined if no response is assumed for the step.
 */
function takeAssumedResponse(
  { id, name }: { id: string; name: string },
  { webhooks, visits }: { webhooks: AssumedResponse[]; visits: Map<string, number> },
): AssumedResponse | undefined {
  const responses = webhooks.filter(({ step }) => step === id || step === name);
  const earlierVisits = visits.get(id) ?? 0;
  visits.set(id, earlierVisits + 1);
  return responses[Math.min(earlierVisits, responses.length - 1)];
}
