import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CampaignStart } from '../../db/campaigns/campaigns.ts';
import type { CampaignRecipientRow } from '../../db/campaigns/recipient-rows.ts';
import { listRecipients } from '../../db/campaigns/recipients.ts';
import { inTransaction } from '../../db/transaction.ts';
import { chooseWinner } from '../../engine/campaigns/variant-test.ts';
import { buildContacts, buildStartedCampaign } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { buildSendingCampaign, type CampaignWorker, createCampaignWorker } from '../support/campaign-worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { listWithWrongFailureTime } from '../support/failure-times.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';

let database: TestDatabase;
let sink: SmtpSink;
let worker: CampaignWorker;
let projectId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  sink = await startSmtpSink();
  worker = createCampaignWorker({ db: database.db, smtpUrl: sink.url });
});

beforeEach(async () => {
  sink.reset();
  projectId = (await buildProject(database.db, 'Variants')).id;
  await buildDomain(database.db, { projectId, domain: 'sender.test', signing: false });
});

afterEach(async () => {
  expect(await listWithWrongFailureTime(database.db, projectId)).toEqual([]);
});

afterAll(async () => {
  await worker?.close();
  await sink?.close();
  await database?.drop();
});

const VARIANTS = [
  { name: 'A', weight: 3 },
  { name: 'B', subject: 'B {{n}}', weight: 1 },
];

const createVariantFields = (test: Record<string, unknown> | null, variants = VARIANTS) => ({
  variants,
  test: test && { share: 0.2, metric: 'opens' as const, waitMinutes: 60, minimum: 0, ...test },
});

interface ChunkRow {
  seq: number;
  variant: number | null;
  rest: boolean;
  size: number;
}

async function readChunks({ campaignId }: CampaignStart): Promise<ChunkRow[]> {
  const { rows } = await sql<ChunkRow>`
    SELECT seq, variant, rest, size FROM campaign_chunks WHERE campaign_id = ${campaignId} ORDER BY seq
  `.execute(database.db);
  return rows;
}

/** Returns the number of recipients by variant, and how many of them have a content of another variant. */
async function countRecipients({ campaignId }: CampaignStart): Promise<Record<string, number>> {
  const { rows } = await sql<{ what: string; n: number }>`
    SELECT coalesce(e.variant::text, 'none') || ' ' || e.status || CASE
        WHEN e.content_id = c.variant_content_ids[coalesce(e.variant, 0) + 1] THEN '' ELSE ' of another content' END AS what, count(*)::int AS n
    FROM emails e JOIN campaigns c ON c.id = e.campaign_id WHERE e.campaign_id = ${campaignId} GROUP BY 1
  `.execute(database.db);
  return Object.fromEntries(rows.map(({ what, n }) => [what, n]));
}

/** Sends every chunk that can be sent now. */
async function sendAll(start: CampaignStart): Promise<void> {
  for (const { seq } of await readChunks(start)) if (seq > 0) await worker.send(start, seq);
}

/** Records this number of opens and clicks by recipients of the variant. */
async function recordEngagement({ campaignId }: CampaignStart, variant: number, p: { opens: number; clicks: number }) {
  await sql`
    UPDATE emails e SET opened_at = CASE WHEN r.n <= ${p.opens} THEN now() END, clicked_at = CASE WHEN r.n <= ${p.clicks} THEN now() END,
      machine_opens = 1, machine_clicks = 1
    FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM emails WHERE campaign_id = ${campaignId} AND variant = ${variant}) r
    WHERE e.id = r.id
  `.execute(database.db);
}

async function endTestPeriod({ campaignId }: CampaignStart): Promise<void> {
  await sql`UPDATE campaigns SET test_ends_at = now() WHERE id = ${campaignId}`.execute(database.db);
}

async function readWinner({ campaignId }: CampaignStart) {
  const { rows } = await sql<{ winner: number | null; winner_by: string | null }>`
    SELECT winner, winner_by FROM campaigns WHERE id = ${campaignId}`.execute(database.db);
  return rows[0];
}

const chooseVariant = ({ campaignId: id }: CampaignStart, variant: string) =>
  inTransaction(database.db, (trx) => chooseWinner(trx, { projectId, id, variant }));

