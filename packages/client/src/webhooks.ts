/** The webhook request could not be verified. */
export class WebhookVerificationError extends Error {
  override readonly name: string = 'WebhookVerificationError';
}

export interface WebhookRequest {
  /** The raw body of the request. Do not parse it before you verify it. */
  payload: string | Uint8Array;
  headers: Headers | Record<string, string | string[] | undefined>;
  /** The secret `whsec_…` that the API returned when you created the endpoint. */
  secret: string;
  /** The maximum difference between the timestamp and the current time, in seconds. Defaults to 300. */
  toleranceSeconds?: number;
  now?: Date;
}

const TOLERANCE_SECONDS = 300;
const HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/**
 * Verifies a webhook request by the Standard Webhooks specification, and returns its parsed body. Every attempt at a
 * delivery has the same `webhook-id`. To process each delivery only once, store this id.
 * @throws WebhookVerificationError
 */
export async function verifyWebhook<Payload = unknown>(request: WebhookRequest): Promise<Payload> {
  const [id, timestamp, signatures] = HEADERS.map((name) => readHeader(request.headers, name)) as [
    string,
    string,
    string,
  ];
  const seconds = Number(timestamp);
  const nowSeconds = (request.now ?? new Date()).getTime() / 1_000;
  const tolerance = request.toleranceSeconds ?? TOLERANCE_SECONDS;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowSeconds - seconds) > tolerance) {
    throw new WebhookVerificationError('The timestamp of the webhook is too far from the current time.');
  }
  const { payload } = request;
  const body = typeof payload === 'string' ? new TextEncoder().encode(payload) : payload;
  const signed = concatenate(new TextEncoder().encode(`${id}.${timestamp}.`), body);
  const key = await crypto.subtle.importKey(
    'raw',
    decodeSecret(request.secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  );
  // After the secret was rotated, requests are signed with the old and the new secret for some time, so the header may
  // have several signatures.
  for (const entry of signatures.split(' ')) {
    const [version, signature] = entry.split(',');
    const bytes = version === 'v1' && signature ? decodeBase64(signature) : undefined;
    if (bytes && (await crypto.subtle.verify('HMAC', key, bytes, signed))) {
      return JSON.parse(new TextDecoder().decode(body)) as Payload;
    }
  }
  throw new WebhookVerificationError('No signature of the webhook matches this secret.');
}

function readHeader(headers: WebhookRequest['headers'], name: string): string {
  const values =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const value = Array.isArray(values) ? values[0] : values;
  if (!value) throw new WebhookVerificationError(`The webhook has no ${name}.`);
  return value;
}

function decodeSecret(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = decodeBase64(secret.replace(/^whsec_/, ''));
  if (!bytes || bytes.length === 0) throw new WebhookVerificationError('The secret is not a webhook secret.');
  return bytes;
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function concatenate(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(one.length + other.length);
  all.set(one);
  all.set(other, one.length);
  return all;
}
