import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { buildContacts } from '../build/campaigns.ts';
import { expectOk } from '../build/workflows.ts';
import { useCampaignService } from '../support/campaign-service.ts';
import { until } from '../support/until.ts';

/** The sink accepts recipients that match. It defers all others. */
let accepted: RegExp = /./;
const replyToRcpt = (to: string) => (accepted.test(to) ? null : '450 4.2.1 Try again later');
const campaigns = useCampaignService({ sink: { replyToRcpt } });
const { create, send, waitForStatus } = campaigns;

beforeEach(async () => {
  accepted = /./;
  await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 20 });
});

const call = (method: string, path: string, body?: unknown) => expectOk(campaigns.call(method, path, body));
const readStats = (id: string) => call('GET', `/campaigns/${id}/stats`);

/** Sends a campaign. Returns its id when Temporal runs it. */
async function startCampaign(body: Record<string, unknown> = {}): Promise<string> {
  const id = await create();
  await send(id, body);
  await campaigns.operator.waitForStart(campaigns.service.names.campaign(id, 1));
  return id;
}

/**
 * Starts a campaign. Returns when it has reached `r0` to `r9` and waits for the next attempt for the other recipients.
 */
async function startHalfDeferredCampaign(): Promise<string> {
  accepted = /^<?r\d@/;
  const id = await startCampaign();
  await until(async () => (await readStats(id)).sent === 10, 'the first half');
  await until(async () => {
    const { events } = await campaigns.operator.client.workflow
      .getHandle(campaigns.service.names.campaign(id, 1))
      .fetchHistory();
    return events?.some(({ timerStartedEventAttributes: timer }) => timer);
  }, 'the wait for the next attempt');
  accepted = /./;
  return id;
}

const IN_AN_HOUR = () => ({ scheduledFor: new Date(Date.now() + 3_600_000).toISOString() });

describe('a campaign whose workflow an operator ended in Temporal', () => {
  for (const how of ['terminate', 'cancel'] as const) {
    it(`is CANCELLED after a ${how}, and skips unsent recipients`, async () => {
      const id = await startHalfDeferredCampaign();
      await campaigns.operator[how](campaigns.service.names.campaign(id, 1));
      await campaigns.operator.runRecovery();
      expect(await campaigns.read(id)).toMatchObject({ status: 'CANCELLED' });
      await until(async () => (await readStats(id)).pending === 0, 'the end of the rest');
      expect(await readStats(id)).toMatchObject({ total: 20, sent: 10, skipped: 10 });
      await campaigns.operator.runRecovery();
      expect(campaigns.sink.counts.messages).toBe(10);
    });
  }

  it('is a DRAFT again if it had not started, and can be sent', async () => {
    const id = await startCampaign(IN_AN_HOUR());
    await campaigns.operator.terminate(campaigns.service.names.campaign(id, 1));
    await campaigns.operator.runRecovery();
    expect(await campaigns.read(id)).toMatchObject({ status: 'DRAFT', scheduledAt: null });
    await call('POST', `/campaigns/${id}/send`, {});
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 20 });
  });

  it('skips the unsent recipients if it was cancelled before its workflow was terminated', async () => {
    const id = await startHalfDeferredCampaign();
    await campaigns.service.stopWorker();
    await call('POST', `/campaigns/${id}/cancel`);
    await campaigns.operator.terminate(campaigns.service.names.campaign(id, 1));
    await campaigns.service.startWorker();
    await until(async () => {
      const { rows } = await sql`SELECT 1 FROM outbox WHERE ref_id = ${id}`.execute(campaigns.service.db);
      return rows.length === 0;
    }, 'the end of the signal');
    await campaigns.operator.runRecovery();
    await until(async () => (await readStats(id)).pending === 0, 'the end of the rest');
    expect(await readStats(id)).toMatchObject({ sent: 10, skipped: 10 });
  });
});

describe('a campaign that Temporal has lost', () => {
  it('is sent to the remaining recipients, and to no recipient twice', async () => {
    const id = await startHalfDeferredCampaign();
    await campaigns.operator.deleteWorkflows(campaigns.service.names.campaign(id, 1));
    await campaigns.operator.runRecovery();
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 20 });
    expect([...campaigns.sink.perRecipient().values()]).toEqual(Array(20).fill(1));
  });

  it('keeps its time if it is scheduled', async () => {
    const id = await startCampaign(IN_AN_HOUR());
    await campaigns.operator.deleteWorkflows(campaigns.service.names.campaign(id, 1));
    await campaigns.operator.runRecovery();
    await campaigns.operator.waitForStart(campaigns.service.names.campaign(id, 1));
    expect(await campaigns.read(id)).toMatchObject({ status: 'SCHEDULED' });
    expect(campaigns.sink.counts.messages).toBe(0);
    await call('POST', `/campaigns/${id}/send`, { scheduledFor: new Date(Date.now() + 500).toISOString() });
    await waitForStatus(id, 'SENT');
  });
});
