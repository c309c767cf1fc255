/** Part of a response that the execution's record keeps. */
const OUTPUT_BODY_CHARS = 2_000;

export interface WebhookAnswer {
  statusCode: number;
  body: string;
  latencyMs: number;
}

/**
 * Classifies the response to a WEBHOOK step; null means success. Only a 2xx is a success. 408, 425, 429 and 5xx are
 * retried; other 4xx, and redirects that were not followed, are not.
 */
export function faultOfAnswer({
  statusCode,
}: Pick<WebhookAnswer, 'statusCode'>): { error: string; retry: boolean } | null {
  if (statusCode >= 200 && statusCode < 300) return null;
  return { error: `answered ${statusCode}`, retry: statusCode >= 500 || [408, 425, 429].includes(statusCode) };
}

/** Returns the part of a response that the execution's record keeps. */
export function outputOfResponse({ statusCode, body, latencyMs }: WebhookAnswer): Record<string, unknown> {
  return { statusCode, body: body.slice(0, OUTPUT_BODY_CHARS).replaceAll('\0', ''), latencyMs };
}

/** Returns how the visit of a WEBHOOK ends after its last attempt. */
export function outcomeOfAnswer(answer: WebhookAnswer, onFailure: 'CONTINUE' | 'FAIL') {
  const fault = faultOfAnswer(answer);
  return {
    status: fault ? ('FAILED' as const) : ('COMPLETED' as const),
    output: outputOfResponse(answer),
    error: fault?.error ?? null,
    fails: fault !== null && onFailure === 'FAIL',
  };
}
