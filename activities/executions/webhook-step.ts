import { ApplicationFailure } from '@temporalio/common';
import type { WebhookRequest, WebhookResult } from '../../channels/webhook-request.ts';
import { countFailedAttempts, recordFailedAttempt } from '../../db/executions/visits.ts';
import { inTransaction } from '../../db/transaction.ts';
import { unsealStepConfig } from '../../db/workflows/step-secrets.ts';
import { completeEffect, type EffectPosition, resumeExecution } from '../../engine/automations/resume.ts';
import { loadStepVariables } from '../../engine/automations/variables.ts';
import { interpolate } from '../../rules/content/interpolate.ts';
import { buildContactUrls, createContactToken } from '../../rules/content/link-tokens.ts';
import type { Next, StepInput } from '../../rules/executions/execution.ts';
import type { SandboxState } from '../../rules/executions/run.ts';
import { WebhookConfig } from '../../rules/executions/steps/webhook.ts';
import { writeWebhookBody } from '../../rules/executions/webhook-body.ts';
import { findResponseError, toWebhookOutput, toWebhookStepOutcome } from '../../rules/executions/webhook-outcome.ts';
import { fillWebhookUrl } from '../../rules/executions/webhook-url.ts';
import type { ActivityDeps } from '../deps.ts';

/** The maximum number of attempts, from the contract, §7.6 Webhooks and expressions. */
const MAX_ATTEMPTS = 5;
/**
 * The waits between attempts are 1 s, 3 s, 9 s and 27 s, which together is longer than a restart of the endpoint takes.
 * If the endpoint sends `Retry-After`, that wait is used instead.
 */
const FIRST_RETRY_SECONDS = 1;
const RETRY_FACTOR = 3;
/** The longest wait. If an endpoint's `Retry-After` is longer, the endpoint is called again after this time. */
const RETRY_AFTER_MAX_SECONDS = 3_600;
/**
 * The headers that tell the endpoint which execution makes the request, and for which visit to the step (a cycle can
 * visit a step several times). A step's config cannot set them.
 */
const RESERVED_HEADERS = /^(?:x-execution-id|idempotency-key)$/i;

/**
 * Creates the WEBHOOK activity, which makes the HTTP request of a step.
 * @throws ApplicationFailure WEBHOOK_RETRY if the request should be retried; Temporal retries after the delay that it
 * contains
 */
export function createWebhookStep(deps: ActivityDeps): (input: StepInput) => Promise<Next> {
  return async (input) => {
    const position = await inTransaction(deps.db, (trx) => resumeExecution(trx, input));
    const result = position.atEffect('WEBHOOK', {
      real: (effect) => makeRequest(deps, effect),
      sandbox: (effect) => skipRequest(deps, effect),
    });
    return result ?? position.next;
  };
}

/**
 * Runs the WEBHOOK step of an execution. Makes one request, and then records the outcome of the visit or requests a
 * retry. If the process crashes after the request, the request is sent again with the same `Idempotency-Key`, so the
 * endpoint can recognize the repetition.
 * @throws ApplicationFailure WEBHOOK_RETRY if the request should be retried
 */
async function makeRequest(deps: ActivityDeps, position: EffectPosition<null>): Promise<Next> {
  const { execution, next } = position;
  const { request, onFailure } = await prepareRequest(deps, position);
  const result = await deps.webhooks.send(request);
  const attempts = (await countFailedAttempts(deps.db, execution.id, next.visit)) + 1;
  const failure = findFailure(result);
  if (failure?.retry && attempts < MAX_ATTEMPTS) return retryLater(deps, { position, result, failure, attempts });
  const following = await inTransaction(deps.db, (trx) =>
    completeEffect(trx, {
      projectId: execution.projectId,
      executionId: execution.id,
      visit: next.visit,
      status: failure ? 'FAILED' : 'COMPLETED',
      output: createOutput(result),
      error: failure?.error ?? null,
      attempts,
      fails: failure !== null && onFailure === 'FAIL',
    }),
  );
  return failure ? addFailureToPath(following, { visit: next.visit, status: failure.status }) : following;
}

