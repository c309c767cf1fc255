import type { Client } from '@temporalio/client';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { takeSendTokens } from '../../db/send-rate.ts';
import type { ChunkResult } from '../../domain/campaign.ts';
import { DELIVERY_EXPIRES_MS } from '../../domain/retry-schedule.ts';
import { campaignWorkflowId } from '../../temporal/names.ts';
import { buildContacts, campaignBody } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject, type TestProject } from '../support/api.ts';
import { connectOperator, type Operator } from '../support/operator.ts';
import { startTestService, type TestService, until } from '../support/service.ts';
import { createTestTemporal } from '../support/services.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { withWorkers } from '../support/with-workers.ts';

let service: TestService;
let operator: Operator;
let sink: SmtpSink;
let project: TestProject;
/** Milliseconds that the sink takes for each packet. */
let slowly = 0;

beforeAll(async () => {
  sink = await startSmtpSink({ pauseMs: () => slowly });
  service = await startTestService({ EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url });
  operator = await connectOperator(service);
});
beforeEach(async () => {
  slowly = 0;
  sink.reset();
  project = await newProject();
});
afterAll(async () => {
  await operator?.close();
  await service?.close();
  await sink?.close();
});

async function newProject(): Promise<TestProject> {
  const made = await buildProject(service.db, 'Campaigns');
  await buildDomain(service.db, { projectId: made.id, domain: 'sender.test', signing: false });
  return made;
}

async function limit(rate: number | null): Promise<void> {
  await sql`UPDATE projects SET send_rate_per_second = ${rate} WHERE id = ${project.id}`.execute(service.db);
}

/** A campaign to `count` contacts of the project, on its way. */
async function sending(count: number): Promise<string> {
  await buildContacts(service.db, { projectId: project.id, count });
  const created = await service.call('POST', '/campaigns', { key: project.secretKey, body: campaignBody() });
  const id = created.body.data.id as string;
  const answer = await service.call('POST', `/campaigns/${id}/send`, { key: project.secretKey, body: {} });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return id;
}

async function campaign(id: string) {
  return (await service.call('GET', `/campaigns/${id}`, { key: project.secretKey })).body;
}
const sent = (id: string) => until(async () => (await campaign(id)).status === 'SENT', 'campaign SENT');

/** The queues that its chunks waited in, in order. */
async function queuesOf(id: string): Promise<string[]> {
  await operator.started(campaignWorkflowId(id, 1));
  const { events } = await operator.client.workflow.getHandle(campaignWorkflowId(id, 1)).fetchHistory();
  return (events ?? [])
    .map((event) => event.activityTaskScheduledEventAttributes)
    .filter((scheduled) => scheduled?.activityType?.name === 'sendCampaignChunk')
    .map((scheduled) => scheduled?.taskQueue?.name ?? '');
}

describe('a campaign with a send rate', () => {
  test('takes no place that others need, and one activity for many mails', async () => {
    await limit(20);
    const id = await sending(60);
    await sent(id);
    const queues = await queuesOf(id);
    expect(new Set(queues)).toEqual(new Set(['paced']));
    expect(queues.length).toBeLessThanOrEqual(3);
    expect([...sink.perRecipient().values()].every((times) => times === 1)).toBe(true);
  });

  test('that is set in its midst waits from then on, and is as fast as before when it is lifted', async () => {
    slowly = 50;
    const id = await sending(5_000);
    await until(async () => sink.messages.length > 100);
    await limit(1);
    await until(async () => (await queuesOf(id)).includes('paced'), 'a chunk that waits');
    slowly = 0;
    // At one a second the rest would take more than an hour.
    await limit(null);
    await sent(id);
    expect((await queuesOf(id)).at(-1)).toBe('bulk');
    expect((await campaign(id)).failedCount).toBe(0);
    expect(sink.perRecipient().size).toBe(5_000);
  });

  test('sends nothing while single mails wait, tries nobody for it, and goes on afterwards', async () => {
    await limit(10);
    const tokens = { projectId: project.id, n: 1_000, ratePerSecond: 10, order: 'single' } as const;
    await takeSendTokens(service.db, tokens);
    const id = await sending(5);
    await until(async () => {
      await takeSendTokens(service.db, tokens);
      const chunks = (await queuesOf(id)).length;
      expect(sink.messages).toHaveLength(0);
      return chunks > 1;
    }, 'a chunk that gave its place back');
    const { rows } = await sql`SELECT FROM emails WHERE project_id = ${project.id} AND attempts > 0`.execute(
      service.db,
    );
    expect(rows).toHaveLength(0);
    await sent(id);
    expect(sink.perRecipient().size).toBe(5);
  });
});

