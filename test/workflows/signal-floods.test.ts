import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildContacts } from '../build/campaigns.ts';
import { track } from '../build/events.ts';
import { buildWorkflow, type Caller, expectOk, listExecutions } from '../build/workflows.ts';
import { useCampaignService } from '../support/campaign-service.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

/**
 * Number of signals that each workflow gets. The default is more than twice the number after which a run continues as
 * new. It is enough for the test, because later runs are not larger. `SIGNALS=50000` is the number for which the limits
 * were chosen; it takes minutes for each workflow.
 */
const SIGNALS = Number(process.env.SIGNALS ?? 1_200);
/**
 * Number of API requests for each workflow. Most requests need no signal of their own, so these runs are short.
 * `REQUESTS=50000` takes several minutes.
 */
const REQUESTS = Number(process.env.REQUESTS ?? 600);
const REQUESTS_AT_A_TIME = 20;
/** A time limit that only ends hangs, also for the largest number of signals. */
const LONG = { timeout: 3_600_000 };
const EVENTS_MAX = 10_000;
/** The maximum number of signals in a run (`workflows/run-length.ts`). */
const SIGNALS_OF_RUN_MAX = 2_000;
/** The maximum number of history events for one signal: the signal and the three events of a workflow task. */
const EVENTS_OF_SIGNAL = 4;
/** More than the number of all other events of a run, such as events of activities and timers. */
const OTHER_EVENTS_MAX = EVENTS_MAX - EVENTS_OF_SIGNAL * SIGNALS_OF_RUN_MAX;
/** A small number, so that a workflow task on a busy machine gets few signals. Each signal takes the SDK 0.4 ms. */
const AT_A_TIME = 3;

const campaigns = useCampaignService({ env: { WEBHOOK_ALLOW_PRIVATE: 'true' } });
const { create, send, waitForStatus, countOutcomes } = campaigns;
let receiver: WebhookReceiver;
/** Milliseconds that the webhook receiver takes for each response. */
let responseMs = 0;
let status = 503;

beforeAll(async () => {
  receiver = await startWebhookReceiver(
    (_, response) => void setTimeout(() => response.writeHead(status).end(), responseMs),
  );
});
afterAll(async () => {
  await receiver?.close();
});

/** Calls the API as the project of the test. */
const caller: Caller = {
  call: (method, path, options) =>
    campaigns.service.call(method, path, { key: campaigns.project.secretKey, ...options }),
};

const getHandle = (workflowId: string) => campaigns.operator.client.workflow.getHandle(workflowId);

/** Calls a function many times, at most `atATime` calls concurrently. */
async function repeat(times: number, atATime: number, call: (n: number) => Promise<unknown>): Promise<void> {
  let begun = 0;
  const lane = async () => {
    while (begun < times) await call(begun++);
  };
  await Promise.all(Array.from({ length: atATime }, lane));
}

/** Sends many signals to a workflow, some concurrently. Returns when Temporal has accepted all. */
function sendManySignals(
  workflowId: string,
  signal: string,
  argsOf: (n: number) => unknown[] = () => [],
): Promise<void> {
  return repeat(SIGNALS, AT_A_TIME, (n) => getHandle(workflowId).signal(signal, ...argsOf(n)));
}

interface RunSize {
  events: number;
  signals: number;
}

/** Returns the numbers of events and signals of each run of a workflow, when all runs have ended. */
async function readRunSizes(workflowId: string): Promise<RunSize[]> {
  const runs = await until(async () => {
    const found = [];
    for await (const run of campaigns.operator.client.workflow.list({ query: `WorkflowId = '${workflowId}'` }))
      found.push(run);
    return found.length > 0 && found.every(({ status }) => status.name !== 'RUNNING') && found;
  }, 'the end of every run');
  const sizes: RunSize[] = [];
  for (const { runId } of runs) {
    const handle = campaigns.operator.client.workflow.getHandle(workflowId, runId);
    const events = (await handle.fetchHistory()).events ?? [];
    const signals = events.filter((event) => event.workflowExecutionSignaledEventAttributes).length;
    sizes.push({ events: events.length, signals });
  }
  return sizes;
}

/**
 * Expects that every run ended in time and continued in the next run. The number of events of a run is limited by its
 * number of signals, so each run has fewer than 10,000 events, however many signals arrive.
 */
async function expectBoundedRuns(workflowId: string): Promise<void> {
  const sizes = await readRunSizes(workflowId);
  expect(sizes.length).toBeGreaterThan(1);
  for (const { events, signals } of sizes) {
    expect(signals).toBeLessThan(SIGNALS_OF_RUN_MAX);
    expect(events - EVENTS_OF_SIGNAL * signals).toBeLessThan(OTHER_EVENTS_MAX);
    expect(events).toBeLessThan(EVENTS_MAX);
  }
}

