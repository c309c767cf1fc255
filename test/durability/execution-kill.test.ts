import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SinkProcess, startSinkProcess } from '../support/smtp/sink-process.ts';
import { callService, startSmtpService } from '../support/smtp/smtp-service.ts';
import { createHomePath, listPids, removeHome, type StartedService, waitForCondition } from '../support/start.ts';

const CONTACTS = 60;

let home: string;
let sink: SinkProcess;
let service: StartedService;

beforeAll(async () => {
  home = createHomePath();
  sink = await startSinkProcess();
  service = await startService();
});

afterAll(async () => {
  service?.signal('SIGTERM');
  await service?.exited;
  await sink?.stop();
  await removeHome(home);
});

const startService = () => startSmtpService(home, sink.url);

const call = (method: string, path: string, body?: unknown) => callService(service, method, path, body);

/** Builds a workflow that an event starts: SEND_EMAIL → DELAY 2 s → SEND_EMAIL. */
async function createWorkflow(eventName: string): Promise<string> {
  const { domain } = service.dev();
  const template = { subject: 'S', body: '<p>Hello</p>', type: 'TRANSACTIONAL', from: `hello@${domain}` };
  const { id: templateId } = await call('POST', '/templates', { name: eventName, ...template });
  const { id } = await call('POST', '/workflows', { name: eventName, eventName });
  const email = { type: 'SEND_EMAIL', config: { templateId }, autoConnect: true };
  await call('POST', `/workflows/${id}/steps`, email);
  await call('POST', `/workflows/${id}/steps`, {
    type: 'DELAY',
    config: { amount: 2, unit: 'seconds' },
    autoConnect: true,
  });
  await call('POST', `/workflows/${id}/steps`, email);
  await call('PATCH', `/workflows/${id}`, { enabled: true });
  return id;
}

async function countCompleted(workflowId: string): Promise<number> {
  const { total } = await call('GET', `/workflows/${workflowId}/executions?status=COMPLETED&limit=1`).catch(() => ({
    total: 0,
  }));
  return total;
}

const CASES: [string, (pids: ReturnType<StartedService['dev']>['pids']) => (number | null)[]][] = [
  ['one of the workers', (pids) => [pids.workers[0] ?? null]],
  ['Temporal', (pids) => [pids.temporal]],
  ['Postgres', (pids) => [pids.postgres]],
];

describe('running executions', () => {
  it.each(CASES)(
    'all end, miss no email, and repeat at most emails in flight if %s is killed',
    async (name, victims) => {
      const event = `kill-${name.replaceAll(' ', '-').toLowerCase()}`;
      const workflowId = await createWorkflow(event);
      await trackAll(event);
      for (const pid of victims(service.dev().pids)) if (pid !== null) process.kill(pid, 'SIGKILL');
      await waitForCondition(service, async () => (await countCompleted(workflowId)) === CONTACTS);
      await expectEmails(event);
    },
  );

  it('all end, miss no email, and repeat at most emails in flight if all processes are killed', async () => {
    const workflowId = await createWorkflow('kill-all');
    await trackAll('kill-all');
    for (const pid of listPids(service.dev())) process.kill(pid, 'SIGKILL');
    await service.exited;
    service = await startService();
    await waitForCondition(service, async () => (await countCompleted(workflowId)) === CONTACTS);
    await expectEmails('kill-all');
  });
});

/** Tracks an event of every contact before the kill. Each 200 must lead to an execution. */
async function trackAll(event: string): Promise<void> {
  await Promise.all(
    Array.from({ length: CONTACTS }, (_, n) =>
      call('POST', '/v1/track', { email: `${event}-${n}@example.com`, event }),
    ),
  );
}

/** Expects two emails per contact; only emails on the wire at the kill may arrive twice. */
async function expectEmails(event: string): Promise<void> {
  const counts = Object.entries(await sink.recipients()).filter(([to]) => to.startsWith(`${event}-`));
  expect(counts).toHaveLength(CONTACTS);
  expect(counts.filter(([, count]) => count < 2)).toEqual([]);
  const doubled = counts.reduce((sum, [, count]) => sum + count - 2, 0);
  expect(doubled).toBeLessThanOrEqual(60);
}
