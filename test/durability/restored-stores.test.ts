import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callService, startSmtpService } from '../support/smtp/smtp-service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { createHomePath, removeHome, type StartedService, waitForCondition } from '../support/start.ts';

const CONTACTS = 10;

type Store = 'postgres' | 'temporal';

let home: string;
let sink: SmtpSink;
let service: StartedService;
let workflowId: string;
let lastStepId: string;
let recoveriesBefore = 0;

beforeAll(async () => {
  home = createHomePath();
  sink = await startSmtpSink();
});
afterAll(async () => {
  service?.signal('SIGTERM');
  await service?.exited;
  await sink?.close();
  await removeHome(home);
});

const call = (method: string, path: string, body?: unknown) => callService(service, method, path, body);
const waitUntil = (condition: () => boolean | Promise<boolean>) => waitForCondition(service, condition);
const countReceivedEmails = () => [...sink.perRecipient().values()].reduce((sum, n) => sum + n, 0);

/**
 * Returns how often recovery has ended. It reads the worker's log, because the console omits lines if there are many.
 */
const countRecoveries = (): number => {
  const log = join(home, 'logs', 'worker-1.log');
  return existsSync(log) ? readFileSync(log, 'utf8').split('recovery has ended').length - 1 : 0;
};

async function startService(env: Record<string, string> = {}): Promise<void> {
  recoveriesBefore = countRecoveries();
  service = await startSmtpService(home, sink.url, { WORKERS: '1', ...env });
}

async function stopService(): Promise<void> {
  service.signal('SIGTERM');
  await service.exited;
}

function copyStores(copy: string): void {
  for (const store of ['postgres', 'temporal'])
    execute('cp', ['-a', join(home, store), join(home, `${store}-${copy}`)]);
}

function restoreStore(store: Store, copy: string): void {
  rmSync(join(home, store), { recursive: true });
  execute('cp', ['-a', join(home, `${store}-${copy}`), join(home, store)]);
}

function execute(command: string, words: string[]): void {
  const { status, stderr } = spawnSync(command, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
}

/** Builds a workflow of two emails, each followed by a wait without a deadline. */
async function createWorkflow(): Promise<string> {
  const template = { subject: 'S', body: '<p>Hello</p>', type: 'TRANSACTIONAL', from: `hello@${service.dev().domain}` };
  const { id: templateId } = await call('POST', '/templates', { name: 'T', ...template });
  const { id } = await call('POST', '/workflows', { name: 'Restored', eventName: 'enter' });
  for (const eventName of ['go', 'finish']) {
    const step = (type: string, config: object) =>
      call('POST', `/workflows/${id}/steps`, { type, config, autoConnect: true });
    await step('SEND_EMAIL', { templateId });
    lastStepId = (await step('WAIT_FOR_EVENT', { eventName })).id;
  }
  await call('PATCH', `/workflows/${id}`, { enabled: true });
  return id;
}

async function trackAll(event: string): Promise<void> {
  for (let n = 0; n < CONTACTS; n += 1)
    await call('POST', '/v1/track', { email: `contact-${n}@example.com`, event, subscribed: true });
}

const countExecutions = async (status: string): Promise<number> =>
  (await call('GET', `/workflows/${workflowId}/executions?status=${status}`)).total;

/**
 * Expects that recovery has made Postgres and Temporal agree. Each execution continues at the position that the newer
 * of the two stores has, and each contact has two emails at the end.
 */
async function expectEnd(): Promise<void> {
  await waitUntil(() => countRecoveries() > recoveriesBefore);
  await waitUntil(async () => {
    const { data } = await call('GET', `/workflows/${workflowId}/executions?limit=100`);
    return data.every(({ currentStepId }: { currentStepId: string }) => currentStepId === lastStepId);
  });
  await trackAll('finish');
  await waitUntil(async () => (await countExecutions('COMPLETED')) === CONTACTS);
  expect(countReceivedEmails()).toBe(2 * CONTACTS);
}

it('a restored Temporal is brought to the state of Postgres, and nothing is sent again', async () => {
  await startService();
  workflowId = await createWorkflow();
  await trackAll('enter');
  await waitUntil(async () => countReceivedEmails() === CONTACTS && (await countExecutions('WAITING')) === CONTACTS);
  await stopService();
  copyStores('early');
  await startService();
  await trackAll('go');
  await waitUntil(
    async () => countReceivedEmails() === 2 * CONTACTS && (await countExecutions('WAITING')) === CONTACTS,
  );
  await stopService();
  copyStores('late');

  restoreStore('temporal', 'early');
  await startService();
  await expectEnd();
  await stopService();
});

it('a restored Postgres is brought to the state of Temporal, and nothing is sent again', async () => {
  restoreStore('postgres', 'early');
  restoreStore('temporal', 'late');
  await startService({ INSTALLATION: 'take-over' });
  await expectEnd();
  await stopService();
});