describe('a workflow that receives many signals', () => {
  it('for a waiting execution continues as new, keeps the early events, and is ended by the right event', async () => {
    const { service } = campaigns;
    const workflow = await buildWorkflow(caller, {
      eventName: 'opened',
      steps: {
        wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'paid' } },
      },
    });
    await track(caller, 'flood@example.com', 'opened');
    const { id } = await until(async () => (await listExecutions(caller, workflow.id))[0], 'the execution');
    const workflowId = service.names.execution(id);
    await campaigns.operator.waitForStart(workflowId);
    await sendManySignals(workflowId, 'event', (n) => [{ visit: 1_000_000 + n }]);
    await track(caller, 'flood@example.com', 'paid');
    await expectBoundedRuns(workflowId);
  });

  it('for a SCHEDULED campaign continues as new, and uses the new time', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 20 });
    const id = await create();
    await send(id, { scheduledFor: getTimeInHours(1) });
    const workflowId = campaigns.service.names.campaign(id, 1);
    await campaigns.operator.waitForStart(workflowId);
    await sendManySignals(workflowId, 'changed');
    await send(id, { scheduledFor: new Date(Date.now() + 1_000).toISOString() });
    await waitForStatus(id, 'SENT');
    expect(await countOutcomes(id)).toEqual({ SENT: 20 });
    await expectBoundedRuns(workflowId);
  });

  it('for a SENDING campaign continues as new, and sends each recipient one email', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 3_000 });
    campaigns.pauseMs = 2_000;
    const id = await create();
    await send(id);
    const workflowId = campaigns.service.names.campaign(id, 1);
    await until(async () => campaigns.sink.messages.length > 0, 'the first email');
    await sendManySignals(workflowId, 'changed');
    campaigns.pauseMs = 0;
    await waitForStatus(id, 'SENT');
    expect(await countOutcomes(id)).toEqual({ SENT: 3_000 });
    expect(campaigns.sink.messages).toHaveLength(3_000);
    await expectBoundedRuns(workflowId);
  });

  it('for a webhook endpoint continues as new while its requests hang', async () => {
    const { service } = campaigns;
    responseMs = 8_000;
    const { id } = await expectOk(
      caller.call('POST', '/webhooks', { body: { url: `${receiver.url}/slow`, events: ['flooded'] } }),
    );
    await track(caller, 'hook@example.com', 'flooded');
    await until(async () => receiver.received.length > 0, 'the request');
    const workflowId = service.names.webhooks(id);
    await sendManySignals(workflowId, 'wake');
    // The failed delivery is due again later, so the workflow would not end soon.
    await campaigns.operator.terminate(workflowId);
    await expectBoundedRuns(workflowId);
  });
});

describe('a workflow that receives signals from many API requests', () => {
  /** Expects that each run is short. Returns the number of signals that all runs received. */
  async function expectShortRuns(workflowId: string): Promise<number> {
    const sizes = await readRunSizes(workflowId);
    for (const { events } of sizes) expect(events).toBeLessThan(EVENTS_MAX);
    return sizes.reduce((sum, { signals }) => sum + signals, 0);
  }

  it(
    'keeps its runs short for an execution and a webhook endpoint, and loses no event of the contact',
    LONG,
    async () => {
      const { service } = campaigns;
      const filters = [{ field: 'event.n', operator: 'equals', value: REQUESTS }];
      const workflow = await buildWorkflow(caller, {
        eventName: 'joined',
        steps: {
          wait: {
            type: 'WAIT_FOR_EVENT',
            config: { eventName: 'clicked', filters, timeout: 86_400 },
            to: { event: 'out' },
          },
          out: { type: 'EXIT', config: { reason: 'last_click' } },
        },
      });
      const exitOn = [{ eventName: 'clicked', filters: [{ field: 'event.n', operator: 'equals', value: -1 }] }];
      await expectOk(caller.call('PATCH', `/workflows/${workflow.id}`, { body: { exitOn } }));
      const { id: endpoint } = await expectOk(
        caller.call('POST', '/webhooks', { body: { url: `${receiver.url}/clicks`, events: ['clicked'] } }),
      );
      responseMs = 0;
      status = 200;
      await track(caller, 'many@example.com', 'joined');
      const { id } = await until(async () => (await listExecutions(caller, workflow.id))[0], 'the execution');
      await campaigns.operator.waitForStart(service.names.execution(id));
      await repeat(REQUESTS, REQUESTS_AT_A_TIME, (n) => track(caller, 'many@example.com', 'clicked', { n }));
      await track(caller, 'many@example.com', 'clicked', { n: REQUESTS });
      // Only the event that matches the wait needs a signal.
      expect(await expectShortRuns(service.names.execution(id))).toBe(1);
      expect((await listExecutions(caller, workflow.id))[0]).toMatchObject({
        status: 'EXITED',
        exitReason: 'last_click',
      });
      const countReceived = () => receiver.received.filter(({ path }) => path === '/clicks').length;
      await until(async () => countReceived() > REQUESTS, 'every delivery', { timeoutMs: LONG.timeout });
      expect(await expectShortRuns(service.names.webhooks(endpoint))).toBeLessThanOrEqual(REQUESTS + 1);
    },
  );

  it(
    'keeps its runs short for a campaign that is rescheduled again and again, and sends the campaign once',
    LONG,
    async () => {
      const { service, project } = campaigns;
      await buildContacts(service.db, { projectId: project.id, count: 20 });
      const id = await create();
      await send(id, { scheduledFor: getTimeInHours(1) });
      const workflowId = service.names.campaign(id, 1);
      await campaigns.operator.waitForStart(workflowId);
      await repeat(REQUESTS, REQUESTS_AT_A_TIME, (n) => send(id, { scheduledFor: getTimeInHours(2 + (n % 5)) }));
      await send(id, { scheduledFor: new Date(Date.now() + 1_000).toISOString() });
      await waitForStatus(id, 'SENT');
      expect(await countOutcomes(id)).toEqual({ SENT: 20 });
      expect(await expectShortRuns(workflowId)).toBeLessThanOrEqual(REQUESTS + 1);
    },
  );
});

function getTimeInHours(hours: number): string {
  return new Date(Date.now() + hours * 3_600_000).toISOString();
}
