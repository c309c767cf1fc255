import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CampaignStart } from '../../db/campaigns/campaigns.ts';
import { countCampaignRecipients } from '../../db/campaigns/stats.ts';
import { getRemainingMonthlyQuota, takeMonthlyAllowance } from '../../db/sending/monthly-usage.ts';
import { takeSendTokens } from '../../db/sending/send-rate.ts';
import { inTransaction } from '../../db/transaction.ts';
import { insertEndpoint } from '../../db/webhooks/endpoints.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { buildContacts } from '../build/campaigns.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { buildSendingCampaign, type CampaignWorker, createCampaignWorker } from '../support/campaign-worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { listWithWrongFailureTime } from '../support/failure-times.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let sink: SmtpSink;
let projectId: string;
const workers: CampaignWorker[] = [];
/** The SMTP sink's reply to RCPT. Undefined keeps the sink's default. */
let replyToRcpt: ((to: string) => string | null) | undefined;
let replyPauseMs = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  sink = await startSmtpSink({ replyToRcpt: (to) => replyToRcpt?.(to) ?? null, pauseMs: () => replyPauseMs });
});

beforeEach(async () => {
  replyToRcpt = undefined;
  replyPauseMs = 0;
  sink.reset();
  projectId = (await buildProject(database.db, 'Campaigns')).id;
  await buildDomain(database.db, { projectId, domain: 'sender.test', signing: false });
});

afterEach(async () => {
  expect(await listWithWrongFailureTime(database.db, projectId)).toEqual([]);
});

afterAll(async () => {
  await Promise.all(workers.map((started) => started.close()));
  await sink?.close();
  await database?.drop();
});

function createWorker(url = sink.url): CampaignWorker {
  const started = createCampaignWorker({ db: database.db, smtpUrl: url });
  workers.push(started);
  return started;
}

/** Builds a campaign to `count` contacts, and stores its recipients. */
async function buildSending(count: number): Promise<CampaignStart> {
  return buildSendingCampaign(database.db, { projectId, count, worker: createWorker() });
}

