import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Dns } from '../rules/domains/dns.ts';
import { describeFailure } from '../rules/failure-text.ts';
import { isReservedRequestHeader, mergeHeaders } from '../rules/webhooks/headers.ts';
import { assertPublicHost, BlockedAddressError } from './public-address.ts';
import { createWebhookLookup } from './webhook-lookup.ts';

/** The time limit of a request, including its redirects and the response's body. Source: contract §7.6. */
const TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 5;
/** An idle connection is closed after this time, before most servers would close it. */
const IDLE_MS = 4_000;
/**
 * Only this many bytes of a response are read, which is enough to see the endpoint's message. The rest is discarded.
 */
const MAX_RESPONSE_BYTES = 16_384;
/**
 * The statuses of redirects that are followed, so that a moved endpoint still gets its data. The method and the body do
 * not change. 303 is not followed, because it names a page to read with GET (RFC 9110 §15.4.4), and the status of that
 * page would not show whether the delivery succeeded.
 */
const REDIRECTS = new Set([301, 302, 307, 308]);

export interface WebhookRequest {
  /**
   * The address of the endpoint. A user name and password in it become the header `Authorization`, unless `ownHeaders`
   * has that header.
   */
  url: string;
  method: string;
  /** The headers of the service, without secrets. Names may have any case. Values must not contain CR or LF. */
  headers: Record<string, string>;
  /**
   * The headers of the tenant. These headers override the headers of the service, and are sent only to the origin of
   * `url`.
   */
  ownHeaders?: Record<string, string>;
  body: string | undefined;
  /** The maximum number of redirects that are followed. The default is 5. With 0, the redirect itself is the result. */
  maxRedirects?: number;
}

export type WebhookResult =
  | { outcome: 'answered'; statusCode: number; body: string; retryAfterSeconds: number | null; latencyMs: number }
  /**
   * The request got no final response, for example because of a timeout, a refused connection, an address that must not
   * be called or too many redirects. `final` means that a retry would fail in the same way.
   */
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
 * Creates a client that calls external endpoints. Unless `allowPrivate` is set, it connects only to public addresses,
 * and checks this at each connection and redirect.
 */
