import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { countCampaign } from '../../db/campaign-stats.ts';
import { inTransaction } from '../../db/transaction.ts';
import { insertEndpoint } from '../../db/webhook-endpoints.ts';
import { deriveKey } from '../../domain/secrets.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import {
  type CampaignStart,
  type CampaignWorker,
  campaignWorker,
  sendingCampaign,
} from '../support/campaign-worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';

let database: TestDatabase;
let sink: SmtpSink;
let projectId: string;
const workers: CampaignWorker[] = [];
/** What the sink answers at RCPT; undefined is its own way. */
let answerRcpt: ((to: string) => string | null) | undefined;
let slowly = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  sink = await startSmtpSink({ answerRcpt: (to) => answerRcpt?.(to) ?? null, pauseMs: () => slowly });
});

beforeEach(async () => {
  answerRcpt = undefined;
  slowly = 0;
  sink.reset();
  projectId = (await buildProject(database.db, 'Campaigns')).id;
  await buildDomain(database.db, { projectId, domain: 'sender.test', signing: false });
});

afterAll(async () => {
  await Promise.all(workers.map((started) => started.close()));
  await sink?.close();
  await database?.drop();
});

function worker(url = sink.url): CampaignWorker {
  const started = campaignWorker({ db: database.db, smtpUrl: url });
  workers.push(started);
  return started;
}

/** A campaign to `count` contacts whose audience is taken. */
async function sending(count: number): Promise<CampaignStart> {
  return sendingCampaign(database.db, { projectId, count, worker: worker() });
}

/** Someone wants each `email.sent`, so that each result is recorded with its event. */
function wantSent() {
  const atRestKey = deriveKey(TEST_SECRET_KEY, 'at-rest');
  const endpoint = {
    projectId,
    atRestKey,
    url: 'https://hooks.example.com',
    events: ['email.sent'],
    description: null,
  };
  return inTransaction(database.db, (trx) => insertEndpoint(trx, endpoint));
}

function counts({ campaignId }: CampaignStart) {
  return countCampaign(database.db, { projectId, id: campaignId });
}

describe('a chunk', () => {
  test('that is taken twice, or again after it was sent, sends nothing twice', async () => {
    const start = await sending(300);
    const { take, send, finish } = worker();
    expect(await take(start)).toMatchObject({ done: true, recipients: 300 });
    expect(await send(start)).toMatchObject({ outcome: 'done', sent: 300 });
    expect(await send(start)).toMatchObject({ outcome: 'done', sent: 0 });
    expect(sink.messages).toHaveLength(300);
    expect(await finish(start)).toEqual({ outcome: 'sent' });
  });

  test('what the provider put off is PENDING with its words, and leaves with the next turn', async () => {
    const start = await sending(10);
    answerRcpt = (to) => (to.startsWith('r3@') ? '450 4.2.1 not now' : null);
    const { send, finish } = worker();
    const first = await send(start);
    expect(first).toMatchObject({ outcome: 'deferred', sent: 9 });
    expect(first.retryAfterMs).toBeGreaterThanOrEqual(30_000);
    expect(first.retryAfterMs).toBeLessThanOrEqual(60_000);
    expect(await counts(start)).toMatchObject({ sent: 9, pending: 1 });
    expect(await finish(start)).toEqual({ outcome: 'open', openChunks: [1] });
    const { rows } =
      await sql`SELECT error, attempts FROM emails WHERE project_id = ${projectId} AND status = 'PENDING'`.execute(
        database.db,
      );
    expect(rows).toEqual([{ error: '450 4.2.1 not now', attempts: 1 }]);
    answerRcpt = undefined;
    expect(await send(start)).toMatchObject({ outcome: 'done', sent: 1 });
    expect(await counts(start)).toMatchObject({ sent: 10, pending: 0 });
  });

  test('whom the provider has put off for a day is FAILED as expired', async () => {
    const start = await sending(3);
    answerRcpt = () => '450 4.2.1 not now';
    const { send, expire, finish } = worker();
    await send(start);
    expect(await expire(start)).toMatchObject({ outcome: 'done' });
    expect(await counts(start)).toMatchObject({ failed: 3, pending: 0, skipped: 0 });
    expect(await finish(start)).toEqual({ outcome: 'sent' });
  });

  test('a provider that is away costs few attempts, not one a recipient', async () => {
    const start = await sending(2_000);
    const { send } = worker('smtp://127.0.0.1:1');
    expect(await send(start)).toMatchObject({ outcome: 'deferred', sent: 0 });
    const { rows } = await sql<{ n: number }>`
      SELECT count(*) AS n FROM emails WHERE project_id = ${projectId} AND attempts > 0`.execute(database.db);
    expect(rows[0]?.n).toBeLessThanOrEqual(200);
    expect(await counts(start)).toMatchObject({ pending: 2_000 });
  });

  test.each([
    ['which nobody waits for', false],
    ['of which each one is an event that somebody wants', true],
  ])(
    'of mails %s, sent by two workers at once, loses nobody and doubles at most what they had in flight',
    async (_, wanted) => {
      if (wanted) await wantSent();
      const start = await sending(3_000);
      slowly = 10;
      const results = await Promise.all([worker().send(start), worker().send(start)]);
      slowly = 0;
      while ((await worker().send(start)).outcome !== 'done');
      const got = sink.perRecipient();
      expect(got.size).toBe(3_000);
      const doubled = [...got.values()].filter((times) => times > 1).length;
      expect(doubled).toBeLessThanOrEqual(400);
      expect(results.every((result) => result.outcome === 'more' || result.outcome === 'done')).toBe(true);
      expect(await counts(start)).toMatchObject({ sent: 3_000, pending: 0 });
    },
  );

  test('a template fault ends one mail only', async () => {
    const start = await sending(5);
    await sql`UPDATE contents SET body = '{{ n | divided_by: d }}' WHERE project_id = ${projectId}`.execute(
      database.db,
    );
    await sql`UPDATE contacts SET data = data || '{"d": 0}' WHERE project_id = ${projectId}`.execute(database.db);
    const { send } = worker();
    expect((await send(start)).outcome).toBe('done');
    const after = await counts(start);
    expect(after.sent + after.failed).toBe(5);
  });

  test('whose sender is verified no more is skipped', async () => {
    const start = await sending(5);
    await sql`UPDATE domains SET status = 'FAILED' WHERE project_id = ${projectId}`.execute(database.db);
    expect(await worker().send(start)).toMatchObject({ outcome: 'done', sent: 0 });
    expect(await counts(start)).toMatchObject({ skipped: 5 });
    expect(sink.messages).toHaveLength(0);
  });
});

describe('the audience', () => {
  test('of many pages is taken whole, in chunks that do not overlap', async () => {
    const start = await sending(12_000);
    const { rows } = await sql<{ seq: number; first_id: string; last_id: string; size: number }>`
      SELECT seq, first_id, last_id, size FROM campaign_chunks WHERE campaign_id = ${start.campaignId} ORDER BY seq
    `.execute(database.db);
    expect(rows.map((row) => row.size)).toEqual([5_000, 5_000, 2_000]);
    for (const [at, row] of rows.entries()) {
      expect(row.first_id < row.last_id).toBe(true);
      expect(row.first_id > (rows[at - 1]?.last_id ?? '')).toBe(true);
    }
    const { rows: counted } = await sql<{ n: number }>`
      SELECT count(DISTINCT contact_id) AS n FROM emails WHERE campaign_id = ${start.campaignId}`.execute(database.db);
    expect(counted[0]?.n).toBe(12_000);
  });
});
