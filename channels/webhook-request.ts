import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { describeFailure } from '../rules/failure-text.ts';
import { isFramingHeader, mergeHeaders } from '../rules/webhooks/headers.ts';
import { assertPublicHost, BlockedAddressError, publicLookup } from './public-address.ts';

/** Spec "Workflow Webhook step": requests time out after 10 seconds, at most 5 redirects are followed. */
const TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 5;
/** A connection without a request is closed before most servers close it. */
const IDLE_MS = 4_000;
/** Part of a response that is read, enough to see the endpoint's message. The rest is discarded. */
const MAX_RESPONSE_BYTES = 16_384;
/**
 * Redirects that are followed with unchanged method and body, so that an endpoint that moved still gets its data. 303
 * is not followed: it names a page to GET (RFC 9110 §15.4.4), which would say nothing about the delivery.
 */
const REDIRECTS = new Set([301, 302, 307, 308]);

export interface WebhookRequest {
  /** A user name and password in it become `Authorization`, unless `ownHeaders` has one. */
  url: string;
  method: string;
  /** The service's headers, without secrets. Names in any case; values without CR and LF. */
  headers: Record<string, string>;
  /** The tenant's headers, which override the service's. They are sent only to the origin of `url`. */
  ownHeaders?: Record<string, string>;
  body: string | undefined;
  /** Redirects that are followed; 5 unless given. */
  maxRedirects?: number;
}

export type WebhookResult =
  | { outcome: 'answered'; statusCode: number; body: string; retryAfterSeconds: number | null; latencyMs: number }
  /** No response: timeout, refused connection, DNS. `final`: a retry would fail in the same way. */
  | {
      outcome: 'failed';
      error: string;
      /** The part of `error` that a log and Temporal may show. The address may contain a contact's data. */
      status: string;
      final: boolean;
      latencyMs: number;
    };

export interface WebhookClient {
  send(webhook: WebhookRequest, signal?: AbortSignal): Promise<WebhookResult>;
  close(): Promise<void>;
}

/**
 * Calls external endpoints. Only public addresses are reached, checked at each connect and redirect, unless
 * `allowPrivate`.
 */
export function createWebhookClient(options: { allowPrivate: boolean }): WebhookClient {
  // There is no limit of connections per host, because callers limit their concurrent requests. With a limit here, a
  // slow endpoint would delay all other endpoints on the same host, also of other projects.
  const kept = { keepAlive: true, timeout: IDLE_MS, ...(!options.allowPrivate && { lookup: publicLookup }) };
  const agents = { http: new http.Agent(kept), https: new https.Agent(kept) };
  return {
    send: (webhook, signal) =>
      measureLatency((timeout) => follow(agents, webhook, options.allowPrivate, timeout), signal),
    close: async () => {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

interface Agents {
  http: http.Agent;
  https: https.Agent;
}

type Answer = Omit<WebhookResult & { outcome: 'answered' }, 'latencyMs' | 'outcome'>;

async function measureLatency(
  run: (signal: AbortSignal) => Promise<Answer>,
  signal?: AbortSignal,
): Promise<WebhookResult> {
  const startedAt = performance.now();
  const latencyMs = () => Math.round(performance.now() - startedAt);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const answer = await run(signal ? AbortSignal.any([signal, timeout]) : timeout);
    return { outcome: 'answered', ...answer, latencyMs: latencyMs() };
  } catch (error) {
    const late = timeout.aborted ? 'no response within 10 s' : undefined;
    return {
      outcome: 'failed',
      error: late ?? errorText(error),
      status: late ?? describeFailure(error),
      final: isFinal(error),
      latencyMs: latencyMs(),
    };
  }
}

async function follow(
  agents: Agents,
  webhook: WebhookRequest,
  allowPrivate: boolean,
  signal: AbortSignal,
): Promise<Answer> {
  let current: Hop = { ...webhook, url: httpUrl(webhook.url) };
  current.ownHeaders = mergeHeaders(basicCredentials(current.url), webhook.ownHeaders ?? {});
  for (let redirects = 0; ; redirects += 1) {
    const { url } = current;
    if (!allowPrivate) assertPublicHost(url);
    const response = await exchange(agents, current, signal);
    const { statusCode = 0, headers } = response;
    const { location } = headers;
    const followed = webhook.maxRedirects !== 0 && REDIRECTS.has(statusCode);
    if (!followed || !location) {
      const text = await readSome(response);
      return { statusCode, body: text, retryAfterSeconds: retryAfter(headers['retry-after']) };
    }
    response.resume();
    if (redirects >= (webhook.maxRedirects ?? MAX_REDIRECTS)) {
      throw new UncallableError(`more than ${MAX_REDIRECTS} redirects`);
    }
    current = followRedirect(current, httpUrl(location, url));
  }
}

/**
 * Sends a request and returns the final response. Node's client ignores interim responses (RFC 9110 §15.2), such as the
 * `100 Continue` that some servers send unasked; undici would end the connection.
 */
function exchange(agents: Agents, hop: Hop, signal: AbortSignal): Promise<IncomingMessage> {
  const { url, method, body } = hop;
  const isTls = url.protocol === 'https:';
  const headers = headersOf(hop);
  if (body !== undefined) headers['Content-Length'] = String(Buffer.byteLength(body));
  return new Promise((resolve, reject) => {
    const options = { method, headers, signal };
    const request = isTls
      ? https.request(url, { ...options, agent: agents.https })
      : http.request(url, { ...options, agent: agents.http });
    request.on('response', resolve).on('error', reject);
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new Error('HTTP 101'));
    });
    // A request can end without any of these events. Its promise would then never settle.
    request.on('close', () => reject(new Error('the connection closed before a response')));
    request.end(body);
  });
}

