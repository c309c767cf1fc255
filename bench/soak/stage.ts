import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FakeTwilio, startFakeTwilio } from '../../cli/demo/twilio.ts';
import { startEmbeddedPostgres } from '../../cli/start/embedded-postgres.ts';
import { findFreePort } from '../../cli/start/ports.ts';
import { identifyProcess } from '../../cli/start/processes.ts';
import { findTemporalBinary } from '../../cli/start/temporal-binary.ts';
import { startTemporalServer } from '../../cli/start/temporal-server.ts';
import { connect, type Db } from '../../db/connection.ts';
import { migrateToLatest } from '../../db/migrator.ts';
import { TEST_SECRET_KEY } from '../../test/build/senders.ts';
import { type HostProcess, startHostProcess } from '../../test/support/host-process.ts';
import { type SmtpSink, startSmtpSink } from '../../test/support/smtp/smtp-sink.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../test/support/webhook-receiver.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { createCommitTrap, createReplyTrap, type Trap } from './taps.ts';

/** A process of the service that the bench restarts whenever it ends. */
export interface RestartedProcess {
  readonly name: string;
  /** Sends SIGKILL; returns false if no process runs at the moment. */
  kill(): Promise<boolean>;
  /** The last output lines of processes that ended without being killed by the bench. */
  readonly deaths: string[];
  stop(): Promise<void>;
}

/** The service with its servers behind proxies, and the receivers of its messages. */
export interface SoakStage {
  baseUrl: string;
  /** A direct connection to Postgres, not through the proxy. */
  db: Db;
  sink: SmtpSink;
  twilio: FakeTwilio;
  receiver: WebhookReceiver;
  /** Makes Twilio accept the next message and close the connection without a response. */
  hangUpOnce(): void;
  /** The positions in the list `twilio.requests` of the requests that got no response. */
  readonly hungUp: Set<number>;
  /** Makes the receiver respond with 500 to this many of the next requests. */
  refuseWebhooks(count: number): void;
  postgres: FaultProxy;
  temporal: FaultProxy;
  relay: FaultProxy;
  /** Drops the response of Postgres to a COMMIT. */
  commits: Trap;
  /** Drops the reply of the relay to an email. */
  replies: Trap;
  api: RestartedProcess;
  workers: RestartedProcess[];
  close(): Promise<void>;
}

const SINK_LATENCY_MS = 5;
const ACCOUNT = 'AC00000000000000000000000000000000';

