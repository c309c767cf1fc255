import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { campaignWorkflowId } from '../../temporal/names.ts';
import { buildContacts, campaignBody } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { expectOk } from '../build/workflows.ts';
import { buildProject, type TestProject } from '../support/api.ts';
import { connectOperator, type Operator } from '../support/operator.ts';
import { startTestService, type TestService, until } from '../support/service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';

let service: TestService;
let operator: Operator;
let sink: SmtpSink;
let project: TestProject;
/** Recipients that the sink takes for good; the others are put off. */
let taken: RegExp = /./;

beforeAll(async () => {
  sink = await startSmtpSink({ answerRcpt: (to) => (taken.test(to) ? null : '450 4.2.1 Try again later') });
  service = await startTestService({ EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url });
  operator = await connectOperator(service);
});
beforeEach(async () => {
  taken = /./;
  sink.reset();
  project = await buildProject(service.db, 'Campaigns');
  await buildDomain(service.db, { projectId: project.id, domain: 'sender.test', signing: false });
  await buildContacts(service.db, { projectId: project.id, count: 20 });
});
afterAll(async () => {
  await operator?.close();
  await service?.close();
  await sink?.close();
});

const call = (method: string, path: string, body?: unknown) =>
  expectOk(service.call(method, path, { key: project.secretKey, ...(body !== undefined && { body }) }));

const campaign = (id: string) => call('GET', `/campaigns/${id}`);
const stats = (id: string) => call('GET', `/campaigns/${id}/stats`);

const becomes = (id: string, status: string) =>
  until(async () => {
    const found = await campaign(id);
    return found.status === status && found;
  }, `campaign ${status}`);

/** Sends a campaign, and returns it when Temporal has it. */
async function start(body: Record<string, unknown> = {}): Promise<string> {
  const { id } = (await call('POST', '/campaigns', campaignBody())).data;
  await call('POST', `/campaigns/${id}/send`, body);
  await operator.started(campaignWorkflowId(id, 1));
  return id;
}

/** A campaign that has reached `r0` to `r9` and waits for its next try at the others. */
async function startHalf(): Promise<string> {
  taken = /^<?r\d@/;
  const id = await start();
  await until(async () => (await stats(id)).sent === 10, 'the first half');
  await until(async () => {
    const { events } = await operator.client.workflow.getHandle(campaignWorkflowId(id, 1)).fetchHistory();
    return events?.some(({ timerStartedEventAttributes: timer }) => timer);
  }, 'the wait for the next try');
  taken = /./;
  return id;
}

const IN_AN_HOUR = () => ({ scheduledFor: new Date(Date.now() + 3_600_000).toISOString() });

describe('a campaign whose workflow an operator ended in Temporal', () => {
  for (const how of ['terminate', 'cancel'] as const) {
    it(`is CANCELLED after a ${how}, and skips whom it had not reached`, async () => {
      const id = await startHalf();
      await operator[how](campaignWorkflowId(id, 1));
      await operator.keepHouse();
      expect(await campaign(id)).toMatchObject({ status: 'CANCELLED' });
      await until(async () => (await stats(id)).pending === 0, 'the end of the rest');
      expect(await stats(id)).toMatchObject({ total: 20, sent: 10, skipped: 10 });
      await operator.keepHouse();
      expect(sink.counts.messages).toBe(10);
    });
  }

  it('is a DRAFT again when it had not begun, and can be sent', async () => {
    const id = await start(IN_AN_HOUR());
    await operator.terminate(campaignWorkflowId(id, 1));
    await operator.keepHouse();
    expect(await campaign(id)).toMatchObject({ status: 'DRAFT', scheduledAt: null });
    await call('POST', `/campaigns/${id}/send`, {});
    expect(await becomes(id, 'SENT')).toMatchObject({ sentCount: 20 });
  });

  it('skips the rest of one that was cancelled before', async () => {
    const id = await startHalf();
    await service.stopWorker();
    await call('POST', `/campaigns/${id}/cancel`);
    await operator.terminate(campaignWorkflowId(id, 1));
    await service.startWorker();
    await until(async () => {
      const { rows } = await sql`SELECT 1 FROM outbox WHERE ref_id = ${id}`.execute(service.db);
      return rows.length === 0;
    }, 'the end of the signal');
    await operator.keepHouse();
    await until(async () => (await stats(id)).pending === 0, 'the end of the rest');
    expect(await stats(id)).toMatchObject({ sent: 10, skipped: 10 });
  });
});

describe('a campaign that Temporal has forgotten', () => {
  it('reaches those it had not, and nobody twice', async () => {
    const id = await startHalf();
    await operator.forget(campaignWorkflowId(id, 1));
    await operator.keepHouse();
    expect(await becomes(id, 'SENT')).toMatchObject({ sentCount: 20 });
    expect([...sink.perRecipient().values()]).toEqual(Array(20).fill(1));
  });

  it('keeps its time', async () => {
    const id = await start(IN_AN_HOUR());
    await operator.forget(campaignWorkflowId(id, 1));
    await operator.keepHouse();
    await operator.started(campaignWorkflowId(id, 1));
    expect(await campaign(id)).toMatchObject({ status: 'SCHEDULED' });
    expect(sink.counts.messages).toBe(0);
    await call('POST', `/campaigns/${id}/send`, { scheduledFor: new Date(Date.now() + 500).toISOString() });
    await becomes(id, 'SENT');
  });
});
