import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { buildContacts } from '../build/campaigns.ts';
import { deleteStoredStatistics } from '../build/recipients.ts';
import { useCampaignService } from '../support/campaign-service.ts';
import { until } from '../support/until.ts';

/** The sink accepts recipients that match. It defers all others. */
let accepted: RegExp = /./;
const replyToRcpt = (to: string) => (accepted.test(to) ? null : '450 4.2.1 Try again later');
const campaigns = useCampaignService({ sink: { keepBodies: true, replyToRcpt } });
const { call, create, send, read, waitForStatus } = campaigns;

const VARIANTS = [
  { name: 'A', weight: 1 },
  { name: 'B', subject: 'B for {{firstName}}', weight: 1 },
];
/** Minutes of a wait that is longer than any test, so that waiting recipients keep waiting. */
const LONG_MINUTES = 60;
/** Returns the settings of an A/B test, which by default waits longer than any test runs. */
const createTestSettings = (changes: Record<string, unknown> = {}) => ({
  share: 0.2,
  metric: 'opens',
  waitMinutes: LONG_MINUTES,
  ...changes,
});

async function startCampaign(changes: Record<string, unknown>): Promise<string> {
  const id = await create({ subject: 'A for {{firstName}}', variants: VARIANTS, ...changes });
  await send(id);
  return id;
}

/** Returns the number of recipients by variant, content and status. */
async function countRecipients(id: string): Promise<Record<string, number>> {
  const { rows: found } = await sql<{ what: string; n: number }>`
    SELECT concat_ws(' ', coalesce(e.variant::text, 'none'), k.subject, e.status) AS what, count(*)::int AS n
    FROM emails e JOIN contents k ON k.id = e.content_id WHERE e.campaign_id = ${id} GROUP BY 1
  `.execute(campaigns.service.db);
  return Object.fromEntries(found.map(({ what, n }) => [what, n]));
}

/** Records that the first `n` recipients of a variant opened or clicked, or that only bots opened. */
async function recordEngagement(
  id: string,
  variant: number,
  n: number,
  column: 'opened_at' | 'clicked_at' | 'machine_opens',
) {
  const value = column === 'machine_opens' ? sql`1` : sql`now()`;
  await sql`
    UPDATE emails SET ${sql.ref(column)} = ${value} WHERE id IN (
      SELECT id FROM emails WHERE campaign_id = ${id} AND variant = ${variant} AND sent_at IS NOT NULL ORDER BY id LIMIT ${n})
  `.execute(campaigns.service.db);
  await deleteStoredStatistics(campaigns.service.db, id);
}

/** Waits until the share of the test is sent. */
function waitForShare(id: string) {
  return until(async () => {
    const campaign = await read(id);
    return campaign.testState === 'WAITING' && campaign;
  }, 'the test to wait');
}

beforeEach(async () => {
  accepted = /./;
  await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 51 });
});

describe('a campaign with variants and no test', () => {
  it('sends each contact one variant by weight, and reports the result of each variant', async () => {
    const id = await startCampaign({ variants: [{ ...VARIANTS[0], weight: 2 }, VARIANTS[1]] });
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 51, test: null, testState: null, winner: null });
    expect(await countRecipients(id)).toEqual({ '0 A for {{firstName}} SENT': 34, '1 B for {{firstName}} SENT': 17 });
    const subjects = campaigns.sink.bodies.map((body) => /^Subject: ([^\r\n]*)/m.exec(body)?.[1]);
    expect(subjects.filter((subject) => subject === 'B for Ada')).toHaveLength(17);
    const stats = (await call('GET', `/campaigns/${id}/stats`)).body;
    expect(stats).toMatchObject({
      total: 51,
      variants: [
        { name: 'A', total: 34, sent: 34, pending: 0 },
        { name: 'B', total: 17, sent: 17, pending: 0 },
      ],
      comparison: { significant: false },
    });
    expect((await call('POST', `/campaigns/${id}/winner`, { variant: 'A' })).status).toBe(409);
  });
});