describe('adding the audience of a campaign with variants', () => {
  it('gives variants to the share of the test, in exactly the proportions of share and weights, over several pages', async () => {
    await buildContacts(database.db, { projectId, count: 6_001 });
    const start = await buildStartedCampaign(database.db, { projectId, says: createVariantFields({}) });
    await worker.read(start);
    // The three pages have 500, 5,000 and the remaining 501 contacts.
    await worker.take(start, 0);
    expect(await worker.take(start, 5)).toMatchObject({ done: true, recipients: 6_001, testing: true, lastSeq: 6 });
    expect(await countRecipients(start)).toEqual({ '0 PENDING': 901, '1 PENDING': 300, 'none PENDING': 4_800 });
    const taken = await readChunks(start);
    expect(taken.map(({ seq, variant, rest }) => [seq, variant, rest])).toEqual([
      ...[-3, -2, -1].map((seq) => [seq, null, true]),
      ...[0, 1, 0, 1, 0, 1].map((variant, n) => [n + 1, variant, false]),
    ]);
    expect(taken.reduce((sum, { size }) => sum + size, 0)).toBe(6_001);
  });

  it('gives a page the same variants after an earlier attempt died before its commit', async () => {
    await buildContacts(database.db, { projectId, count: 300 });
    const start = await buildStartedCampaign(database.db, { projectId, says: createVariantFields({}) });
    await worker.read(start);
    const readVariantsOfContacts = async () => {
      const { rows } = await sql<{ contact_id: string; variant: number | null }>`
        SELECT contact_id, variant FROM emails WHERE campaign_id = ${start.campaignId} ORDER BY contact_id`.execute(
        database.db,
      );
      return rows;
    };
    await worker.take(start, 0);
    const first = await readVariantsOfContacts();
    await sql`DELETE FROM emails WHERE campaign_id = ${start.campaignId}`.execute(database.db);
    await sql`DELETE FROM campaign_chunks WHERE campaign_id = ${start.campaignId}`.execute(database.db);
    await sql`UPDATE campaigns SET audience_cursor = NULL, audience_done = false WHERE id = ${start.campaignId}`.execute(
      database.db,
    );
    await worker.take(start, 0);
    expect(await readVariantsOfContacts()).toEqual(first);
    // The variants do not follow the order in which the contacts were created.
    const inOrder = first.map(({ variant }) => variant);
    expect(inOrder.slice(0, 60).filter((variant) => variant !== null)).not.toHaveLength(0);
    expect(inOrder).not.toEqual([...inOrder].sort());
  });

  it('gives the winning variant to contacts that are added after the decision', async () => {
    await buildContacts(database.db, { projectId, count: 700 });
    const start = await buildStartedCampaign(database.db, { projectId, says: createVariantFields({}) });
    await worker.read(start);
    await worker.take(start, 0);
    await chooseVariant(start, 'B');
    expect(await worker.take(start, 1)).toMatchObject({ done: true, testing: false, lastSeq: 6 });
    expect((await readChunks(start)).map(({ variant, rest, size }) => [variant, rest, size])).toEqual([
      ...[
        [0, false, 75],
        [1, false, 25],
        [1, true, 400],
      ],
      ...[
        [0, false, 30],
        [1, false, 10],
        [1, true, 160],
      ],
    ]);
    await sendAll(start);
    expect(await countRecipients(start)).toEqual({ '0 SENT': 105, '1 SENT': 595 });
    expect(await worker.finish(start)).toEqual({ outcome: 'sent' });
  });

  it('counts only contacts that will get the email in the test share', async () => {
    await buildContacts(database.db, { projectId, count: 50 });
    await buildContacts(database.db, { projectId, count: 25, localPart: 'gone' });
    await sql`UPDATE contacts SET subscribed = false WHERE project_id = ${projectId} AND email LIKE 'gone%'`.execute(
      database.db,
    );
    const start = await buildStartedCampaign(database.db, { projectId, says: createVariantFields({}) });
    await worker.read(start);
    expect(await worker.take(start)).toMatchObject({ done: true, recipients: 75, testing: true });
    expect(await countRecipients(start)).toEqual({
      '0 PENDING': 8,
      '1 PENDING': 2,
      'none PENDING': 40,
      'none FAILED': 25,
    });
  });

  it('makes separate chunks for each variant and time zone if recipients are sent to in their own time zones', async () => {
    await buildContacts(database.db, { projectId, count: 50, data: { timezone: 'Europe/Berlin' } });
    await buildContacts(database.db, { projectId, count: 50, localPart: 'far', data: { timezone: 'Asia/Tokyo' } });
    const start = await buildStartedCampaign(database.db, { projectId, says: createVariantFields({}) });
    await sql`UPDATE campaigns SET send_at_local = '2030-01-01T09:00' WHERE id = ${start.campaignId}`.execute(
      database.db,
    );
    await worker.read(start);
    expect(await worker.take(start)).toMatchObject({ done: true, recipients: 100, testing: true });
    expect(await countRecipients(start)).toEqual({ '0 PENDING': 15, '1 PENDING': 5, 'none PENDING': 80 });
    const { rows } = await sql<{ wrong: number; zones: number }>`
      SELECT count(*) FILTER (WHERE k.zone <> c.data->>'timezone' OR e.variant IS DISTINCT FROM k.variant)::int AS wrong,
        count(DISTINCT k.zone)::int AS zones
      FROM campaign_chunks k JOIN emails e ON e.id BETWEEN k.first_id AND k.last_id AND e.campaign_id = k.campaign_id
      JOIN contacts c ON c.id = e.contact_id WHERE k.campaign_id = ${start.campaignId}`.execute(database.db);
    expect(rows).toEqual([{ wrong: 0, zones: 2 }]);
  });

  it('gives the monthly limit to the share of the test first', async () => {
    await sql`UPDATE projects SET monthly_email_limit = 12 WHERE id = ${projectId}`.execute(database.db);
    const start = await buildSendingCampaign(database.db, {
      projectId,
      count: 50,
      worker,
      says: createVariantFields({}),
    });
    expect(await countRecipients(start)).toEqual({
      '0 PENDING': 8,
      '1 PENDING': 2,
      'none PENDING': 2,
      'none FAILED': 38,
    });
  });
});