/** Adds the reason of the failure to the visit in the execution's path, which the Temporal UI shows. */
function addFailureToPath(next: Next, { visit, status }: { visit: number; status: string }): Next {
  if (!next.path) return next;
  const path = next.path.map((entry) =>
    entry.visit === visit ? { ...entry, took: `${entry.took}: ${status}` } : entry,
  );
  return { ...next, path };
}

/** Completes the step of a sandbox as if the endpoint had returned 200, without a request. */
function skipRequest(deps: ActivityDeps, { execution, step, next }: EffectPosition<SandboxState>): Promise<Next> {
  const { onFailure } = WebhookConfig.pick({ onFailure: true }).parse(step.config);
  const outcome = toWebhookStepOutcome({ statusCode: 200, body: '', latencyMs: 0 }, onFailure);
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

async function prepareRequest(
  deps: ActivityDeps,
  { execution, step, next }: EffectPosition<null>,
): Promise<{ request: WebhookRequest; onFailure: 'CONTINUE' | 'FAIL' }> {
  const config = WebhookConfig.parse(unsealStepConfig(deps.config.secretKey, step));
  const urls = buildContactUrls(deps.config.publicUrl, createContactToken(deps.config.secretKey, execution.contactId));
  const { contact, variables } = await loadStepVariables(deps.db, execution, urls);
  const interpolation = { untrusted: 'omit' } as const;
  const stepHeaders = Object.entries(config.headers ?? {})
    .filter(([name]) => !RESERVED_HEADERS.test(name))
    .map(([name, value]) => [name, toHeaderText(interpolate(value, variables, interpolation))]);
  return {
    onFailure: config.onFailure,
    request: {
      url: fillWebhookUrl(config.url, variables),
      method: config.method,
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Tidings/1.0',
        'X-Execution-Id': execution.id,
        'Idempotency-Key': `${execution.id}-${next.visit}`,
      },
      ownHeaders: Object.fromEntries(stepHeaders),
      body: config.method === 'GET' ? undefined : writeWebhookBody(config, { execution, contact, variables }),
    },
  };
}

/**
 * Replaces characters that a header value must not contain: control characters (RFC 9110 §5.5), and characters outside
 * Latin-1.
 */
function toHeaderText(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the regular expression removes control characters
  return value.replace(/[\u0000-\u0008\u000a-\u001f\u007f]/g, ' ').replace(/[^\t\u0020-\u00ff]/g, '?');
}

interface RequestFailure {
  error: string;
  /** The part of `error` that Temporal may show. */
  status: string;
  retry: boolean;
}

/**
 * Returns why a request failed, and whether to retry it. Null means success. Network errors, timeouts and the statuses
 * 408, 425, 429 and 5xx are retried. Other 4xx statuses, invalid or blocked addresses and endless redirects are not
 * retried.
 */
function findFailure(result: WebhookResult): RequestFailure | null {
  if (result.outcome === 'failed') return { error: result.error, status: result.status, retry: !result.final };
  const failure = findResponseError(result);
  return failure && { ...failure, status: failure.error };
}

async function retryLater(
  deps: ActivityDeps,
  p: { position: EffectPosition<null>; result: WebhookResult; failure: RequestFailure; attempts: number },
): Promise<never> {
  const { failure, attempts } = p;
  const { execution, next } = p.position;
  const requestedSeconds = p.result.outcome === 'answered' ? p.result.retryAfterSeconds : null;
  const seconds = Math.min(
    RETRY_AFTER_MAX_SECONDS,
    requestedSeconds ?? FIRST_RETRY_SECONDS * RETRY_FACTOR ** (attempts - 1),
  );
  await inTransaction(deps.db, (trx) =>
    recordFailedAttempt(trx, { executionId: execution.id, visit: next.visit, attempts, error: failure.error }),
  );
  throw ApplicationFailure.create({
    type: 'WEBHOOK_RETRY',
    message: `attempt ${attempts} of ${MAX_ATTEMPTS}: ${failure.status}; again in ${seconds} s`,
    nextRetryDelay: Math.max(1, seconds * 1_000),
  });
}

function createOutput(result: WebhookResult): Record<string, unknown> {
  if (result.outcome === 'failed') return { latencyMs: result.latencyMs };
  return toWebhookOutput(result);
}