/** Starts the service and all servers. `inDoubt` receives each Message-ID for which the reply of the sink was lost. */
export async function startSoakServers(p: {
  workers: number;
  inDoubt: (messageId: string) => void;
}): Promise<SoakStage> {
  const home = mkdtempSync(join(tmpdir(), 'tidings-soak-'));
  const ends: (() => unknown)[] = [() => rmSync(home, { recursive: true, force: true, maxRetries: 10 })];
  const endAll = async () => {
    for (const end of ends.reverse()) await end();
  };
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= endAll();
    return closed;
  };
  const closeAtEnd = <T>(value: T, end: (value: T) => unknown): T => {
    ends.push(() => end(value));
    return value;
  };
  try {
    const servers = await startServers(home, (end) => ends.push(end));
    const sink = closeAtEnd(await startSmtpSink({ latencyMs: SINK_LATENCY_MS }), (it) => it.close());
    const twilio = closeAtEnd(await startFakeTwilio(), (it) => it.close());
    const hungUp = new Set<number>();
    let refusals = 0;
    const receiver = closeAtEnd(
      await startWebhookReceiver((_, response) => {
        if (refusals > 0) {
          refusals -= 1;
          response.statusCode = 500;
        }
        response.end('ok');
      }),
      (it) => it.close(),
    );
    const [commits, replies] = [createCommitTrap(), createReplyTrap(p.inDoubt)];
    const proxy = async (port: number, trap?: Trap) =>
      closeAtEnd(await startFaultProxy(port, trap && (() => trap.tap())), (it) => it.close());
    const postgres = await proxy(servers.postgresPort, commits);
    const temporal = await proxy(servers.temporalPort);
    const relay = await proxy(sink.port, replies);
    const { db } = connect({ connectionString: servers.url, max: 3, applicationName: 'soak', onError: () => {} });
    closeAtEnd(db, (it) => it.destroy());
    const port = String(await findFreePort());
    const env = {
      DATABASE_URL: Object.assign(new URL(servers.url), { host: postgres.address }).href,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: 'default',
      SECRET_KEY: TEST_SECRET_KEY,
      EMAIL_PROVIDER: 'smtp',
      SMTP_URL: `smtp://${relay.address}`,
      DKIM_SIGN: 'off',
      LOG_LEVEL: 'warn',
      SMS_PROVIDER: 'twilio',
      TWILIO_ACCOUNT_SID: ACCOUNT,
      TWILIO_AUTH_TOKEN: 'soak',
      TWILIO_BASE_URL: twilio.url,
      WEBHOOK_ALLOW_PRIVATE: 'true',
      RATE_LIMIT_PER_MINUTE: '0',
      PORT: port,
    };
    const baseUrl = `http://127.0.0.1:${port}`;
    const api = closeAtEnd(
      keepRunning('API', () => startHostProcess('api', env, () => isLive(baseUrl))),
      (it) => it.stop(),
    );
    const isUp = (output: string) => output.includes('takes tasks');
    const workerEnv = { ...env, LOG_LEVEL: 'info' }; // At this level the worker logs when it takes tasks.
    const workers = Array.from({ length: p.workers }, (_, n) =>
      closeAtEnd(
        keepRunning(`worker ${n + 1}`, () => startHostProcess('worker', workerEnv, isUp)),
        (it) => it.stop(),
      ),
    );
    while (!(await isLive(baseUrl))) await sleep(100);
    return {
      baseUrl,
      db,
      sink,
      twilio,
      receiver,
      postgres,
      temporal,
      relay,
      commits,
      replies,
      api,
      workers,
      close,
      hungUp,
      hangUpOnce: () => {
        hungUp.add(twilio.requests.length + twilio.next.length);
        twilio.next.push('hangup');
      },
      refuseWebhooks: (count) => {
        refusals += count;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startServers(home: string, atEnd: (end: () => unknown) => void) {
  const postgresPort = await findFreePort();
  const postgres = await startEmbeddedPostgres({
    dataFolder: join(home, 'postgres', 'data'),
    logFile: join(home, 'postgres.log'),
    port: postgresPort,
    password: 'soak',
  });
  atEnd(() => postgres.stop());
  await migrateToLatest(postgres.url);
  const { TEMPORAL_CLI_PATH: cliPath } = process.env;
  const binary = await findTemporalBinary({
    cliPath,
    binFolder: join(home, 'bin'),
    env: process.env,
    progress: console.log,
    signal: new AbortController().signal,
  });
  const temporalPort = await findFreePort();
  const temporal = await startTemporalServer({
    binary,
    databaseFile: join(home, 'temporal.db'),
    logFile: join(home, 'temporal.log'),
    namespace: 'default',
    port: temporalPort,
    uiPort: await findFreePort(),
    httpPort: await findFreePort(),
    metricsPort: await findFreePort(),
  });
  atEnd(() => temporal.stop());
  return { url: postgres.url, postgresPort, temporalPort };
}

async function isLive(baseUrl: string): Promise<boolean> {
  return fetch(`${baseUrl}/health/live`, { signal: AbortSignal.timeout(2_000) }).then(
    (response) => response.ok,
    () => false,
  );
}

/** Starts a process, and restarts it when it has ended. Retries a failed start, because its servers may be down. */
function keepRunning(name: string, start: () => Promise<HostProcess>): RestartedProcess {
  const deaths: string[] = [];
  let host: HostProcess | undefined;
  let wasKilled = false;
  let stopped = false;
  const run = async () => {
    while (!stopped) {
      host = await start().catch(() => undefined);
      wasKilled = false;
      while (host && !stopped && identifyProcess(host.pid)) await sleep(100);
      if (host && !stopped && !wasKilled) deaths.push(host.output().trim().split('\n').slice(-3).join('\n'));
      await sleep(200);
    }
    await host?.kill();
  };
  const running = run();
  return {
    name,
    deaths,
    kill: async () => {
      if (!host || !identifyProcess(host.pid) || wasKilled) return false;
      wasKilled = true;
      await host.kill();
      return true;
    },
    stop: async () => {
      stopped = true;
      await host?.kill();
      await running;
    },
  };
}