describe('the recipients of a campaign with variants', () => {
  it('are each listed once, page by page, with their variant, before and after the winner is chosen', async () => {
    await buildContacts(database.db, { projectId, count: 700 });
    const start = await buildStartedCampaign(database.db, { projectId, says: createVariantFields({}) });
    await worker.read(start);
    await worker.take(start, 0);
    await worker.take(start, 1);
    const listAllRecipients = async () => {
      const ref = { projectId, id: start.campaignId, limit: 100 };
      const found: CampaignRecipientRow[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await listRecipients(database.db, { ...ref, cursor });
        found.push(...page.items);
        if (!page.cursor) return found;
        cursor = page.cursor;
      }
    };
    const expectCountsByVariant = async (variants: Record<string, number>) => {
      const found = await listAllRecipients();
      const ids = found.map(({ id }) => id);
      expect(ids).toEqual([...new Set(ids)].sort().reverse());
      const counted: Record<string, number> = {};
      for (const { variant } of found) counted[variant ?? 'none'] = (counted[variant ?? 'none'] ?? 0) + 1;
      expect(counted).toEqual(variants);
    };
    await expectCountsByVariant({ A: 105, B: 35, none: 560 });
    await chooseVariant(start, 'B');
    await sendAll(start);
    await expectCountsByVariant({ A: 105, B: 595 });
  });
});

