import { createServer, type Server } from 'node:http';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { ComputedWork } from '../../compute/compute.ts';
import type { BlockedLoop } from '../../compute/loop-watch.ts';
import { isLoopbackAuthority, isLoopbackHost } from '../../rules/access/loopback.ts';

export interface Metrics {
  registry: Registry;
  observe(request: { method: string; route: string; status: number; ms: number }): void;
  /** Records for how long a route blocked the event loop. */
  observeBlockedLoop(blocked: BlockedLoop): void;
  /** Records the CPU time of work in a thread, by the kind of work. */
  observeCpuTime(work: ComputedWork): void;
}

/** Creates the Prometheus metrics of the API. `ofProcess` adds metrics of the Node process, such as its memory. */
export function createMetrics(options: { ofProcess?: boolean } = {}): Metrics {
  const registry = new Registry();
  if (options.ofProcess) collectDefaultMetrics({ register: registry, prefix: 'tidings_api_' });
  const requests = new Counter({
    name: 'tidings_http_requests_total',
    help: 'Requests, by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'tidings_http_request_seconds',
    help: 'Time to the response, by method and route.',
    labelNames: ['method', 'route'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const blockedSeconds = new Histogram({
    name: 'tidings_event_loop_held_seconds',
    help: 'Times that the event loop was blocked for more than 0.2 s, by the route that blocked it.',
    labelNames: ['work'],
    buckets: [0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const cpuSeconds = new Counter({
    name: 'tidings_computed_seconds_total',
    help: 'CPU seconds of threads, and an estimate for pages of lists, by kind of work.',
    labelNames: ['kind'],
    registers: [registry],
  });
  return {
    registry,
    observeBlockedLoop({ work, ms }) {
      blockedSeconds.observe({ work }, ms / 1000);
    },
    observeCpuTime({ kind, cpuMs }) {
      cpuSeconds.inc({ kind }, cpuMs / 1000);
    },
    observe({ method, route, status, ms }) {
      requests.inc({ method, route, status });
      seconds.observe({ method, route }, ms / 1000);
    },
  };
}

/**
 * Serves `/metrics` on a separate port, which must not be public. On loopback, the check of `Host` prevents web pages
 * of other sites from reading the metrics, as `createHostCheck` does for the API.
 */
export async function serveMetrics(metrics: Metrics, p: { host: string; port: number }): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (isLoopbackHost(p.host) && !isLoopbackAuthority(request.headers.host ?? ''))
      return response.writeHead(403).end();
    if (request.url !== '/metrics') return response.writeHead(404).end();
    const text = await metrics.registry.metrics();
    return response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(p.port, p.host, resolve);
  });
  return server;
}
