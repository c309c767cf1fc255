import { ApplicationFailure } from '@temporalio/common';
import type { WebhookRequest, WebhookResult } from '../../channels/webhook-request.ts';
import { countAttempts, noteAttempt } from '../../db/executions/visits.ts';
import { inTransaction } from '../../db/transaction.ts';
import { openStepConfig } from '../../db/workflows/step-secrets.ts';
import { completeEffect, type EffectPosition, resumeExecution } from '../../engine/automations/resume.ts';
import { loadStepVariables } from '../../engine/automations/variables.ts';
import { interpolate } from '../../rules/content/interpolate.ts';
import { contactToken, contactUrls } from '../../rules/content/link-tokens.ts';
import type { Next, StepInput } from '../../rules/executions/execution.ts';
import type { SandboxState } from '../../rules/executions/run.ts';
import { WebhookConfig } from '../../rules/executions/steps/webhook.ts';
import { webhookBody } from '../../rules/executions/webhook-body.ts';
import { faultOfAnswer, outcomeOfAnswer, outputOfResponse } from '../../rules/executions/webhook-outcome.ts';
import { webhookUrl } from '../../rules/executions/webhook-url.ts';
import type { ActivityDeps } from '../deps.ts';

/** The maximum number of attempts, by contract §7.6 Webhooks and expressions. */
const MAX_TRIES = 5;
/** The waits are 1 s, 3 s, 9 s and 27 s, longer in total than a restart of the endpoint. `Retry-After` has priority. */
const FIRST_RETRY_SECONDS = 1;
const RETRY_FACTOR = 3;
/** The longest wait. An endpoint that asks for a longer one is called again after this time. */
const RETRY_AFTER_MAX_SECONDS = 3_600;
/** Headers by which an endpoint recognizes an execution and an attempt. A step cannot set them. */
const NAMES_EXECUTION = /^(?:x-execution-id|idempotency-key)$/i;

/**
 * Creates the WEBHOOK activity.
 * @throws ApplicationFailure WEBHOOK_RETRY with the delay, which Temporal follows
 */
export function createWebhookStep(deps: ActivityDeps): (input: StepInput) => Promise<Next> {
  return async (input) => {
    const position = await inTransaction(deps.db, (trx) => resumeExecution(trx, input));
    const done = position.atEffect('WEBHOOK', {
      real: (effect) => makeRequest(deps, effect),
      sandbox: (effect) => skipRequest(deps, effect),
    });
    return done ?? position.next;
  };
}

/**
 * Runs the WEBHOOK step of an execution: one request, then the visit's outcome or a retry. A crash after the request
 * repeats it with the same `Idempotency-Key`, by which the endpoint can recognize it.
 * @throws ApplicationFailure WEBHOOK_RETRY with the delay for Temporal
 */
async function makeRequest(deps: ActivityDeps, position: EffectPosition<null>): Promise<Next> {
  const { execution, next } = position;
  const { request, onFailure } = await prepare(deps, position);
  const result = await deps.webhooks.send(request);
  const tries = (await countAttempts(deps.db, execution.id, next.visit)) + 1;
  const fault = faultOf(result);
  if (fault?.retry && tries < MAX_TRIES) return retryLater(deps, { position, result, fault, tries });
  const following = await inTransaction(deps.db, (trx) =>
    completeEffect(trx, {
      projectId: execution.projectId,
      executionId: execution.id,
      visit: next.visit,
      status: fault ? 'FAILED' : 'COMPLETED',
      output: outputOf(result),
      error: fault?.error ?? null,
      attempts: tries,
      fails: fault !== null && onFailure === 'FAIL',
    }),
  );
  return fault ? withFault(following, { visit: next.visit, status: fault.status }) : following;
}

/** Adds the reason to a failed visit of the path, for the Temporal UI. */
function withFault(next: Next, { visit, status }: { visit: number; status: string }): Next {
  if (!next.path) return next;
  const path = next.path.map((entry) =>
    entry.visit === visit ? { ...entry, took: `${entry.took}: ${status}` } : entry,
  );
  return { ...next, path };
}