describe('choosing the winner of a test', () => {
  const sendTestCampaign = async (test: Record<string, unknown> = {}) => {
    const start = await buildSendingCampaign(database.db, {
      projectId,
      count: 100,
      worker,
      says: createVariantFields(test),
    });
    await sendAll(start);
    return start;
  };

  it.each([
    [
      'the variant with the higher rate, not the higher number',
      {},
      [
        { opens: 5, clicks: 9 },
        { opens: 3, clicks: 0 },
      ],
      1,
    ],
    [
      'the variant with more clicks if the metric is clicks',
      { metric: 'clicks' },
      [
        { opens: 15, clicks: 1 },
        { opens: 0, clicks: 1 },
      ],
      1,
    ],
    [
      'the first variant if rates are equal',
      {},
      [
        { opens: 3, clicks: 0 },
        { opens: 1, clicks: 5 },
      ],
      0,
    ],
    [
      'the first variant if only bots have opened',
      {},
      [
        { opens: 0, clicks: 0 },
        { opens: 0, clicks: 0 },
      ],
      0,
    ],
    [
      'the first variant if the better variant is below the minimum',
      { minimum: 4 },
      [
        { opens: 0, clicks: 0 },
        { opens: 3, clicks: 5 },
      ],
      0,
    ],
    [
      'the better variant if it just reaches the minimum',
      { minimum: 4 },
      [
        { opens: 0, clicks: 0 },
        { opens: 4, clicks: 0 },
      ],
      1,
    ],
  ])('the winner of a test is %s', async (_, test, engaged, winner) => {
    const start = await sendTestCampaign(test);
    expect(await worker.judge(start)).toMatchObject({ outcome: 'waiting' });
    for (const [variant, counts] of engaged.entries()) await recordEngagement(start, variant, counts);
    await endTestPeriod(start);
    expect(await worker.judge(start)).toEqual({ outcome: 'decided', lastSeq: 3 });
    expect(await readWinner(start)).toEqual({ winner, winner_by: 'test' });
    await sendAll(start);
    const all = winner === 0 ? { '0 SENT': 95, '1 SENT': 5 } : { '0 SENT': 15, '1 SENT': 85 };
    expect(await countRecipients(start)).toEqual(all);
    expect(sink.counts.messages).toBe(100);
  });

  it('a second decision changes nothing: the wait counts from the first one, and the winner stays', async () => {
    const start = await sendTestCampaign();
    const first = await worker.judge(start);
    expect(await worker.judge(start)).toEqual(first);
    await endTestPeriod(start);
    const decided = await worker.judge(start);
    await recordEngagement(start, 1, { opens: 5, clicks: 0 });
    expect(await worker.judge(start)).toEqual(decided);
    expect(await readWinner(start)).toEqual({ winner: 0, winner_by: 'test' });
  });

  it('a PAUSED campaign waits, and a cancelled campaign never gets a winner', async () => {
    const start = await sendTestCampaign();
    await worker.judge(start);
    await endTestPeriod(start);
    const setStatus = (status: string, reason: string | null) =>
      sql`UPDATE campaigns SET status = ${status}, paused_reason = ${reason} WHERE id = ${start.campaignId}`.execute(
        database.db,
      );
    await setStatus('PAUSED', 'requested');
    expect(await worker.judge(start)).toEqual({ outcome: 'paused' });
    await setStatus('CANCELLED', null);
    expect(await worker.judge(start)).toEqual({ outcome: 'ended' });
    expect(await readWinner(start)).toEqual({ winner: null, winner_by: null });
  });

  it('a test has one winner if a user chooses a winner concurrently', async () => {
    const start = await sendTestCampaign();
    await worker.judge(start);
    await endTestPeriod(start);
    const [byTest, byUser] = await Promise.allSettled([worker.judge(start), chooseVariant(start, 'B')]);
    expect(byTest).toMatchObject({ status: 'fulfilled', value: { outcome: 'decided', lastSeq: 3 } });
    const byHand = byUser.status === 'fulfilled';
    expect(await readWinner(start)).toEqual(
      byHand ? { winner: 1, winner_by: 'hand' } : { winner: 0, winner_by: 'test' },
    );
    await sendAll(start);
    expect(await countRecipients(start)).toEqual(
      byHand ? { '0 SENT': 15, '1 SENT': 85 } : { '0 SENT': 95, '1 SENT': 5 },
    );
  });

  it('a waiting recipient is not sent to, reopened or reported before the decision', async () => {
    const start = await sendTestCampaign();
    expect(await worker.finish(start)).toEqual({ outcome: 'open', openChunks: [] });
    expect(sink.counts.messages).toBe(20);
  });
});