/** One request of a chain of redirects. */
type Hop = Omit<WebhookRequest, 'url'> & { url: URL };

/**
 * Any header of a tenant may hold a secret, whatever its name. So no header is sent to another origin, nor after a
 * redirect back from there. Only Content-Type is, because it describes the body.
 */
function followRedirect(from: Hop, url: URL): Hop {
  const { ownHeaders = {} } = from;
  const isSameOrigin = from.url.origin === url.origin;
  const kept = Object.entries(ownHeaders).filter(([name]) => isSameOrigin || name.toLowerCase() === 'content-type');
  return { ...from, url, ownHeaders: Object.fromEntries(kept) };
}

function headersOf({ headers, ownHeaders = {} }: Hop): Record<string, string> {
  const own = Object.entries(ownHeaders).filter(([name]) => !isFramingHeader(name));
  return mergeHeaders(headers, Object.fromEntries(own));
}

/** RFC 7617: the client does not send the credentials of a URL automatically. */
function basicCredentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const credentials = Buffer.from(`${percentDecoded(username)}:${percentDecoded(password)}`);
  return { Authorization: `Basic ${credentials.toString('base64')}` };
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A literal `%`.
  }
}

/** The webhook's own settings are the problem, not the connection to its endpoint. */
class UncallableError extends Error {}

function httpUrl(text: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) throw new UncallableError('the address is not a URL');
  const url = new URL(text, base);
  if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  throw new UncallableError(`${url.protocol} addresses are not called`);
}

/** Reads the beginning of a body. If it hangs until the timeout or breaks off, returns the part that arrived. */
async function readSome(body: AsyncIterable<Buffer> & { destroy(): void }): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of body) {
      parts.push(part);
      bytes += part.length;
      if (bytes >= MAX_RESPONSE_BYTES) break;
    }
  } catch {
    // The status is known already, so a body that hangs or breaks off does not change the result.
  }
  return Buffer.concat(parts).subarray(0, MAX_RESPONSE_BYTES).toString('utf8');
}

/** Reads `Retry-After`: seconds or an HTTP date (RFC 9110 §10.2.3). */
function retryAfter(value: string | undefined): number | null {
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1_000));
}

function isFinal(error: unknown): boolean {
  if (error instanceof UncallableError || error instanceof BlockedAddressError) return true;
  return error instanceof Error && error.cause instanceof BlockedAddressError;
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