describe('a chunk that the provider has put off for nearly a day', () => {
  /** Its turns and ends, as the workflow asks for them; the first turn says this when the day is over. */
  async function asked(first: Partial<ChunkResult>): Promise<string[]> {
    const temporal = await createTestTemporal();
    const calls: string[] = [];
    let expiresMs = 0;
    const done: ChunkResult = { outcome: 'done', sent: 0, retryAfterMs: 0 };
    const activities = {
      readCampaignStart: async () => ({ phase: 'sending', rate: 0 }),
      finishCampaignSend: async () => ({ outcome: 'sent' }),
      expireCampaignChunk: async () => {
        calls.push('expire');
        return done;
      },
      sendCampaignChunk: async (): Promise<ChunkResult> => {
        calls.push('send');
        if (calls.length > 1) return done;
        await until(async () => Date.now() >= expiresMs);
        return { outcome: 'deferred', sent: 0, retryAfterMs: 10, ...first };
      },
    };
    const start = { projectId: 'p', campaignId: 'c', sendNo: 1 };
    const work = async (client: Client) => {
      expiresMs = Date.now() + 3_000;
      const later = [{ seq: 1, dueAtMs: 0, deferredSinceMs: expiresMs - DELIVERY_EXPIRES_MS, deferrals: 9 }];
      const state = { audienceDone: true, recipients: 5, lastSeq: 1, nextSeq: 2, later };
      const options = { taskQueue: 'workflows', workflowId: 'campaign-test', args: [{ ...start, state }] };
      await client.workflow.execute('campaignSend', options);
    };
    await withWorkers(temporal, { taskQueue: 'automation', activities }, () =>
      withWorkers(temporal, { taskQueue: 'bulk', activities }, work),
    );
    return calls;
  }

  test('is given up when it has not got rid of a single mail', async () => {
    expect(await asked({})).toEqual(['send', 'expire']);
  });
  test('has another day when it sent something', async () => {
    expect(await asked({ sent: 3, fresh: true })).toEqual(['send', 'send']);
  });
  test('has another day when it was on hold', async () => {
    expect(await asked({ outcome: 'more', fresh: true })).toEqual(['send', 'send']);
  });
});

describe('the audience', () => {
  test('is sent to while it is being taken', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 1 });
    const { rows } = await sql<{ id: string }>`SELECT id FROM contacts WHERE project_id = ${project.id}`.execute(
      service.db,
    );
    // Contacts are taken in the order of their ids: this one comes last.
    await sql`UPDATE contacts SET id = 'ffffffff-ffff-7fff-bfff-ffffffffffff' WHERE id = ${rows[0]?.id}`.execute(
      service.db,
    );
    await buildContacts(service.db, { projectId: project.id, count: 2_999, localPart: 'many' });
    const created = await service.call('POST', '/campaigns', { key: project.secretKey, body: campaignBody() });
    const id = created.body.data.id as string;
    await service.db.transaction().execute(async (trx) => {
      // The page with this contact cannot be written before this transaction ends.
      await sql`
        INSERT INTO emails (project_id, contact_id, campaign_id, content_id, source_type, mode)
        VALUES (${project.id}, 'ffffffff-ffff-7fff-bfff-ffffffffffff', ${id}, gen_random_uuid(), 'CAMPAIGN', 'live')`.execute(
        trx,
      );
      await service.call('POST', `/campaigns/${id}/send`, { key: project.secretKey, body: {} });
      await until(async () => sink.messages.length === 500, 'the first mails');
      expect((await campaign(id)).status).toBe('SENDING');
      await sql`DELETE FROM emails WHERE campaign_id = ${id} AND contact_id = 'ffffffff-ffff-7fff-bfff-ffffffffffff'`.execute(
        trx,
      );
    });
    await sent(id);
    expect(sink.perRecipient().size).toBe(3_000);
    expect(sink.messages).toHaveLength(3_000);
  });
});
