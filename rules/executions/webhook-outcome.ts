/** The maximum length of a response that is stored with the visit. */
const OUTPUT_BODY_CHARS = 2_000;

export interface WebhookStepResponse {
  statusCode: number;
  body: string;
  latencyMs: number;
}

/**
 * Returns the error of a response to a WEBHOOK step, or null for a success. Only a 2xx status is a success. 408, 425,
 * 429 and 5xx are retried. Any other 4xx status, and a redirect that was not followed, are not retried.
 */
export function findResponseError({
  statusCode,
}: Pick<WebhookStepResponse, 'statusCode'>): { error: string; retry: boolean } | null {
  if (statusCode >= 200 && statusCode < 300) return null;
  return { error: `HTTP ${statusCode}`, retry: statusCode >= 500 || [408, 425, 429].includes(statusCode) };
}

/** Returns the output of a visit: the part of the response that is stored. */
export function toWebhookOutput({ statusCode, body, latencyMs }: WebhookStepResponse): Record<string, unknown> {
  return { statusCode, body: body.slice(0, OUTPUT_BODY_CHARS).replaceAll('\0', ''), latencyMs };
}

/** Returns how a visit of a WEBHOOK step ends, from the response to its last attempt. */
export function toWebhookStepOutcome(response: WebhookStepResponse, onFailure: 'CONTINUE' | 'FAIL') {
  const fault = findResponseError(response);
  return {
    status: fault ? ('FAILED' as const) : ('COMPLETED' as const),
    output: toWebhookOutput(response),
    error: fault?.error ?? null,
    fails: fault !== null && onFailure === 'FAIL',
  };
}
