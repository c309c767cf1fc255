import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import type { Logger } from 'pino';
import { openBucket } from '../../channels/assets/bucket.ts';
import { createCompute } from '../../compute/compute.ts';
import { watchLoop } from '../../compute/loop-watch.ts';
import { connect } from '../../db/connection.ts';
import { findInstallation } from '../../db/installation/installation.ts';
import { type Release, startHeartbeat } from '../../db/operator/processes.ts';
import { createBacklogReader } from '../../db/outbox/outbox-backlog.ts';
import { createOutboxWaker } from '../../db/outbox/outbox-waker.ts';
import { API_CONNECTIONS, API_READ_CONNECTIONS } from '../../db/pool-sizes.ts';
import { isLoopbackHost } from '../../rules/access/loopback.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import type { Config } from '../../rules/config.ts';
import { describeFailure } from '../../rules/failure-text.ts';
import type { Installation } from '../../rules/installation.ts';
import { createWorkflowLifecycle } from '../../temporal/lifecycle.ts';
import { EngagementBatcher } from '../accept/engagement-batcher.ts';
import { startInboundEmail } from '../mail/inbound-email.ts';
import { startSmtpRelay } from '../mail/smtp-relay.ts';
import { createApp } from './app.ts';
import { registerBacklogMetrics } from './backlog-metrics.ts';
import { createBadUrlResponse, respondToMalformedHttp } from './bad-http.ts';
import type { Deps } from './deps.ts';
import { createKeyCache } from './key-cache.ts';
import { createMetrics, type Metrics, serveMetrics } from './metrics.ts';
import { createRateLimits } from './rate-limits.ts';
import { createRequestLog } from './request-log.ts';

/** Postgres cancels a statement of the API that runs longer. Statements normally take far less time. */
const STATEMENT_TIMEOUT_MS = 120_000;
/** Time limit for statements on the connections for reads (`Deps.reads`): users do not wait longer for a page. */
const READ_TIMEOUT_MS = 20_000;
/**
 * Time after which an idle connection is closed. It is longer than the idle time of common load balancers (60 s), so
 * that the load balancer closes a connection first. Otherwise it could send a request to a closed socket.
 */
const KEEP_ALIVE_MS = 65_000;
/** Running requests get this long to finish when the process stops. `npm start` kills the API after 15 s. */
export const DRAIN_MS = 10_000;
/** Time limit for closing the connection to Temporal when the process stops. */
const TEMPORAL_MS = 3_000;

export interface RunningApi {
  port: number;
  close(): Promise<void>;
}

/**
 * Starts the HTTP API, the metrics server, the listener for inbound email and the SMTP relay, as configured. Temporal
 * may be down. `close` stops accepting requests, waits for running requests for at most `DRAIN_MS`, and closes every
 * connection.
 */
export async function startApi(
  initialConfig: Config,
  { log, release }: { log: Logger; release?: Release | undefined },
): Promise<RunningApi> {
  const installation = await findInstallation(initialConfig.database.url);
  let fetch: Parameters<typeof getRequestListener>[0] = () => new Response(null, { status: 503 });
  const listener = getRequestListener((...args) => fetch(...args), {
    errorHandler: createBadUrlResponse,
    // The host for requests without `Host`: HTTP/1.0 has no such header (RFC 1945), and the health checks of some load
    // balancers omit it.
    hostname: new URL(initialConfig.publicUrl).hostname,
  });
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, listener).on('clientError', respondToMalformedHttp);
  // Listens before it opens its dependencies, so that nothing needs to be closed if the port is in use.
  const port = await listen(server, initialConfig);
  // With PORT=0, the public URL is known only now.
  const config = { ...initialConfig, port, publicUrl: initialConfig.publicUrl.replace(/:0$/, `:${port}`) };
  const metrics = createMetrics({ ofProcess: true });
  const { deps, watch, close } = openDeps({ config, release }, { installation, log, metrics });
  registerBacklogMetrics(metrics.registry, deps.backlog);
  fetch = createApp(deps, metrics).fetch as typeof fetch;
  let heartbeat: ReturnType<typeof startHeartbeat> | undefined;
  let metricsServer: Server | undefined;
  let inbound: Awaited<ReturnType<typeof startInboundEmail>>;
  let relay: Awaited<ReturnType<typeof startSmtpRelay>>;

  async function stop(): Promise<void> {
    metricsServer?.close();
    await Promise.all([drainServer(server), inbound?.close(), relay?.close(), heartbeat?.stop()]);
    await close();
    log.info('the API has stopped');
  }

  try {
    if (config.metricsPort) {
      metricsServer = await serveMetrics(metrics, { host: config.metricsHost, port: config.metricsPort });
    }
    inbound = await startInboundEmail(deps);
    relay = await startSmtpRelay(deps);
  } catch (error) {
    await stop();
    throw error;
  }
  watch();
  heartbeat = release && startHeartbeat(deps.db, { kind: 'api', release, log });
  log.info({ port }, 'the API accepts requests');
  return { port, close: stop };
}

