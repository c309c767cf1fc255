import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, apiClient } from '../load/api-client.ts';
import type { LoadProject } from '../load/projects.ts';
import type { Random } from './random.ts';

export type RequestKind = 'email with key' | 'email without key' | 'rate-limited email' | 'SMS' | 'event';

/** One request of a client. */
export interface Asked {
  kind: RequestKind;
  /** Identifies the request: the address of its recipient or contact, or the text of its SMS. */
  name: string;
  /** `unknown`: a request without an idempotency key got no response, so it may or may not have been accepted. */
  state: 'open' | 'accepted' | 'unknown' | 'refused';
  /** The last response that was neither an acceptance nor a refusal. */
  trouble?: string;
}

export interface Load {
  readonly asked: Asked[];
  /** Stops starting new requests. */
  stop(): Promise<void>;
  /**
   * Returns the number of requests that were neither accepted nor refused yet. The client still repeats such a request
   * if it has an idempotency key.
   */
  open(): number;
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
/** The seconds until the event that an execution waits for. It may arrive before the wait, during it, or never. */
const GO_SECONDS = [0, 15] as const;
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
  const asked: Asked[] = [];
  const open = new Set<Promise<unknown>>();
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // Each pause adds a listener.
  const closing = new AbortController();
  const [shopClient, slowClient] = [shop, slow].map(({ secretKey }) =>
    apiClient({ baseUrl: p.baseUrl, key: secretKey, timeoutMs: TIMEOUT_MS }),
  ) as [ApiClient, ApiClient];

  /**
   * Sends a request. With an idempotency key, repeats the request until it gets a response. Without a key, sends it
   * once.
   */
  const ask = async (item: Asked, { client, path, body, withKey = true }: LoadRequest) => {
    const headers: Record<string, string> = withKey ? { 'idempotency-key': randomUUID() } : {};
    while (item.state === 'open' && !closing.signal.aborted) {
      const response = await client.call('POST', path, body, headers).catch((error: Error) => error);
      const verdict = verdictOf(response);
      if (verdict !== 'accepted')
        item.trouble = response instanceof Error ? response.message : JSON.stringify(response);
      if (verdict !== 'again') item.state = verdict;
      else if (!withKey) item.state = 'unknown';
      else await sleep(random.between(...REPEAT_MS));
    }
  };
  const begin = (kind: RequestKind, name: string, request: LoadRequest) => {
    const item: Asked = { kind, name, state: 'open' };
    asked.push(item);
    const work = ask(item, request).finally(() => open.delete(work));
    open.add(work);
    return work;
  };
  const sendEmail = (kind: RequestKind, to: string, from: LoadProject, client: ApiClient) => {
    const body = { to, from: `hello@${from.domain}`, subject: 'Soak', body: '<p>Your code is 4711.</p>' };
    return begin(kind, to, { client, path: '/v1/send', body, withKey: kind !== 'email without key' });
  };
  const kinds: Record<RequestKind, (n: number) => Promise<unknown>> = {
    'email with key': (n) => sendEmail('email with key', `key${n}@soak.test`, shop, shopClient),
    'email without key': (n) => sendEmail('email without key', `bare${n}@soak.test`, shop, shopClient),
    'rate-limited email': (n) => sendEmail('rate-limited email', `slow${n}@soak.test`, slow, slowClient),
    SMS: (n) => {
      const text = `Code ${n}.`;
      const to = `+49151${String(10_000_000 + n)}`;
      return begin('SMS', text, { client: shopClient, path: '/v1/sms/send', body: { to, body: text } });
    },
    event: async (n) => {
      const email = `event${n}@soak.test`;
      const goes = random.chance(GO_SHARE);
      const seconds = random.between(...GO_SECONDS);
      const body = { email, event: 'soak-start', data: { n } };
      await begin('event', email, { client: shopClient, path: '/v1/track', body });
      if (!goes) return;
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
    asked,
    stop: async () => {
      stopping.abort();
      await running;
    },
    open: () => asked.filter(({ state }) => state === 'open').length,
    close: async () => {
      closing.abort();
      await Promise.allSettled(open);
      await Promise.all([shopClient.close(), slowClient.close()]);
    },
  };
}

/**
 * Tells whether a request was accepted. A 409 for a used idempotency key means that an earlier attempt was accepted and
 * its response was lost. A 5xx may or may not have taken effect.
 */
function verdictOf(response: { status: number; body: { error?: { code?: string } } } | Error) {
  if (response instanceof Error || response.status >= 500) return 'again';
  if (response.status < 300 || response.body.error?.code === 'IDEMPOTENCY_KEY_REUSED') return 'accepted';
  return 'refused';
}
