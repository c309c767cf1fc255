import { setTimeout as sleep } from 'node:timers/promises';
import { getMonotonicMs, type SinkProcess } from '../test/support/smtp/sink-process.ts';
import type { ApiClient } from './load/api-client.ts';

/** Latencies of one kind of B's requests, from the request to the end of DATA, in ms. */
export interface Latencies {
  sent: number;
  p50: number;
  p95: number;
  p99: number;
  max: number;
  /**
   * Accepted emails that had not arrived when the wait ended. In the numbers above, each of them counts with the time
   * from its request to the end of the wait.
   */
  missing: number;
}

/** Measurements of tenant B. */
export interface TenantReport {
  emails: Latencies;
  executions: Latencies;
  /** The number of requests that got a status other than 200, or no response. */
  refused: number;
}

export interface TenantLoad {
  /** Stops sending requests, and waits at most `drainMs` for accepted work. */
  stop(drainMs: number): Promise<TenantReport>;
}

/**
 * Starts B: `perSecond` single emails and as many events, each of which starts an execution with one email. Each
 * request is sent on schedule, without waiting for earlier responses, until B is stopped.
 */
export function startTenantLoad(p: {
  client: ApiClient;
  sink: SinkProcess;
  domain: string;
  eventName: string;
  /** Names the recipients of this run. */
  tag: string;
  perSecond: number;
}): TenantLoad {
  const sentAt = new Map<string, number>();
  const open = new Set<Promise<void>>();
  let refused = 0;
  let stopped = false;

  const send = (to: string, path: string, body: object): void => {
    sentAt.set(to, getMonotonicMs());
    const refuse = () => {
      refused += 1;
      sentAt.delete(to);
    };
    const request = p.client
      .call('POST', path, body)
      .then(({ status }) => (status === 200 ? undefined : refuse()), refuse)
      .finally(() => open.delete(request));
    open.add(request);
  };
  const email = (n: number) => {
    const to = `${p.tag}m${n}@load.test`;
    const from = `hello@${p.domain}`;
    send(to, '/v1/send', { to, from, subject: 'Your code {{n}}', body: '<p>Your code is {{n}}.</p>', data: { n } });
  };
  const execution = (n: number) => {
    const to = `${p.tag}x${n}@load.test`;
    send(to, '/v1/track', { email: to, event: p.eventName, data: { name: 'Ada' } });
  };
  const run = async () => {
    const periodMs = 1_000 / p.perSecond;
    const startedAt = getMonotonicMs();
    for (let half = 0; !stopped; half += 1) {
      (half % 2 === 0 ? email : execution)(half >> 1);
      await sleep(Math.max(0, startedAt + ((half + 1) * periodMs) / 2 - getMonotonicMs()));
    }
  };
  const running = run();

  return {
    async stop(drainMs) {
      stopped = true;
      await running;
      await Promise.allSettled(open);
      const deadline = getMonotonicMs() + drainMs;
      let arrivals = await p.sink.arrivals(p.tag);
      while (getMonotonicMs() < deadline && [...sentAt.keys()].some((to) => arrivals[to] === undefined)) {
        await sleep(250);
        arrivals = await p.sink.arrivals(p.tag);
      }
      const of = (kind: string) =>
        summarizeLatencies(
          [...sentAt].filter(([to]) => to.startsWith(p.tag + kind)).map(([to, at]) => [at, arrivals[to]]),
        );
      return { emails: of('m'), executions: of('x'), refused };
    },
  };
}

function summarizeLatencies(sent: [number, number | undefined][]): Latencies {
  const now = getMonotonicMs();
  const times = sent.map(([at, arrivedAt]) => (arrivedAt ?? now) - at).sort((a, b) => a - b);
  return {
    sent: sent.length,
    p50: computePercentile(times, 0.5),
    p95: computePercentile(times, 0.95),
    p99: computePercentile(times, 0.99),
    max: computePercentile(times, 1),
    missing: sent.filter(([, arrivedAt]) => arrivedAt === undefined).length,
  };
}

/** Returns a percentile of sorted numbers, rounded to a whole number. */
export function computePercentile(sorted: number[], share: number): number {
  return Math.round(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0);
}
