import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isGrpcServiceError } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findTemporalBinary } from '../../cli/start/temporal-binary.ts';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { track } from '../build/events.ts';
import { buildDomain } from '../build/senders.ts';
import { buildWorkflow, expectOk, listExecutions } from '../build/workflows.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { connectOperator, type TestOperator } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { bundleTestWorkflows, startWorkersWithBundle } from '../support/workflow-build.ts';

const run = promisify(execFile);
const GUIDE = join(import.meta.dirname, '..', '..', 'docs', 'operate', 'upgrade.md');
const BROKEN_BUNDLE = join(tmpdir(), `broken-workflows-${process.pid}.js`);
/** The build id of a service that runs from its source. */
const OLD_BUILD = 'source';
const NEW_BUILD = 'broken';
/** The values of these enums in Temporal's API. */
const PINNED = 1;
const AUTO_UPGRADE = 2;
const GRPC_NOT_FOUND = 5;

let database: TestDatabase;
let service: TestService;
let operator: TestOperator;
let broken: { close(): Promise<void> } | undefined;
let cli: string;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startTestService({ WORKER_DEPLOYMENT: 'tidings' }, { database });
  operator = await connectOperator(service);
  cli = await findTemporalBinary({
    cliPath: process.env.TEMPORAL_CLI_PATH,
    binFolder: tmpdir(),
    env: process.env,
    progress: () => {},
    signal: new AbortController().signal,
  });
  await bundleTestWorkflows('broken-workflows.ts', BROKEN_BUNDLE);
});

afterAll(async () => {
  rmSync(BROKEN_BUNDLE, { force: true });
  await broken?.close();
  await operator?.close();
  await service?.close();
  await database?.drop();
});

/**
 * Runs the command after `# <name>` in the guide until Temporal accepts it. Workers register one by one, so it may
 * refuse at first.
 */
async function runGuideCommand(name: string): Promise<string> {
  const [, command = ''] = new RegExp(`# ${name}\\n\\s*temporal (.*)`).exec(readFileSync(GUIDE, 'utf8')) ?? [];
  const args = command
    .replaceAll('"', '')
    .replace('$OLD_BUILD', OLD_BUILD)
    .replace('$NEW_BUILD', NEW_BUILD)
    .replace('--percentage 10 ', '--percentage 50 ')
    .split(' ');
  expect(args.slice(0, 2)).toEqual(['worker', 'deployment']);
  const { address, namespace } = service.temporal;
  let refused = '';
  return until(
    () =>
      run(cli, [...args, '--address', address, '--namespace', namespace]).then(
        ({ stdout }) => stdout || 'done',
        (error: Error) => {
          refused = error.message;
          return undefined;
        },
      ),
    `the step ${name}`,
    { reasonToStop: () => (/unknown flag|unknown command/.test(refused) ? refused : undefined) },
  );
}

/**
 * Returns the versioning behavior of a workflow and the attempt of its workflow task. Both are zero before Temporal has
 * started the workflow.
 */
async function describeRun(workflowId: string): Promise<{ behavior: number; build: string; attempt: number }> {
  const { workflowExecutionInfo, pendingWorkflowTask } = await operator.client.workflowService
    .describeWorkflowExecution({ namespace: service.temporal.namespace, execution: { workflowId } })
    .catch((error: unknown): temporal.api.workflowservice.v1.IDescribeWorkflowExecutionResponse => {
      // The row in Postgres exists before its workflow does.
      if (isGrpcServiceError(error) && error.code === GRPC_NOT_FOUND) return {};
      throw error;
    });
  const { behavior, deploymentVersion } = workflowExecutionInfo?.versioningInfo ?? {};
  return {
    behavior: behavior ?? 0,
    build: deploymentVersion?.buildId ?? '',
    attempt: pendingWorkflowTask?.attempt ?? 0,
  };
}

describe('a worker deployment', () => {
  it('rolls back a build that throws in workflow tasks, and loses no run', async () => {
    await runGuideCommand('first');
    await buildDomain(service.db, { projectId: service.one.id, domain: 'sender.test', signing: false });
    await buildContacts(service.db, { projectId: service.one.id, count: 10 });
    const workflow = await buildWorkflow(service, {
      eventName: 'opened',
      steps: { wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'paid' } } },
    });
    const campaign = (await expectOk(service.call('POST', '/campaigns', { body: createCampaignBody() }))).data.id;
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
    await expectOk(service.call('POST', `/campaigns/${campaign}/send`, { body: { scheduledFor } }));
    const people = Array.from({ length: 12 }, (_, n) => `p${n}@example.com`);
    for (const email of people.slice(0, 4)) await track(service, email, 'opened');
    const early = await until(async () => {
      const found = await listExecutions(service, workflow.id);
      return found.length === 4 && found.every(({ status }) => status === 'WAITING') && found;
    }, 'the first executions');
    const campaignId = service.names.campaign(campaign, 1);
    await until(async () => (await describeRun(campaignId)).behavior === PINNED, 'the pinned campaign');
    for (const { id } of early)
      await until(async () => (await describeRun(service.names.execution(id))).behavior === AUTO_UPGRADE, 'the run');

    broken = await startWorkersWithBundle({
      ...service.temporal,
      taskQueue: (queue) => service.names.taskQueue(queue),
      bundle: BROKEN_BUNDLE,
      deployment: { deploymentName: 'tidings', buildId: NEW_BUILD },
    });
    await runGuideCommand('ramp');
    for (const email of people.slice(4)) await track(service, email, 'opened');
    const all = await until(async () => {
      const found = await listExecutions(service, workflow.id);
      return found.length === people.length && found;
    }, 'all executions');
    await until(async () => {
      const runs = await Promise.all(all.map(({ id }) => describeRun(service.names.execution(id))));
      return runs.some(({ attempt }) => attempt > 1);
    }, 'a workflow task that fails');
    expect((await describeRun(campaignId)).build).toBe(OLD_BUILD);

    await runGuideCommand('roll back');
    for (const email of people) await track(service, email, 'paid');
    await until(
      async () => (await listExecutions(service, workflow.id)).every(({ status }) => status === 'COMPLETED'),
      'the end of all executions',
    );
    await expectOk(
      service.call('POST', `/campaigns/${campaign}/send`, {
        body: { scheduledFor: new Date(Date.now() + 2_000).toISOString() },
      }),
    );
    await until(
      async () => (await expectOk(service.call('GET', `/campaigns/${campaign}`))).status === 'SENT',
      'the campaign',
    );
  });
});