/** Opens the dependencies of routes. `close` first writes pending data and closes the database last. */
function openDeps(
  { config, release }: Pick<Deps, 'config' | 'release'>,
  { installation, log, metrics }: { installation: Installation; log: Logger; metrics: Metrics },
): { deps: Deps; watch: () => void; close: () => Promise<void> } {
  const loop = watchLoop((blocked) => {
    metrics.observeBlockedLoop(blocked);
    log.warn(blocked, 'the event loop was blocked');
  });
  const database = {
    onResponse: loop.noteResumed,
    connectionString: config.database.url,
    onError: (error: Error) => log.warn({ reason: describeFailure(error) }, 'an idle database connection broke'),
  };
  const { db, pool } = connect({
    ...database,
    max: API_CONNECTIONS,
    applicationName: 'tidings-api',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  const { db: reads } = connect({
    ...database,
    max: API_READ_CONNECTIONS,
    applicationName: 'tidings-api-reads',
    statementTimeoutMs: READ_TIMEOUT_MS,
  });
  const outbox = createOutboxWaker(db);
  const lifecycle = createWorkflowLifecycle({
    temporal: config.temporal,
    installation,
    publicUrl: config.publicUrl,
  });
  const keys = createKeyCache({ db, databaseUrl: config.database.url, log });
  const key = deriveKey(config.secretKey, 'rate-limit');
  const limits = createRateLimits({
    db,
    perMinute: config.rateLimitPerMinute,
    publicPerMinute: config.publicRateLimitPerMinute,
    key,
  });
  const lenient = isLoopbackHost(new URL(config.publicUrl).hostname);
  const engagements = new EngagementBatcher({ db, outbox, log, lenient });
  const requests = createRequestLog({ db: reads, log });
  const close = async () => {
    // All requests have their responses now, but some of their opens, clicks and log entries are not written yet.
    await Promise.all([engagements.close(), requests.close()]);
    // Calls to an unreachable Temporal must not delay the stop.
    await Promise.race([lifecycle.close(), sleep(TEMPORAL_MS, undefined, { ref: false })]);
    limits.close();
    loop.stop();
    await keys.close();
    await Promise.all([db.destroy(), reads.destroy(), compute.close(), bucket?.close()]);
  };
  const bucket = config.assetsBucket && openBucket(config.assetsBucket);
  const backlog = createBacklogReader(reads);
  const compute = createCompute({
    cpuMsPerSecond: config.projectCpuMsPerSecond,
    onDone: metrics.observeCpuTime,
    onResume: loop.noteResumed,
  });
  return {
    deps: {
      config,
      release,
      db,
      reads,
      pool,
      compute,
      loop,
      bucket,
      outbox,
      lifecycle,
      log,
      keys,
      limits,
      backlog,
      engagements,
      requests,
    },
    watch: loop.start,
    close,
  };
}

function listen(server: Server, config: Config): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(config.port, config.host, () => resolve((server.address() as AddressInfo).port));
  });
}

/**
 * Waits for running requests. `close` alone would also wait for idle keep-alive connections, so idle connections are
 * closed every 50 ms, and all connections after `DRAIN_MS`.
 */
async function drainServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const last = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearInterval(idle);
  clearTimeout(last);
}
