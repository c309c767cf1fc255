import { randomBytes } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { takeSendTokens } from '../../db/sending/send-rate.ts';
import type { ChunkResult } from '../../rules/campaigns/campaign.ts';
import { DELIVERY_EXPIRES_MS } from '../../rules/emails/retry-schedule.ts';
import { buildContacts } from '../build/campaigns.ts';
import { useCampaignService } from '../support/campaign-service.ts';
import { createTestTemporal } from '../support/services.ts';
import { until } from '../support/until.ts';
import { withWorkers } from '../support/with-workers.ts';

const campaigns = useCampaignService();
const { create, send, read, waitForStatus } = campaigns;

async function setSendRate(rate: number | null): Promise<void> {
  await sql`UPDATE projects SET send_rate_per_second = ${rate} WHERE id = ${campaigns.project.id}`.execute(
    campaigns.service.db,
  );
}

/** Starts a campaign to `count` contacts of the project. */
async function startCampaign(count: number): Promise<string> {
  await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count });
  const id = await create();
  await send(id);
  return id;
}

/** Returns the queues of the activities that sent the campaign's chunks, in order. */
async function listQueues(id: string): Promise<string[]> {
  await campaigns.operator.waitForStart(campaigns.service.names.campaign(id, 1));
  const { events } = await campaigns.operator.client.workflow
    .getHandle(campaigns.service.names.campaign(id, 1))
    .fetchHistory();
  return (events ?? [])
    .map((event) => event.activityTaskScheduledEventAttributes)
    .filter((scheduled) => scheduled?.activityType?.name === 'sendCampaignChunk')
    .map((scheduled) => scheduled?.taskQueue?.name ?? '');
}

describe('a campaign with a send rate', () => {
  it('uses only the task queue `paced`, and one activity for many emails', async () => {
    await setSendRate(20);
    const id = await startCampaign(60);
    await waitForStatus(id, 'SENT');
    const queues = await listQueues(id);
    expect(new Set(queues)).toEqual(new Set([campaigns.service.names.taskQueue('paced')]));
    expect(queues.length).toBeLessThanOrEqual(3);
    expect([...campaigns.sink.perRecipient().values()].every((times) => times === 1)).toBe(true);
  });

  it('is slowed down when a rate is set while it runs, and speeds up when the rate is removed', async () => {
    campaigns.pauseMs = 50;
    const id = await startCampaign(5_000);
    await until(async () => campaigns.sink.messages.length > 100);
    await setSendRate(1);
    await until(
      async () => (await listQueues(id)).includes(campaigns.service.names.taskQueue('paced')),
      'a chunk that waits',
    );
    campaigns.pauseMs = 0;
    // At one email per second, the rest of the campaign would take more than an hour.
    await setSendRate(null);
    await waitForStatus(id, 'SENT');
    expect((await listQueues(id)).at(-1)).toBe(campaigns.service.names.taskQueue('bulk'));
    expect((await read(id)).failedCount).toBe(0);
    expect(campaigns.sink.perRecipient().size).toBe(5_000);
  });

  it('sends nothing while single emails take all tokens of the rate, counts no attempt for that time, and continues afterwards', async () => {
    await setSendRate(10);
    const tokens = { projectId: campaigns.project.id, n: 1_000, ratePerSecond: 10, order: 'single' } as const;
    await takeSendTokens(campaigns.service.db, tokens);
    const id = await startCampaign(5);
    await until(async () => {
      await takeSendTokens(campaigns.service.db, tokens);
      const chunks = (await listQueues(id)).length;
      expect(campaigns.sink.messages).toHaveLength(0);
      return chunks > 1;
    }, 'a second activity for the chunk');
    const { rows } = await sql`SELECT FROM emails WHERE project_id = ${campaigns.project.id} AND attempts > 0`.execute(
      campaigns.service.db,
    );
    expect(rows).toHaveLength(0);
    await waitForStatus(id, 'SENT');
    expect(campaigns.sink.perRecipient().size).toBe(5);
  });
});

describe('a chunk that the provider has deferred for nearly a day', () => {
  /**
   * Runs the workflow of a campaign with simulated activities. `first` changes the result of the first attempt to send
   * the chunk. This attempt ends a day after the provider first deferred the chunk.
   */
  async function runSimulatedCampaign(first: Partial<ChunkResult>): Promise<string[]> {
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

  it('expires if no email of the chunk could be sent', async () => {
    expect(await runSimulatedCampaign({})).toEqual(['send', 'expire']);
  });
  it('gets another day if it sent an email', async () => {
    expect(await runSimulatedCampaign({ sent: 3, fresh: true })).toEqual(['send', 'send']);
  });
  it('gets another day if it was on hold', async () => {
    expect(await runSimulatedCampaign({ outcome: 'more', fresh: true })).toEqual(['send', 'send']);
  });
});

describe('the recipients of a campaign', () => {
  it('get their email while other recipients are still being added', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 1 });
    const { rows } = await sql<{
      id: string;
    }>`SELECT id FROM contacts WHERE project_id = ${campaigns.project.id}`.execute(campaigns.service.db);
    // Contacts are read in order of their ids, and this contact has the highest. A repeated test needs another id.
    const lastId = `ffffffff-ffff-7fff-bfff-${randomBytes(6).toString('hex')}`;
    await sql`UPDATE contacts SET id = ${lastId} WHERE id = ${rows[0]?.id}`.execute(campaigns.service.db);
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 2_999, localPart: 'many' });
    const id = await create();
    await campaigns.service.db.transaction().execute(async (trx) => {
      // The lock of this transaction prevents the page with this contact from being written until the transaction ends.
      await sql`
        INSERT INTO emails (project_id, contact_id, campaign_id, content_id, source_type, mode)
        VALUES (${campaigns.project.id}, ${lastId}, ${id}, gen_random_uuid(), 'CAMPAIGN', 'live')`.execute(trx);
      await send(id);
      await until(async () => campaigns.sink.messages.length >= 500, 'the first emails');
      expect((await read(id)).status).toBe('SENDING');
      await sql`DELETE FROM emails WHERE campaign_id = ${id} AND contact_id = ${lastId}`.execute(trx);
    });
    await waitForStatus(id, 'SENT');
    expect(campaigns.sink.perRecipient().size).toBe(3_000);
    expect(campaigns.sink.messages).toHaveLength(3_000);
  });
});