/** Completes the step of a sandbox as if the endpoint had returned 200, without a request. */
function skipRequest(deps: ActivityDeps, { execution, step, next }: EffectPosition<SandboxState>): Promise<Next> {
  const { onFailure } = WebhookConfig.pick({ onFailure: true }).parse(step.config);
  const outcome = outcomeOfAnswer({ statusCode: 200, body: '', latencyMs: 0 }, onFailure);
  return inTransaction(deps.db, (trx) =>
    completeEffect(trx, {
      projectId: execution.projectId,
      executionId: execution.id,
      visit: next.visit,
      ...outcome,
      output: { ...outcome.output, sandbox: true },
    }),
  );
}

async function prepare(
  deps: ActivityDeps,
  { execution, step, next }: EffectPosition<null>,
): Promise<{ request: WebhookRequest; onFailure: 'CONTINUE' | 'FAIL' }> {
  const config = WebhookConfig.parse(openStepConfig(deps.config.secretKey, step));
  const urls = contactUrls(deps.config.publicUrl, contactToken(deps.config.secretKey, execution.contactId));
  const { contact, variables } = await loadStepVariables(deps.db, execution, urls);
  const plain = { untrusted: 'leaveOut' } as const;
  const own = Object.entries(config.headers ?? {})
    .filter(([name]) => !NAMES_EXECUTION.test(name))
    .map(([name, value]) => [name, headerText(interpolate(value, variables, plain))]);
  return {
    onFailure: config.onFailure,
    request: {
      url: webhookUrl(config.url, variables),
      method: config.method,
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Tidings/1.0',
        'X-Execution-Id': execution.id,
        'Idempotency-Key': `${execution.id}-${next.visit}`,
      },
      ownHeaders: Object.fromEntries(own),
      body: config.method === 'GET' ? undefined : webhookBody(config, { execution, contact, variables }),
    },
  };
}

/** RFC 9110 §5.5: no control characters in a field value. */
function headerText(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return value.replace(/[\u0000-\u0008\u000a-\u001f\u007f]/g, ' ').replace(/[^\t\u0020-\u00ff]/g, '?');
}

interface Fault {
  error: string;
  /** The part of `error` that Temporal may show. */
  status: string;
  retry: boolean;
}

/**
 * Classifies the result of a request. Null means success. Network errors, timeouts, 408, 425, 429 and 5xx are retried.
 * Other 4xx, invalid or blocked addresses and endless redirects are not.
 */
function faultOf(result: WebhookResult): Fault | null {
  if (result.outcome === 'failed') return { error: result.error, status: result.status, retry: !result.final };
  const fault = faultOfAnswer(result);
  return fault && { ...fault, status: fault.error };
}

async function retryLater(
  deps: ActivityDeps,
  p: { position: EffectPosition<null>; result: WebhookResult; fault: Fault; tries: number },
): Promise<never> {
  const { execution, next } = p.position;
  const asked = p.result.outcome === 'answered' ? p.result.retryAfterSeconds : null;
  const seconds = Math.min(RETRY_AFTER_MAX_SECONDS, asked ?? FIRST_RETRY_SECONDS * RETRY_FACTOR ** (p.tries - 1));
  await inTransaction(deps.db, (trx) =>
    noteAttempt(trx, { executionId: execution.id, visit: next.visit, attempts: p.tries, error: p.fault.error }),
  );
  throw ApplicationFailure.create({
    type: 'WEBHOOK_RETRY',
    message: `attempt ${p.tries} of ${MAX_TRIES}: ${p.fault.status}; again in ${seconds} s`,
    nextRetryDelay: Math.max(1, seconds * 1_000),
  });
}

function outputOf(result: WebhookResult): Record<string, unknown> {
  if (result.outcome === 'failed') return { latencyMs: result.latencyMs };
  return outputOfResponse(result);
}
