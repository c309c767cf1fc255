import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { track } from '../build/events.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { buildWorkflow, expectOk, listExecutions } from '../build/workflows.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runDoctorInProcess } from '../support/doctor.ts';
import { type HostProcess, startWorkerHost } from '../support/host-process.ts';
import { connectOperator, type TestOperator } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let service: TestService;
let operator: TestOperator;
let campaigns: HostProcess | undefined;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startTestService(
    { WORKER_QUEUES: 'workflows, transactional', SECRET_KEY: TEST_SECRET_KEY },
    { database },
  );
  operator = await connectOperator(service);
  await buildDomain(service.db, { projectId: service.one.id, domain: 'sender.test', signing: false });
});
afterAll(async () => {
  await campaigns?.stop();
  await operator?.close();
  await service?.close();
  await database?.drop();
});

const diagnoseWorkers = async () => {
  const { address, namespace } = service.temporal;
  const env = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    SECRET_KEY: TEST_SECRET_KEY,
  };
  return (await runDoctorInProcess(env)).of('workers');
};

/**
 * Returns the line about the task queues and the rows of their table. Both are in the current details of the workflow
 * `installation`. A worker writes them about once a minute, so the test first makes the last time look older.
 */
async function readQueuesInTemporalUi(isExpected: (lines: string[]) => boolean): Promise<string[]> {
  const { workflow } = operator.client;
  return until(async () => {
    await sql`UPDATE installation_tokens SET rolled_at = rolled_at - interval '2 minutes'`.execute(service.db);
    const handle = workflow.getHandle(service.names.installation());
    const { currentDetails = '' } = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
    const lines = currentDetails.split('\n').filter((line) => /^Task queues|^\| (?!Queue)/.test(line));
    return isExpected(lines) && lines;
  }, 'the expected state of the task queues in the Temporal UI');
}

describe('workers that each serve a part of the queues', () => {
  it('run executions on one host, report unserved queues, and send campaigns once another host serves them', async () => {
    const workflow = await buildWorkflow(service, { eventName: 'opened', steps: { exit: { type: 'EXIT' } } });
    await track(service, 'role@example.com', 'opened');
    await until(async () => (await listExecutions(service, workflow.id))[0]?.completedAt, 'the execution');
    await buildContacts(service.db, { projectId: service.one.id, count: 10 });
    const { id } = (await expectOk(service.call('POST', '/campaigns', { body: createCampaignBody() }))).data;
    await expectOk(service.call('POST', `/campaigns/${id}/send`, { body: {} }));
    expect(await diagnoseWorkers()).toEqual([
      'fail no worker serves automation, webhooks, bulk, periodic, paced: work waits there → ' +
        'start a worker with WORKER_QUEUES=automation,webhooks,bulk,periodic,paced, or without WORKER_QUEUES',
    ]);
    expect((await expectOk(service.call('GET', `/campaigns/${id}`))).status).not.toBe('SENT');
    // The first activity of the campaign waits on the queue `automation`.
    const rows = await readQueuesInTemporalUi((lines) =>
      lines.some((line) => /^\| \*\*automation\*\* \| \*\*1/.test(line)),
    );
    expect(rows).toEqual([
      expect.stringMatching(/^Task queues at \d{4}-\d\d-\d\dT[\d:.]+Z: 5 without a worker, 0 behind\.$/),
      expect.stringMatching(/^\| \*\*automation\*\* \| \*\*1\*\* \| \*\*\d+ s\*\* \| \*\*0\*\* \|/),
      ...['webhooks', 'bulk', 'periodic', 'paced'].map((queue) =>
        expect.stringMatching(
          new RegExp(`^\\| \\*\\*${queue}\\*\\* \\| \\*\\*0\\*\\* \\| \\*\\*–\\*\\* \\| \\*\\*0\\*\\* \\|`),
        ),
      ),
      ...['workflows', 'steps', 'transactional'].map((queue) =>
        expect.stringMatching(new RegExp(`^\\| ${queue} \\| 0 \\| – \\| 1 \\|`)),
      ),
    ]);

    campaigns = await startWorkerHost({
      database,
      temporal: service.temporal,
      env: { WORKER_QUEUES: 'automation,webhooks,bulk,periodic,paced' },
    });
    await until(
      async () => (await expectOk(service.call('GET', `/campaigns/${id}`))).status === 'SENT',
      'the campaign',
    );
    await until(
      async () => (await diagnoseWorkers())[0] === 'pass each task queue is served',
      'a worker for each queue',
    );
  });
});