/** Registers a webhook endpoint for `email.sent`, so that the event of each sent email is recorded too. */
function listenToSentEvents() {
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

async function countTransactionsOlderThan(at: Date | undefined): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND xact_start < ${at}`.execute(
    database.db,
  );
  return rows[0]?.n ?? 0;
}

async function countLockWaits(): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(
    database.db,
  );
  return rows[0]?.n ?? 0;
}

function readCounts({ campaignId }: CampaignStart) {
  return countCampaignRecipients(database.db, { projectId, id: campaignId });
}

describe('a chunk of a campaign', () => {
  it('sends no email twice if it is claimed twice, or claimed again after it was sent', async () => {
    const start = await buildSending(300);
    const { take, send, finish } = createWorker();
    expect(await take(start)).toMatchObject({ done: true, recipients: 300 });
    expect(await send(start)).toMatchObject({ outcome: 'done', sent: 300 });
    expect(await send(start)).toMatchObject({ outcome: 'done', sent: 0 });
    expect(sink.messages).toHaveLength(300);
    expect(await finish(start)).toEqual({ outcome: 'sent' });
  });

  it("keeps a deferred email PENDING with the server's reply, and sends it in the next turn", async () => {
    const start = await buildSending(10);
    replyToRcpt = (to) => (to.startsWith('r3@') ? '450 4.2.1 not now' : null);
    const { send, finish } = createWorker();
    const first = await send(start);
    expect(first).toMatchObject({ outcome: 'deferred', sent: 9 });
    expect(first.retryAfterMs).toBeGreaterThanOrEqual(30_000);
    expect(first.retryAfterMs).toBeLessThanOrEqual(60_000);
    expect(await readCounts(start)).toMatchObject({ sent: 9, pending: 1 });
    expect(await finish(start)).toEqual({ outcome: 'open', openChunks: [1] });
    const { rows } =
      await sql`SELECT error, attempts FROM emails WHERE project_id = ${projectId} AND status = 'PENDING'`.execute(
        database.db,
      );
    expect(rows).toEqual([{ error: '450 4.2.1 not now', attempts: 1 }]);
    replyToRcpt = undefined;
    expect(await send(start)).toMatchObject({ outcome: 'done', sent: 1 });
    expect(await readCounts(start)).toMatchObject({ sent: 10, pending: 0 });
  });

  it('records a recipient that was deferred for a day as FAILED with the reason expired', async () => {
    const start = await buildSending(3);
    replyToRcpt = () => '450 4.2.1 not now';
    const { send, expire, finish } = createWorker();
    await send(start);
    expect(await expire(start)).toMatchObject({ outcome: 'done' });
    expect(await readCounts(start)).toMatchObject({ failed: 3, pending: 0, skipped: 0 });
    expect(await finish(start)).toEqual({ outcome: 'sent' });
  });

  it('sends to an old recipient that was never deferred, and does not record it as expired', async () => {
    const start = await buildSending(500);
    const away = createWorker('smtp://127.0.0.1:1');
    await away.send(start);
    const { rows } = await sql<{ n: number }>`
      SELECT count(*) AS n FROM emails WHERE project_id = ${projectId} AND error IS NOT NULL`.execute(database.db);
    const refused = rows[0]?.n ?? 0;
    expect(refused).toBeLessThan(300);
    const { expire, send } = createWorker();
    expect(await expire(start)).toMatchObject({ outcome: 'more', fresh: true });
    expect(await readCounts(start)).toMatchObject({ failed: refused, pending: 500 - refused });
    expect(await send(start)).toMatchObject({ outcome: 'done', sent: 500 - refused });
  });

  it('records no recipient as expired while the project is on hold', async () => {
    const start = await buildSending(3);
    replyToRcpt = () => '450 4.2.1 not now';
    const { send, expire } = createWorker();
    await send(start);
    await sql`UPDATE projects SET held_at = now() WHERE id = ${projectId}`.execute(database.db);
    expect(await expire(start)).toMatchObject({ outcome: 'held', fresh: true });
    expect(await readCounts(start)).toMatchObject({ failed: 0, pending: 3 });
    replyToRcpt = undefined;
    await sql`UPDATE projects SET held_at = NULL WHERE id = ${projectId}`.execute(database.db);
    expect(await send(start)).toMatchObject({ outcome: 'done', sent: 3 });
  });

  it('reports the position at which a turn ended early; the next turn continues there before it retries deferred emails', async () => {
    const start = await buildSending(2_000);
    replyPauseMs = 10;
    replyToRcpt = (to) => (to.startsWith('r3@') ? '450 4.2.1 not now' : null);
    const ending = createWorker();
    const turn = ending.send(start);
    await until(async () => sink.messages.length > 0);
    ending.stop();
    const { outcome, sent, from, putOff } = await turn;
    expect(outcome).toBe('more');
    expect(sent).toBeLessThan(2_000);
    replyPauseMs = 0;
    const second = await createWorker().send(start, 1, { from, putOff });
    expect(second).toMatchObject({ outcome: 'deferred', sent: 1_999 - sent });
    const { rows } = await sql`SELECT FROM emails WHERE project_id = ${projectId} AND attempts > 1`.execute(
      database.db,
    );
    expect(rows).toHaveLength(0);
    replyToRcpt = undefined;
    expect(await createWorker().send(start)).toMatchObject({ outcome: 'done', sent: 1 });
    expect(sink.messages).toHaveLength(2_000);
  });

  it('claims no more recipients when its worker stops, and releases emails that are not on the wire', async () => {
    const start = await buildSending(3_000);
    replyPauseMs = 20;
    const ending = createWorker();
    const turn = ending.send(start);
    await until(async () => sink.messages.length > 0);
    ending.stop();
    const { sent } = await turn;
    expect(sent).toBe(sink.messages.length);
    const { rows } = await sql<{ n: number }>`
      SELECT count(*) AS n FROM emails WHERE project_id = ${projectId} AND attempts > 0`.execute(database.db);
    expect(rows[0]?.n).toBe(sent);
    expect(await ending.send(start)).toMatchObject({ outcome: 'more', sent: 0 });
    replyPauseMs = 0;
    expect(await createWorker().send(start)).toMatchObject({ outcome: 'done', sent: 3_000 - sent });
    expect(sink.messages).toHaveLength(3_000);
  });

  it('makes few attempts, not one for each recipient, if the provider is unreachable', async () => {
    const start = await buildSending(2_000);
    const { send } = createWorker('smtp://127.0.0.1:1');
    expect(await send(start)).toMatchObject({ outcome: 'deferred', sent: 0 });
    const { rows } = await sql<{ n: number }>`
      SELECT count(*) AS n FROM emails WHERE project_id = ${projectId} AND attempts > 0`.execute(database.db);
    expect(rows[0]?.n).toBeLessThanOrEqual(200);
    expect(await readCounts(start)).toMatchObject({ pending: 2_000 });
  });

  it.each([
    ['whose events have no listener', false],
    ['whose events have a listener', true],
  ])(
    'with emails %s, sent by two concurrent workers, loses no email and repeats at most the emails in flight',
    async (_, wanted) => {
      if (wanted) await listenToSentEvents();
      const start = await buildSending(3_000);
      replyPauseMs = 10;
      const results = await Promise.all([createWorker().send(start), createWorker().send(start)]);
      replyPauseMs = 0;
      while ((await createWorker().send(start)).outcome !== 'done');
      const got = sink.perRecipient();
      expect(got.size).toBe(3_000);
      const doubled = [...got.values()].filter((times) => times > 1).length;
      expect(doubled).toBeLessThanOrEqual(400);
      expect(results.every((result) => result.outcome === 'more' || result.outcome === 'done')).toBe(true);
      expect(await readCounts(start)).toMatchObject({ sent: 3_000, pending: 0 });
    },
  );

  it('reports each email that is recorded after a listener subscribes in the middle of a turn', async () => {
    const start = await buildSending(3_000);
    replyPauseMs = 20;
    const turn = createWorker().send(start);
    await until(async () => (await readCounts(start)).sent > 0);
    await listenToSentEvents();
    // The added listener gets no emails whose result is being recorded while the listener is added.
    const { rows: now } = await sql<{ at: Date }>`SELECT clock_timestamp() AS at`.execute(database.db);
    await until(async () => (await countTransactionsOlderThan(now[0]?.at)) === 0);
    const { rows: before } = await sql<{ n: number }>`
      SELECT count(*) AS n FROM emails WHERE campaign_id = ${start.campaignId} AND sent_at IS NOT NULL`.execute(
      database.db,
    );
    replyPauseMs = 0;
    expect(await turn).toMatchObject({ outcome: 'done', sent: 3_000 });
    const { rows: told } = await sql<{ n: number }>`
      SELECT count(*) AS n FROM webhook_deliveries WHERE project_id = ${projectId}`.execute(database.db);
    expect(told[0]?.n).toBeGreaterThanOrEqual(3_000 - (before[0]?.n ?? 0));
    expect(await readCounts(start)).toMatchObject({ sent: 3_000, pending: 0 });
    expect(sink.messages).toHaveLength(3_000);
  });

  it('is done although its emails have a template error', async () => {
    const start = await buildSending(5);
    await sql`UPDATE contents SET body = '{{ n | divided_by: d }}' WHERE project_id = ${projectId}`.execute(
      database.db,
    );
    await sql`UPDATE contacts SET data = data || '{"d": 0}' WHERE project_id = ${projectId}`.execute(database.db);
    const { send } = createWorker();
    expect((await send(start)).outcome).toBe('done');
    const after = await readCounts(start);
    expect(after.sent + after.failed).toBe(5);
  });

  it('skips an email whose sender is no longer verified', async () => {
    const start = await buildSending(5);
    await sql`UPDATE domains SET status = 'FAILED' WHERE project_id = ${projectId}`.execute(database.db);
    expect(await createWorker().send(start)).toMatchObject({ outcome: 'done', sent: 0 });
    expect(await readCounts(start)).toMatchObject({ skipped: 5 });
    expect(sink.messages).toHaveLength(0);
  });
});

describe('the send rate of a project', () => {
  const setSendRate = (rate: number | null) =>
    sql`UPDATE projects SET send_rate_per_second = ${rate} WHERE id = ${projectId}`.execute(database.db);
  const takeTokensForSingleEmails = () =>
    takeSendTokens(database.db, { projectId, n: 1_000, ratePerSecond: 10, order: 'single' });
  const readBucket = () =>
    database.db.selectFrom('send_buckets').selectAll().where('project_id', '=', projectId).executeTakeFirstOrThrow();

  it('ends a campaign’s turn when no token is available, without attempting, deferring or counting an email', async () => {
    const start = await buildSending(5);
    await setSendRate(10);
    await takeTokensForSingleEmails();
    const before = await readBucket();
    const result = await createWorker().send(start);
    expect(result).toMatchObject({ outcome: 'paced', sent: 0, rate: 10 });
    expect(result.retryAfterMs).toBeGreaterThan(0);
    expect((await readBucket()).tokens).toBeGreaterThanOrEqual(before.tokens);
    const { rows } = await sql`SELECT FROM emails WHERE project_id = ${projectId} AND attempts > 0`.execute(
      database.db,
    );
    expect(rows).toHaveLength(0);
  });

  it('makes a chunk return if the rate was set or removed after the chunk was assigned', async () => {
    const start = await buildSending(5);
    await setSendRate(10);
    expect(await createWorker().send(start, 1, { paced: false })).toMatchObject({ outcome: 'more', sent: 0, rate: 10 });
    await setSendRate(null);
    expect(await createWorker().send(start, 1, { paced: true })).toMatchObject({ outcome: 'more', sent: 0, rate: 0 });
    expect(sink.messages).toHaveLength(0);
  });

  it('takes tokens for sent emails, not for skipped recipients', async () => {
    const start = await buildSending(20);
    await setSendRate(1_000);
    await sql`
      UPDATE contacts SET subscribed = false WHERE project_id = ${projectId} AND (data->>'n')::int % 2 = 0`.execute(
      database.db,
    );
    await database.db
      .insertInto('send_buckets')
      .values({ project_id: projectId, tokens: 200, refilled_at: new Date(Date.now() + 3_600_000) })
      .execute();
    expect(await createWorker().send(start)).toMatchObject({ outcome: 'done', sent: 10 });
    expect((await readBucket()).tokens).toBe(190);
  });
});

describe('storing the recipients of a campaign', () => {
  it('does not block sends that count toward the monthly limit', async () => {
    await sql`UPDATE projects SET monthly_email_limit = 100 WHERE id = ${projectId}`.execute(database.db);
    const start = await buildSending(10);
    const audience = { projectId, count: 30, localPart: 'more' };
    await buildContacts(database.db, audience);
    await sql`
      UPDATE campaigns SET audience_done = false, audience_cursor = NULL WHERE id = ${start.campaignId}`.execute(
      database.db,
    );
    const { rows } = await sql<{ id: string }>`
      SELECT id FROM contacts WHERE project_id = ${projectId} ORDER BY id DESC LIMIT 1`.execute(database.db);
    const insertion = await database.db.transaction().execute(async (trx) => {
      // The lock of this transaction prevents the page from being written until the transaction ends.
      await sql`
        INSERT INTO emails (project_id, contact_id, campaign_id, content_id, source_type, mode)
        VALUES (${projectId}, ${rows[0]?.id}, ${start.campaignId}, gen_random_uuid(), 'CAMPAIGN', 'live')`.execute(trx);
      const page = createWorker().take(start);
      await until(async () => (await countLockWaits()) > 0);
      const send = database.db.transaction().execute(async (other) => {
        await sql`SET LOCAL lock_timeout = '5s'`.execute(other);
        return takeMonthlyAllowance(other, { projectId, n: 1, limit: 100 });
      });
      expect(await send).toBe(true);
      await sql`DELETE FROM emails WHERE campaign_id = ${start.campaignId} AND contact_id = ${rows[0]?.id}`.execute(
        trx,
      );
      return { page };
    });
    expect(await insertion.page).toMatchObject({ outcome: 'taken', done: true, recipients: 40 });
    expect(await getRemainingMonthlyQuota(database.db, { projectId, limit: 100 })).toBe(59);
  });

  it('uses pages that grow, so the first page is sent at once and several workers share a small campaign', async () => {
    const start = await buildSending(10);
    await sql`
      UPDATE campaigns SET audience_done = false, audience_cursor = NULL WHERE id = ${start.campaignId}`.execute(
      database.db,
    );
    await sql`DELETE FROM emails WHERE campaign_id = ${start.campaignId}`.execute(database.db);
    await sql`DELETE FROM campaign_chunks WHERE campaign_id = ${start.campaignId}`.execute(database.db);
    await buildContacts(database.db, { projectId, count: 7_000, localPart: 'more' });
    const { take } = createWorker();
    expect(await take(start, 0)).toMatchObject({ done: false, recipients: 500, lastSeq: 1, sendNow: true });
    expect(await take(start, 1)).toMatchObject({ done: false, recipients: 1_000, lastSeq: 2, sendNow: true });
    expect(await take(start, 2)).toMatchObject({ done: false, recipients: 2_000, lastSeq: 4, sendNow: true });
    expect(await take(start, 3)).toMatchObject({ done: false, recipients: 6_000, lastSeq: 8, sendNow: true });
    expect(await take(start, 4)).toMatchObject({ done: true, recipients: 7_010, lastSeq: 9, sendNow: true });
  });

  it('does not change a recipient that is already in the ledger', async () => {
    const start = await buildSending(10);
    await sql`
      UPDATE campaigns SET audience_done = false, audience_cursor = NULL WHERE id = ${start.campaignId}`.execute(
      database.db,
    );
    await buildContacts(database.db, { projectId, count: 5, localPart: 'more' });
    expect(await createWorker().take(start)).toMatchObject({ done: true, recipients: 15, lastSeq: 2 });
    expect(await readCounts(start)).toMatchObject({ total: 15, pending: 15 });
  });

  it('stores every recipient over many pages, in chunks that do not overlap', async () => {
    const start = await buildSending(12_000);
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
