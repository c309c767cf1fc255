import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createSendAcceptor } from '../api/accept/send-acceptor.ts';
import { connect } from '../db/connection.ts';
import { inTransaction } from '../db/transaction.ts';
import { acceptSends } from '../engine/sending/accept-sends.ts';
import type { SendRequest } from '../rules/emails/send-request.ts';
import { markTrusted } from '../rules/provenance/provenance.ts';
import { readCpuMs, readPostgresCpuMs } from '../test/support/process-cpu.ts';
import { startSmtpSink } from '../test/support/smtp/smtp-sink.ts';
import { createHomePath, removeHome, startService } from '../test/support/start.ts';

/**
 * Measures `POST /v1/send`: how many requests per second one API process accepts from 64 clients. The baseline uses one
 * transaction per request. Also measures the time of an email from the request to the end of the SMTP command DATA, on
 * an idle service. In the first part the worker is paused (SIGSTOP), so that it does not use the cores of API and
 * Postgres. In the second part it sends at the same time on the same cores.
 */
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    clients: { type: 'string', default: '64' },
    latency: { type: 'string', default: '50' },
    deliver: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const requests = Number(values.requests);
const clients = Number(values.clients);
/** Requests before the measurement, in which the JavaScript engine compiles frequently used code. */
const WARM_UP = 5_000;
const SUPPRESSION_KEY = Buffer.alloc(32, 1);
const BODY = `<p>Hello {{name}}, this is your order {{orderNo}}.</p>${'<p>A line of text.</p>'.repeat(100)}`;

const arrivals = new Map<string, () => void>();
let delivered = 0;
const sink = await startSmtpSink({
  record: false,
  replyToMessage: (to) => {
    delivered += 1;
    arrivals.get(to)?.();
    return null;
  },
});
const home = createHomePath();
const service = await startService({
  home,
  env: {
    WORKERS: '1',
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: sink.url,
    RATE_LIMIT_PER_MINUTE: '0',
    SECRET_KEY: 'the secret key of the bench',
    LOG_LEVEL: 'warn',
  },
});
const dev = service.dev();
const { db } = connect({ connectionString: dev.databaseUrl, max: 10, applicationName: 'bench', onError: () => {} });
const worker = dev.pids.workers[0] ?? 0;
const HEAD = [
  'POST /v1/send HTTP/1.1',
  `Host: ${new URL(dev.baseUrl).host}`,
  `Authorization: Bearer ${dev.secretKey}`,
  'Content-Type: application/json',
  '',
].join('\r\n');
const BODY_AFTER_TO = JSON.stringify({
  from: { name: 'Shop', email: `shop@${dev.domain}` },
  subject: 'Order {{orderNo}}',
  body: BODY,
  data: { name: 'Ada', orderNo: { value: 4711, persistent: false } },
}).slice('{'.length);

try {
  const idle = await measureIdleLatencies(Number(values.latency));
  process.kill(worker, 'SIGSTOP');
  const rates = await measureAcceptanceRates();
  process.kill(worker, 'SIGCONT');
  const before = delivered;
  const busy = await measureAcceptance(requests, (count) => sendOverHttp(count, 'busy'), dev.pids.api);
  console.log(`\nAccepting ${requests} requests from ${clients} clients; everything on the same cores`);
  console.table([...rates, { what: 'POST /v1/send, while a worker delivers', ...busy }]);
  console.log('From the request to the end of SMTP DATA, one email at a time on an idle service');
  console.table([idle]);
  if (values.deliver) console.table([await measureDeliveryRate(before + WARM_UP + 2 * requests)]);
} finally {
  process.kill(worker, 'SIGCONT');
  await db.destroy();
  service.signal('SIGTERM');
  await service.exited;
  await sink.close();
  await removeHome(home);
}

async function measureIdleLatencies(count: number) {
  const client = await openClient();
  const times: number[] = [];
  for (let n = -5; n < count; n += 1) {
    const to = `idle${n}@bench.test`;
    const startedAt = performance.now();
    const arrived = new Promise<void>((resolve) => arrivals.set(to, resolve));
    await client.post(buildRequestText(to));
    await arrived;
    if (n >= 0) times.push(performance.now() - startedAt);
    await sleep(30); // The remaining work of the email ends in this time, so the service is idle again.
  }
  client.close();
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round(times[Math.floor(share * (times.length - 1))] ?? 0);
  return { emails: count, 'p50 ms': at(0.5), 'p90 ms': at(0.9), 'p99 ms': at(0.99), 'max ms': at(1) };
}

