import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, createApiClient } from '../load/api-client.ts';
import type { LoadProject } from '../load/projects.ts';
import type { Random } from './random.ts';

export type RequestKind = 'email with key' | 'email without key' | 'rate-limited email' | 'SMS' | 'event';

/** A request that a client sent, and its result as far as the client knows it. */
export interface ClientRequest {
  kind: RequestKind;
  /** Identifies the request: the address of its recipient or contact, or the text of its SMS. */
  name: string;
  /** `unknown`: a request without an idempotency key got no response, so it may or may not have been accepted. */
  state: 'open' | 'accepted' | 'unknown' | 'refused';
  /** The last response that did not accept the request, or the last connection error. */
  lastFailure?: string;
}

export interface Load {
  readonly requests: ClientRequest[];
  /** Stops starting new requests. */
  stop(): Promise<void>;
  /**
   * Returns the number of requests that were neither accepted nor refused yet. The client still repeats such a request
   * if it has an idempotency key.
   */
  countOpen(): number;
  /** Aborts the open requests. */
  close(): Promise<void>;
}

/** A request of the load, and whether it has an idempotency key. */
interface LoadRequest {
  client: ApiClient;
  path: string;
  body: object;
  withKey?: boolean;
}

/** Requests per second of each kind, sent on schedule without waiting for earlier responses. */
const RATES: Record<RequestKind, number> = {
  'email with key': 4,
  'email without key': 2,
  'rate-limited email': 3,
  SMS: 1,
  event: 2,
};
const REPEAT_MS = [200, 1_500] as const;
const TIMEOUT_MS = 10_000;
/**
 * The seconds from the event that starts an execution to the event `soak-go`, for which the execution waits. `soak-go`
 * arrives before the wait, during the wait, or after its timeout.
 */
const GO_SECONDS = [0, 15] as const;
/** The share of executions for which the event `soak-go` is sent. */
const GO_SHARE = 0.6;

/** Sends the load until it is stopped. `shop` has the automation and the SMS sender; `slow` has a low send rate. */
export function startLoad(p: {
  baseUrl: string;
  shop: LoadProject;
  slow: LoadProject;
  random: Random;
  scale: number;
}): Load {
  const { shop, slow, random } = p;
  const requests: ClientRequest[] = [];
  const open = new Set<Promise<unknown>>();
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // Each pause adds a listener.
  const closing = new AbortController();
  const [shopClient, slowClient] = [shop, slow].map(({ secretKey }) =>
    createApiClient({ baseUrl: p.baseUrl, key: secretKey, timeoutMs: TIMEOUT_MS }),
  ) as [ApiClient, ApiClient];

  /**
   * Sends a request. With an idempotency key, repeats the request until it gets a response. Without a key, sends it
   * once.
   */
  const sendUntilDecided = async (item: ClientRequest, { client, path, body, withKey = true }: LoadRequest) => {
    const headers: Record<string, string> = withKey ? { 'idempotency-key': randomUUID() } : {};
    while (item.state === 'open' && !closing.signal.aborted) {
      const response = await client.call('POST', path, body, headers).catch((error: Error) => error);
      const verdict = judgeResponse(response);
      if (verdict !== 'accepted')
        item.lastFailure = response instanceof Error ? response.message : JSON.stringify(response);
      if (verdict !== 'again') item.state = verdict;
      else if (!withKey) item.state = 'unknown';
      else await sleep(random.between(...REPEAT_MS));
    }
  };
  const startRequest = (kind: RequestKind, name: string, request: LoadRequest) => {
    const item: ClientRequest = { kind, name, state: 'open' };
    requests.push(item);
    const work = sendUntilDecided(item, request).finally(() => open.delete(work));
    open.add(work);
    return work;
  };
  const sendEmail = (kind: RequestKind, to: string, from: LoadProject, client: ApiClient) => {
    const body = { to, from: `hello@${from.domain}`, subject: 'Soak', body: '<p>Your code is 4711.</p>' };
    return startRequest(kind, to, { client, path: '/v1/send', body, withKey: kind !== 'email without key' });
  };
  const kinds: Record<RequestKind, (n: number) => Promise<unknown>> = {
    'email with key': (n) => sendEmail('email with key', `key${n}@soak.test`, shop, shopClient),
    'email without key': (n) => sendEmail('email without key', `bare${n}@soak.test`, shop, shopClient),
    'rate-limited email': (n) => sendEmail('rate-limited email', `slow${n}@soak.test`, slow, slowClient),
    SMS: (n) => {
      const text = `Code ${n}.`;
      const to = `+49151${String(10_000_000 + n)}`;
      return startRequest('SMS', text, { client: shopClient, path: '/v1/sms/send', body: { to, body: text } });
    },
    event: async (n) => {
      const email = `event${n}@soak.test`;
      const isGoSent = random.chance(GO_SHARE);
      const seconds = random.between(...GO_SECONDS);
      const body = { email, event: 'soak-start', data: { n } };
      await startRequest('event', email, { client: shopClient, path: '/v1/track', body });
      if (!isGoSent) return;
      await sleep(seconds * 1_000, undefined, { signal: stopping.signal }).catch(() => {});
      await shopClient.call('POST', '/v1/track', { email, event: 'soak-go' }).catch(() => {});
    },
  };
  const run = async (kind: RequestKind) => {
    const periodMs = 1_000 / (RATES[kind] * p.scale);
    const startedAt = performance.now();
    for (let n = 0; !stopping.signal.aborted; n += 1) {
      const work = kinds[kind](n).finally(() => open.delete(work));
      open.add(work);
      const due = startedAt + (n + 1) * periodMs * random.between(0.9, 1.1);
      await sleep(Math.max(0, due - performance.now()), undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const running = Promise.all((Object.keys(RATES) as RequestKind[]).map(run));
  return {
    requests,
    stop: async () => {
      stopping.abort();
      await running;
    },
    countOpen: () => requests.filter(({ state }) => state === 'open').length,
    close: async () => {
      closing.abort();
      await Promise.allSettled(open);
      await Promise.all([shopClient.close(), slowClient.close()]);
    },
  };
}

/**
 * Returns whether a request was accepted or refused, or `again` if the response does not tell. A 409 for a used
 * idempotency key means that an earlier attempt was accepted and its response was lost. A request with a 5xx, or
 * without a response, may or may not have taken effect.
 */
function judgeResponse(response: { status: number; body: { error?: { code?: string } } } | Error) {
  if (response instanceof Error || response.status >= 500) return 'again';
  if (response.status < 300 || response.body.error?.code === 'IDEMPOTENCY_KEY_REUSED') return 'accepted';
  return 'refused';
}