describe('a campaign with a test', () => {
  it('sends the share, waits, and sends the variant with more opens to the rest', async () => {
    const id = await startCampaign({ test: createTestSettings({ waitMinutes: 0.1 }) });
    const { testEndsAt } = await waitForShare(id);
    // The share is 20 % of 51 recipients, rounded up.
    expect(await countRecipients(id)).toEqual({
      '0 A for {{firstName}} SENT': 6,
      '1 B for {{firstName}} SENT': 5,
      'none A for {{firstName}} PENDING': 40,
    });
    await recordEngagement(id, 0, 4, 'machine_opens');
    await recordEngagement(id, 0, 1, 'opened_at');
    await recordEngagement(id, 1, 3, 'opened_at');
    const sent = await waitForStatus(id, 'SENT');
    expect(sent).toMatchObject({ testState: 'DECIDED', winner: 'B', winnerBy: 'test', testEndsAt, sentCount: 51 });
    expect(sent.winnerAt >= testEndsAt).toBe(true);
    expect(await countRecipients(id)).toEqual({ '0 A for {{firstName}} SENT': 6, '1 B for {{firstName}} SENT': 45 });
    const perRecipient = [...campaigns.sink.perRecipient().values()];
    expect(perRecipient).toEqual(Array.from({ length: 51 }, () => 1));
    const { variants, comparison } = (await call('GET', `/campaigns/${id}/stats`)).body;
    expect(variants).toMatchObject([
      { name: 'A', sent: 6, opened: 1, winner: false },
      { name: 'B', sent: 45, opened: 3, winner: true },
    ]);
    expect(comparison).toMatchObject({ metric: 'opens', leader: 'B', significant: false });
    expect(comparison.sentence).toContain('B (60.0 % opened) and A (16.7 % opened) is not significant');
    expect((await call('POST', `/campaigns/${id}/winner`, { variant: 'A' })).status).toBe(409);
  });

  it('gets its winner from a user while it waits, but only once', async () => {
    const id = await startCampaign({ test: createTestSettings() });
    await waitForShare(id);
    expect((await call('POST', `/campaigns/${id}/winner`, { variant: 'C' })).status).toBe(422);
    const both = await Promise.all(['A', 'B'].map((variant) => call('POST', `/campaigns/${id}/winner`, { variant })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const { data } = both.find(({ status }) => status === 200)?.body ?? {};
    expect(data).toMatchObject({ testState: 'DECIDED', winnerBy: 'hand' });
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ winner: data.winner, winnerBy: 'hand', sentCount: 51 });
    const sent = await countRecipients(id);
    expect(
      data.winner === 'A' ? sent['0 A for {{firstName}} SENT'] : sent['1 B for {{firstName}} SENT'],
    ).toBeGreaterThan(44);
  });

  it('gets its winner from a user before anything was sent, also while it is PAUSED', async () => {
    await campaigns.service.stopWorker();
    const id = await startCampaign({ test: createTestSettings() });
    await call('POST', `/campaigns/${id}/pause`);
    expect(await call('POST', `/campaigns/${id}/winner`, { variant: 'B' })).toMatchObject({
      status: 200,
      body: { data: { status: 'PAUSED', winner: 'B', testState: 'DECIDED' } },
    });
    await campaigns.service.startWorker();
    await until(async () => (await read(id)).totalRecipients === 51 || undefined, 'the audience');
    expect(campaigns.sink.messages).toHaveLength(0);
    await call('POST', `/campaigns/${id}/resume`);
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 51, winner: 'B' });
    expect(await countRecipients(id)).toEqual({ '0 A for {{firstName}} SENT': 6, '1 B for {{firstName}} SENT': 45 });
  });

  it('gets no winner while it is PAUSED, although its wait continues', async () => {
    const id = await startCampaign({ test: createTestSettings({ waitMinutes: 0.05 }) });
    await waitForShare(id);
    await call('POST', `/campaigns/${id}/pause`);
    await recordEngagement(id, 1, 2, 'opened_at');
    await until(async () => (await read(id)).testEndsAt < new Date().toISOString() || undefined, 'the end of the wait');
    await campaigns.service.stopWorker();
    await campaigns.service.startWorker();
    expect(await read(id)).toMatchObject({ status: 'PAUSED', testState: 'WAITING', winner: null, sentCount: 11 });
    await call('POST', `/campaigns/${id}/resume`);
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ winner: 'B', sentCount: 51 });
  });

  it('has no rest if the share is the whole audience, so it is SENT at once', async () => {
    const id = await startCampaign({ test: createTestSettings({ share: 1 }) });
    expect(await waitForStatus(id, 'SENT')).toMatchObject({
      sentCount: 51,
      winner: null,
      testState: 'ENDED',
      testEndsAt: null,
    });
  });

  it('skips waiting recipients if it is cancelled while it waits', async () => {
    const id = await startCampaign({ test: createTestSettings() });
    await waitForShare(id);
    await call('POST', `/campaigns/${id}/cancel`);
    await until(async () => (await read(id)).skippedCount === 40 || undefined, 'the rest to be skipped');
    expect(await read(id)).toMatchObject({ status: 'CANCELLED', testState: 'ENDED', sentCount: 11, winner: null });
    expect((await call('POST', `/campaigns/${id}/winner`, { variant: 'A' })).status).toBe(409);
  });

  it('does not wait for deferred recipients', async () => {
    accepted = /^<?r(?!1)/;
    const id = await startCampaign({ test: createTestSettings() });
    const { sentCount, pendingCount } = await waitForShare(id);
    expect(sentCount).toBeLessThanOrEqual(11);
    expect(sentCount + pendingCount).toBe(51);
    await call('POST', `/campaigns/${id}/winner`, { variant: 'B' });
    // The sink accepts all recipients except r1 and r10 to r19.
    await until(async () => (await read(id)).sentCount === 40 || undefined, 'all recipients that are not deferred');
    expect(await read(id)).toMatchObject({ status: 'SENDING', pendingCount: 11, winner: 'B' });
    await call('POST', `/campaigns/${id}/cancel`);
  });

  it('continues at the same position after Temporal has lost it', async () => {
    const id = await startCampaign({ test: createTestSettings() });
    const { testEndsAt } = await waitForShare(id);
    await campaigns.operator.deleteWorkflows(campaigns.service.names.campaign(id, 1));
    await campaigns.operator.runRecovery();
    await campaigns.operator.waitForStart(campaigns.service.names.campaign(id, 1));
    expect(await read(id)).toMatchObject({ testState: 'WAITING', testEndsAt, sentCount: 11 });
    await call('POST', `/campaigns/${id}/winner`, { variant: 'B' });
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 51, winner: 'B' });
    expect([...campaigns.sink.perRecipient().values()]).toEqual(Array(51).fill(1));
  });
});