export function createWebhookClient(options: { allowPrivate: boolean; dns: Pick<Dns, 'addresses'> }): WebhookClient {
  // The agents have no limit of connections per host, because callers limit their concurrent requests. With a limit
  // here, a slow endpoint would delay all other endpoints on the same host, also of other projects.
  const agentOptions = { keepAlive: true, timeout: IDLE_MS, lookup: createWebhookLookup(options.dns, options) };
  const agents = { http: new http.Agent(agentOptions), https: new https.Agent(agentOptions) };
  return {
    send: (webhook, signal) =>
      runWithTimeLimit((timeout) => sendFollowingRedirects(agents, webhook, options.allowPrivate, timeout), signal),
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

type HttpResponse = Omit<WebhookResult & { outcome: 'answered' }, 'latencyMs' | 'outcome'>;

/** Runs a request with the time limit `TIMEOUT_MS`. Returns its result with the latency, and never rejects. */
async function runWithTimeLimit(
  run: (signal: AbortSignal) => Promise<HttpResponse>,
  signal?: AbortSignal,
): Promise<WebhookResult> {
  const startedAt = performance.now();
  const latencyMs = () => Math.round(performance.now() - startedAt);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await run(signal ? AbortSignal.any([signal, timeout]) : timeout);
    return { outcome: 'answered', ...response, latencyMs: latencyMs() };
  } catch (error) {
    const timeoutText = timeout.aborted ? 'no response within 10 s' : undefined;
    return {
      outcome: 'failed',
      error: timeoutText ?? describeError(error),
      status: timeoutText ?? describeFailure(error),
      final: isFinal(error),
      latencyMs: latencyMs(),
    };
  }
}

async function sendFollowingRedirects(
  agents: Agents,
  webhook: WebhookRequest,
  allowPrivate: boolean,
  signal: AbortSignal,
): Promise<HttpResponse> {
  let current: Hop = { ...webhook, url: parseHttpUrl(webhook.url) };
  current.ownHeaders = mergeHeaders(buildAuthorization(current.url), webhook.ownHeaders ?? {});
  for (let redirects = 0; ; redirects += 1) {
    const { url } = current;
    if (!allowPrivate) assertPublicHost(url);
    const response = await sendRequest(agents, current, signal);
    const { statusCode = 0, headers } = response;
    const { location } = headers;
    const isRedirect = webhook.maxRedirects !== 0 && REDIRECTS.has(statusCode);
    if (!isRedirect || !location) {
      const text = await readBeginning(response);
      return { statusCode, body: text, retryAfterSeconds: parseRetryAfter(headers['retry-after']) };
    }
    response.resume();
    if (redirects >= (webhook.maxRedirects ?? MAX_REDIRECTS)) {
      throw new UncallableError(`more than ${MAX_REDIRECTS} redirects`);
    }
    current = buildNextHop(current, parseHttpUrl(location, url));
  }
}

/**
 * Sends a request and returns the final response. Node's client ignores interim responses (RFC 9110 §15.2), such as the
 * `100 Continue` that some servers send unasked; undici would end the connection.
 */
function sendRequest(agents: Agents, hop: Hop, signal: AbortSignal): Promise<IncomingMessage> {
  const { url, method, body } = hop;
  const isTls = url.protocol === 'https:';
  const headers = getAllowedHeaders(hop);
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
 * Returns the request that follows a redirect. Any header of a tenant may contain a secret, whatever its name. A
 * redirect to another origin therefore drops all of them except Content-Type, which describes the body. A later
 * redirect to the first origin does not restore them.
 */
function buildNextHop(from: Hop, url: URL): Hop {
  const { ownHeaders = {} } = from;
  const isSameOrigin = from.url.origin === url.origin;
  const keptHeaders = Object.entries(ownHeaders).filter(
    ([name]) => isSameOrigin || name.toLowerCase() === 'content-type',
  );
  return { ...from, url, ownHeaders: Object.fromEntries(keptHeaders) };
}

function getAllowedHeaders({ headers, ownHeaders = {} }: Hop): Record<string, string> {
  const allowedHeaders = Object.entries(ownHeaders).filter(([name]) => !isReservedRequestHeader(name));
  return mergeHeaders(headers, Object.fromEntries(allowedHeaders));
}

/**
 * Returns the header `Authorization` for the user name and password of a URL (RFC 7617). The header is handled like a
 * header of the tenant: `ownHeaders` overrides it, and a redirect to another origin drops it.
 */
function buildAuthorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const credentials = Buffer.from(`${decodePercent(username)}:${decodePercent(password)}`);
  return { Authorization: `Basic ${credentials.toString('base64')}` };
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A literal `%`.
  }
}

/**
 * Thrown when the address of the webhook is wrong or redirects too often, so that a retry would fail in the same way.
 */
class UncallableError extends Error {}

function parseHttpUrl(text: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) throw new UncallableError('the address is not a URL');
  const url = new URL(text, base);
  if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  throw new UncallableError(`${url.protocol} addresses are not called`);
}

/** Reads the beginning of a response's body. If the body stops before its end, returns the part that has arrived. */
async function readBeginning(body: AsyncIterable<Buffer> & { destroy(): void }): Promise<string> {
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

/** Reads `Retry-After`, which has seconds or an HTTP date (RFC 9110 §10.2.3). Returns seconds from now. */
function parseRetryAfter(value: string | undefined): number | null {
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1_000));
}

function isFinal(error: unknown): boolean {
  if (error instanceof UncallableError || error instanceof BlockedAddressError) return true;
  return error instanceof Error && error.cause instanceof BlockedAddressError;
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
