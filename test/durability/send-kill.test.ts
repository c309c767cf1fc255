import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { findFreePort } from '../../cli/start/ports.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { buildProject, type TestProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type HostProcess, startHostProcess } from '../support/host-process.ts';
import { createTestTemporal } from '../support/services.ts';
import { type SinkProcess, startSinkProcess } from '../support/smtp/sink-process.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

/** Emails in doubt in one process (activities/emails/mailer.ts), which may arrive twice after a kill. */
const IN_DOUBT_MAX = 60;

let database: TestDatabase;
let temporal: TcpProxy;
let namespace: string;
let sink: SinkProcess;
let project: TestProject;
let baseUrl: string;
let running: HostProcess[] = [];

beforeAll(async () => {
  const [made, services] = await Promise.all([createTestDatabase(), createTestTemporal()]);
  database = made;
  namespace = services.namespace;
  temporal = await startTcpProxy(services.address);
  project = await buildProject(database.db, 'Kill');
  await buildDomain(database.db, { projectId: project.id, signing: false });
});
afterAll(async () => {
  await temporal?.close();
  await database?.drop();
});
beforeEach(async () => {
  sink = await startSinkProcess(['--latency=20']);
});
afterEach(async () => {
  await Promise.all(running.map((host) => host.kill()));
  running = [];
  await sink.stop();
});

async function startProcess(command: 'api' | 'worker'): Promise<HostProcess> {
  const port = await findFreePort();
  if (command === 'api') baseUrl = `http://127.0.0.1:${port}`;
  const env = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: namespace,
    SECRET_KEY: TEST_SECRET_KEY,
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: sink.url,
    RATE_LIMIT_PER_MINUTE: '0',
    PORT: String(port),
  };
  const isUp = async (output: string) => {
    if (command === 'worker') return output.includes('takes tasks');
    return fetch(`${baseUrl}/health/live`).then(
      (r) => r.ok,
      () => false,
    );
  };
  const host = await startHostProcess(command, env, isUp);
  running.push(host);
  return host;
}

/** Sends an email, and returns its recipient once the response is 200. */
async function send(to: string): Promise<string> {
  const response = await fetch(`${baseUrl}/v1/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${project.secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ to, from: 'x@shop.example.com', subject: 'S', body: '<p>b</p>' }),
  });
  if (response.status !== 200) throw new Error(`POST /v1/send returned ${response.status}: ${await response.text()}`);
  return to;
}

async function waitForArrival(recipients: string[]): Promise<Record<string, number>> {
  await expect.poll(async () => listMissing(await sink.recipients(), recipients), { interval: 200 }).toEqual([]);
  return sink.recipients();
}
const listMissing = (got: Record<string, number>, recipients: string[]) => recipients.filter((to) => !got[to]);

async function waitUntilSettled(): Promise<void> {
  const listOpenEmails = () =>
    database.db.selectFrom('emails').select('id').where('status', 'in', ['PENDING', 'SENDING']).execute();
  await expect.poll(async () => (await listOpenEmails()).length, { interval: 200 }).toBe(0);
}

it('every email whose request returned 200 is delivered, although the API is killed right after the response', async () => {
  const api = await startProcess('api');
  await startProcess('worker');
  const accepted: string[] = [];
  let killed: Promise<void> | undefined;
  await Promise.allSettled(
    Array.from({ length: 300 }, async (_, i) => {
      accepted.push(await send(`api${i}@example.com`));
      if (accepted.length === 100) killed = api.kill();
    }),
  );
  await killed;
  expect(accepted.length).toBeGreaterThanOrEqual(100);
  expect(accepted.length).toBeLessThan(300);
  const got = await waitForArrival(accepted);
  await waitUntilSettled();
  expect(Object.values(got).every((times) => times === 1)).toBe(true);
});

it('a killed worker loses no email, and repeats at most its emails in flight', async () => {
  await startProcess('api');
  const worker = await startProcess('worker');
  await sink.holdAfter(100);
  const accepted = await Promise.all(Array.from({ length: 400 }, (_, i) => send(`worker${i}@example.com`)));
  await expect.poll(async () => (await sink.counts()).messages, { interval: 10 }).toBeGreaterThanOrEqual(100);
  await worker.kill();
  const before = (await sink.counts()).messages;
  expect(before).toBeLessThan(400);
  await sink.release();
  await startProcess('worker');
  const got = await waitForArrival(accepted);
  await waitUntilSettled();
  const doubled = Object.values(got).filter((times) => times > 1).length;
  expect(doubled).toBeLessThanOrEqual(IN_DOUBT_MAX);
  expect(Object.values(got).every((times) => times <= 2)).toBe(true);
  const messages = await sink.messages();
  // Both copies of a repeated email have the same Message-ID.
  expect(new Set(messages.map((message) => message.messageId)).size).toBe(400);
});

it('while Temporal is down the API accepts emails, and all are sent when Temporal is back', async () => {
  await startProcess('api');
  await temporal.close();
  const accepted = await Promise.all(Array.from({ length: 50 }, (_, i) => send(`down${i}@example.com`)));
  expect((await sink.counts()).messages).toBe(0);
  await temporal.open();
  await startProcess('worker');
  const got = await waitForArrival(accepted);
  await waitUntilSettled();
  expect(Object.values(got).every((times) => times === 1)).toBe(true);
});