async function measureAcceptanceRates() {
  let n = 0;
  const next = () => buildSendRequest(`plain${n++}@bench.test`);
  const plain = (request: SendRequest) =>
    inTransaction(db, (trx) => acceptSends(trx, [request], { suppressionKey: SUPPRESSION_KEY }));
  const acceptor = createSendAcceptor({ db, suppressionKey: SUPPRESSION_KEY, outbox: { wake: () => {} } });
  await runConcurrently(500, () => acceptor.accept(next()));
  const few = Math.min(requests, 5_000);
  const alone = await measureAcceptance(few, (count) => runConcurrently(count, () => plain(next())), process.pid);
  const grouped = await measureAcceptance(
    few,
    (count) => runConcurrently(count, () => acceptor.accept(next())),
    process.pid,
  );
  await db.deleteFrom('outbox').execute();
  await sendOverHttp(WARM_UP, 'warm');
  const http = await measureAcceptance(requests, (count) => sendOverHttp(count, 'http'), dev.pids.api);
  return [
    { what: 'a transaction a request, no HTTP', ...alone },
    { what: 'group commit, no HTTP', ...grouped },
    { what: 'POST /v1/send, one API process, workers paused', ...http },
  ];
}

async function sendOverHttp(count: number, name: string): Promise<void> {
  const open = await Promise.all(Array.from({ length: clients }, openClient));
  let sent = 0;
  await Promise.all(
    open.map(async (client) => {
      for (let i = sent++; i < count; i = sent++) {
        const status = await client.post(buildRequestText(`${name}${i}@bench.test`));
        if (status !== 200) throw new Error(`POST /v1/send responded with ${status}`);
      }
    }),
  );
  for (const client of open) client.close();
}

/**
 * Measures the rate, and five values of the CPU time per request: for the accepting process, for Postgres with all its
 * backends, for the clients with the sink, for Temporal, and for a worker.
 */
async function measureAcceptance(count: number, work: (count: number) => Promise<void>, pid: number) {
  const clientPid = pid === process.pid ? 0 : process.pid;
  const cpu = () => ({
    'Node CPU µs': readCpuMs([pid]),
    'Postgres CPU µs': readPostgresCpuMs(dev.pids.postgres),
    'clients and sink': readCpuMs([clientPid]),
    Temporal: readCpuMs(dev.pids.temporal === null ? [] : [dev.pids.temporal]),
    worker: readCpuMs([worker]),
  });
  const before = cpu();
  const startedAt = performance.now();
  await work(count);
  const seconds = (performance.now() - startedAt) / 1000;
  const after = cpu();
  const names = Object.keys(before) as (keyof typeof before)[];
  const spent = names.map((name) => [name, Math.round(((after[name] - before[name]) * 1000) / count)]);
  return { 'accepted/s': Math.round(count / seconds), ...Object.fromEntries(spent) };
}

/**
 * Measures how many emails per second one worker sends. The emails were accepted over HTTP while the worker was paused,
 * and each has a row and an event in the database.
 */
async function measureDeliveryRate(total: number) {
  const startedAt = performance.now();
  const before = delivered;
  while (delivered < total) {
    if (performance.now() - startedAt > 180_000) break;
    await sleep(50);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    'then delivered by one worker': delivered - before,
    seconds: Math.round(seconds),
    'emails/s': Math.round((delivered - before) / seconds),
  };
}

async function runConcurrently(count: number, work: () => Promise<unknown>): Promise<void> {
  let started = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (started++ < count) await work();
    }),
  );
}

function buildSendRequest(to: string): SendRequest {
  return {
    projectId: dev.projectId,
    mode: 'live',
    monthlyEmailLimit: null,
    request: 'POST /v1/send',
    idempotencyKey: to,
    owner: { name: 'key:bench', public: false, scopes: new Set<string>() },
    to: [{ email: to, name: null }],
    subject: 'Order {{orderNo}}',
    body: BODY,
    templateId: undefined,
    from: { email: `shop@${dev.domain}`, name: 'Shop' },
    replyTo: undefined,
    subscribed: undefined,
    data: { set: { name: 'Ada' }, remove: [], oneOff: markTrusted({ orderNo: 4711 }) },
    headers: {},
    attachments: [],
  };
}

/**
 * Returns a request as text. The text is composed from constants, because the client shares the cores with the measured
 * processes.
 */
function buildRequestText(to: string): string {
  const body = `{"to":"${to}",${BODY_AFTER_TO}`;
  return `${HEAD}Idempotency-Key: ${to}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/**
 * Opens a client with one persistent connection. The client needs almost no CPU time, because it shares the cores with
 * the measured processes.
 */
async function openClient(): Promise<{ post(text: string): Promise<number>; close(): void }> {
  const { hostname, port } = new URL(dev.baseUrl);
  const socket = net.connect(Number(port), hostname).setNoDelay(true);
  await new Promise((resolve) => socket.once('connect', resolve));
  let text = '';
  let onResponse: (status: number) => void = () => {};
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
    const end = text.indexOf('\r\n\r\n');
    const length = /content-length: (\d+)/i.exec(text)?.[1];
    if (end < 0 || length === undefined || text.length < end + 4 + Number(length)) return;
    const status = Number(text.slice(9, 12));
    text = '';
    onResponse(status);
  });
  return {
    post: (request) =>
      new Promise((resolve) => {
        onResponse = resolve;
        socket.write(request, 'latin1');
      }),
    close: () => socket.destroy(),
  };
}
