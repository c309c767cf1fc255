import { afterEach, beforeEach, expect, it } from 'vitest';
import { findFreePort } from '../../cli/start/ports.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { buildProject, type TestProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type HostProcess, startHostProcess } from '../support/host-process.ts';
import { createTestTemporal } from '../support/services.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let project: TestProject;
let env: Record<string, string>;
let baseUrl: string;
let running: HostProcess[] = [];

// A repeated test needs an empty database too.
beforeEach(async () => {
  const [made, temporal] = await Promise.all([createTestDatabase(), createTestTemporal()]);
  database = made;
  project = await buildProject(database.db, 'Kill');
  await buildDomain(database.db, { projectId: project.id, signing: false });
  const port = await findFreePort();
  baseUrl = `http://127.0.0.1:${port}`;
  env = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    SECRET_KEY: TEST_SECRET_KEY,
    // No server listens at this address, so an email that is really sent would never be SENT.
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: 'smtp://127.0.0.1:1',
    RATE_LIMIT_PER_MINUTE: '0',
    PORT: String(port),
  };
});
afterEach(async () => {
  await Promise.all(running.map((host) => host.kill()));
  running = [];
  await database?.drop();
});

async function startProcess(command: 'api' | 'worker'): Promise<HostProcess> {
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

async function send(to: string): Promise<void> {
  const response = await fetch(`${baseUrl}/v1/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${project.secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ to, from: 'x@shop.example.com', subject: 'S', body: '<p>b</p>', subscribed: true }),
  });
  if (response.status !== 200) throw new Error(`POST /v1/send returned ${response.status}: ${await response.text()}`);
}

async function countStatuses(): Promise<Record<string, number>> {
  const rows = await database.db.selectFrom('emails').select('status').execute();
  const counts: Record<string, number> = {};
  for (const { status } of rows) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

it('simulated feedback that waits in a killed worker is still recorded, once', async () => {
  await startProcess('api');
  const worker = await startProcess('worker');
  const what = ['slow', 'bounce', 'complaint', 'click'];
  await Promise.all(what.flatMap((word) => Array.from({ length: 15 }, (_, n) => send(`${word}+${n}@simulator.test`))));
  await until(async () => ((await countStatuses()).SENT ?? 0) >= 15, 'emails to be SENT');
  await worker.kill();
  await startProcess('worker');
  const ended = { DELIVERED: 15, BOUNCED: 15, COMPLAINED: 15, CLICKED: 15 };
  await until(
    async () =>
      JSON.stringify(Object.entries(await countStatuses()).sort()) === JSON.stringify(Object.entries(ended).sort()),
    'all feedback',
  );
  const rows = await database.db
    .selectFrom('events')
    .select(['email_id', 'name'])
    .where('email_id', 'is not', null)
    .execute();
  const names = rows.map(({ email_id, name }) => `${email_id} ${name}`);
  expect(new Set(names).size).toBe(names.length);
  const count = (name: string) => rows.filter((row) => row.name === name).length;
  expect([count('email.bounce'), count('email.complaint'), count('email.open'), count('email.click')]).toEqual([
    15, 15, 15, 15,
  ]);
  // The row of the delayed feedback is deleted after the feedback is recorded.
  const left = () => database.db.selectFrom('outbox').select('id').where('kind', '=', 'email.simulated').execute();
  await until(async () => (await left()).length === 0, 'the outbox to be empty');
});
