import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deleteCampaign } from '../../db/campaigns/campaigns.ts';
import { endChunkTurn, startChunkTurn } from '../../db/campaigns/chunk-turns.ts';
import { listRecipients } from '../../db/campaigns/recipients.ts';
import { deleteStaleFigures } from '../../db/campaigns/stale-figures.ts';
import { countCampaignRecipients, readStats } from '../../db/campaigns/stats.ts';
import { listEmailsOfAnyProject } from '../../db/emails/emails.ts';
import { inTransaction } from '../../db/transaction.ts';
import { retryRecipients } from '../../engine/campaigns/retry.ts';
import { deleteContacts } from '../../engine/contacts/delete-contacts.ts';
import { recordFeedback } from '../../engine/feedback/email-feedback.ts';
import { recordEngagements } from '../../engine/feedback/engagements.ts';
import type { RecipientOutcome } from '../../rules/campaigns/outcomes.ts';
import { buildSentCampaign } from '../build/recipients.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());
beforeEach(async () => {
  projectId = (await buildProject(database.db, 'Figures')).id;
});

const STATUSES = `CASE n % 10 WHEN 0 THEN 'FAILED' ELSE 'SENT' END`;
const REASONS = `CASE n % 10 WHEN 0 THEN 'provider_rejected' END`;

/** Builds 12 recipients in three chunks of four. The first and the eleventh recipient have failed. */
async function buildCampaign(): Promise<{ id: string; emailIds: string[] }> {
  const { db } = database;
  const id = await buildSentCampaign(db, { projectId, count: 12, status: STATUSES, reason: REASONS });
  await sql`DELETE FROM campaign_chunks WHERE campaign_id = ${id}`.execute(db);
  await sql`
    INSERT INTO campaign_chunks (campaign_id, seq, project_id, first_id, last_id, size, done_at)
    SELECT ${id}, n + 1, ${projectId}, (array_agg(id ORDER BY id))[1], (array_agg(id ORDER BY id DESC))[1], count(*), now()
    FROM (SELECT id, (row_number() OVER (ORDER BY id) - 1) / 4 AS n FROM emails WHERE campaign_id = ${id}) e GROUP BY n`.execute(
    db,
  );
  const { rows } = await sql<{ id: string }>`SELECT id FROM emails WHERE campaign_id = ${id} ORDER BY id`.execute(db);
  return { id, emailIds: rows.map((row) => row.id) };
}

const readCounts = (id: string) => countCampaignRecipients(database.db, { projectId, id });
const readAllStats = async (id: string) => {
  const { detail, counts } = await readStats(database.db, { projectId, id, startedAt: new Date() });
  return { ...counts, ...detail };
};
/** Returns the numbers of the chunks with stored statistics. */
async function listStoredChunks(id: string): Promise<number[]> {
  const { rows } = await sql<{ seq: number }>`
    SELECT seq FROM campaign_chunks WHERE campaign_id = ${id} AND figures IS NOT NULL ORDER BY seq`.execute(
    database.db,
  );
  return rows.map(({ seq }) => seq);
}
async function countTouches(): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM campaign_touches`.execute(database.db);
  return rows[0]?.n ?? 0;
}
const recordEmailFeedback = (emailId: string, kind: 'delivery' | 'complaint') =>
  inTransaction(database.db, (trx) =>
    recordFeedback(trx, {
      emailId,
      feedback: { kind, at: new Date() },
      suppressionKey: Buffer.alloc(32),
      source: 'ses',
    }),
  );

async function recordOpen(emailId: string, p: { machine: boolean }): Promise<void> {
  const [email] = await listEmailsOfAnyProject(database.db, [emailId]);
  if (!email) throw new Error('no mail');
  const none = { opens: 0, openedAt: null, clicks: 0, clickedAt: null, link: null, machineOpens: 0, machineClicks: 0 };
  const of = p.machine ? { machineOpens: 1 } : { opens: 1, openedAt: new Date() };
  const engagements = [{ ...none, ...of, email }];
  await inTransaction(database.db, (trx) => recordEngagements(trx, { projectId, engagements }));
}

describe('the statistics of a campaign', () => {
  it('are stored with the campaign’s chunks, and are the same when they are read again', async () => {
    const { id } = await buildCampaign();
    expect(await listStoredChunks(id)).toEqual([]);
    const first = await readAllStats(id);
    expect(first).toMatchObject({ total: 12, pending: 0, sent: 10, failed: 2, byReason: { provider_rejected: 2 } });
    expect(first.series[0]).toMatchObject({ sent: 10, opened: 0 });
    expect(await listStoredChunks(id)).toEqual([1, 2, 3]);
    expect(await readAllStats(id)).toEqual(first);
  });

  it('agree with the list of recipients for every outcome', async () => {
    const { id, emailIds } = await buildCampaign();
    await recordOpen(emailIds[1] ?? '', { machine: false });
    await recordEmailFeedback(emailIds[1] ?? '', 'complaint');
    await sql`UPDATE emails SET status = 'FAILED', reason = 'unsubscribed', sent_at = NULL WHERE id = ${emailIds[2]}`.execute(
      database.db,
    );
    await sql`UPDATE emails SET status = 'BOUNCED', reason = 'bounced:policy', bounced_at = now() WHERE id = ${emailIds[3]}`.execute(
      database.db,
    );
    const { total, ...named } = await readCounts(id);
    expect(named).toMatchObject({ sent: 9, failed: 2, skipped: 1, opened: 1, complained: 1, bounced: 1, pending: 0 });
    for (const [outcome, n] of Object.entries(named)) {
      const page = { limit: 50, cursor: undefined };
      const found = await listRecipients(database.db, { projectId, id, outcome: outcome as RecipientOutcome, ...page });
      expect([outcome, found.items.length, found.total]).toEqual([outcome, n, n]);
    }
    expect(total).toBe(12);
  });

  it('include feedback immediately, and store it', async () => {
    const { id, emailIds } = await buildCampaign();
    await readCounts(id);
    await recordOpen(emailIds[1] ?? '', { machine: false });
    await recordOpen(emailIds[1] ?? '', { machine: false });
    await recordOpen(emailIds[5] ?? '', { machine: true });
    await recordEmailFeedback(emailIds[2] ?? '', 'delivery');
    await recordEmailFeedback(emailIds[9] ?? '', 'complaint');
    const found = { opened: 1, delivered: 1, complained: 1, machineOpens: 1, sent: 10, total: 12 };
    const first = await readAllStats(id);
    expect(first).toMatchObject(found);
    expect(first.series[0]).toMatchObject({ opened: 1, delivered: 1 });
    expect([await listStoredChunks(id), await countTouches()]).toEqual([[1, 2, 3], 0]);
    expect(await readAllStats(id)).toEqual(first);
  });

  it('count automated opens by hour during the first three days, and are deleted with the campaign', async () => {
    const { id, emailIds } = await buildCampaign();
    const { db } = database;
    const setStartedAgo = (ago: string) =>
      sql`UPDATE campaigns SET started_at = now() - ${ago}::interval WHERE id = ${id}`.execute(db);
    const other = await buildCampaign();
    await setStartedAgo('80 hours');
    await recordOpen(emailIds[1] ?? '', { machine: true });
    expect((await readAllStats(id)).machineSeries[0]).toMatchObject({ opens: 0, clicks: 0 });
    await setStartedAgo('0 hours');
    await recordOpen(emailIds[1] ?? '', { machine: true });
    await recordOpen(emailIds[5] ?? '', { machine: true });
    await recordOpen(emailIds[5] ?? '', { machine: false });
    const { machineSeries, series, machineOpens } = await readAllStats(id);
    expect(machineOpens).toBe(3);
    expect(machineSeries.map(({ at }) => at)).toEqual(series.map(({ at }) => at));
    // A new hour may have started since.
    const [first, second] = machineSeries;
    expect([(first?.opens ?? 0) + (second?.opens ?? 0), first?.clicks]).toEqual([2, 0]);
    expect((await readAllStats(other.id)).machineSeries[0]).toMatchObject({ opens: 0 });
    await inTransaction(db, (trx) => deleteCampaign(trx, { projectId, id }));
    const { rows } = await sql`SELECT FROM campaign_machine_hours WHERE campaign_id = ${id}`.execute(db);
    expect(rows).toEqual([]);
  });

  it('are counted again while a turn sends a chunk, and after the turn', async () => {
    const { id, emailIds } = await buildCampaign();
    const { db } = database;
    await sql`UPDATE campaign_chunks SET done_at = NULL WHERE campaign_id = ${id} AND seq = 2`.execute(db);
    await sql`UPDATE campaigns SET status = 'SENDING', sent_at = NULL WHERE id = ${id}`.execute(db);
    const waiting = emailIds.slice(4, 8);
    const setStatus = (status: string) =>
      sql`UPDATE emails SET status = ${status}, sent_at = CASE WHEN ${status} = 'SENT' THEN now() END WHERE id = ANY(${waiting}::uuid[])`.execute(
        db,
      );
    await setStatus('PENDING');
    expect(await readCounts(id)).toMatchObject({ total: 12, pending: 4, sent: 6, failed: 2 });
    // The chunk with pending emails waits for its turn, so its statistics are stored too.
    expect(await listStoredChunks(id)).toEqual([1, 2, 3]);
    const chunk = { projectId, campaignId: id, seq: 2 };
    await startChunkTurn(db, chunk);
    await setStatus('SENT');
    expect(await readCounts(id)).toMatchObject({ pending: 0, sent: 10 });
    expect(await listStoredChunks(id)).toEqual([1, 3]);
    await endChunkTurn(db, chunk);
    expect(await readCounts(id)).toMatchObject({ pending: 0, sent: 10 });
    expect(await listStoredChunks(id)).toEqual([1, 2, 3]);
  });

  it('are correct if the campaign is cancelled with remaining recipients, and if some recipients are retried', async () => {
    const { id } = await buildCampaign();
    const { db } = database;
    await buildDomain(db, { projectId, domain: 'sender.test' });
    await readCounts(id);
    const again = { projectId, id, reasons: ['provider_rejected' as const] };
    expect((await inTransaction(db, (trx) => retryRecipients(trx, again))).requeued).toBe(2);
    expect(await readCounts(id)).toMatchObject({ pending: 2, sent: 10, failed: 0 });
    await sql`UPDATE campaigns SET status = 'CANCELLED', cancelled_at = now() WHERE id = ${id}`.execute(db);
    await sql`UPDATE emails SET status = 'FAILED', reason = 'cancelled' WHERE campaign_id = ${id} AND status = 'PENDING'`.execute(
      db,
    );
    expect(await readCounts(id)).toMatchObject({ pending: 0, sent: 10, skipped: 2 });
  });

  it('include a contact that is deleted while its email waits', async () => {
    const { id, emailIds } = await buildCampaign();
    const { db } = database;
    await sql`UPDATE campaign_chunks SET done_at = NULL WHERE campaign_id = ${id}`.execute(db);
    await sql`UPDATE campaigns SET status = 'SENDING', sent_at = NULL WHERE id = ${id}`.execute(db);
    await sql`UPDATE emails SET status = 'PENDING', sent_at = NULL WHERE id = ${emailIds[1]}`.execute(db);
    expect(await readCounts(id)).toMatchObject({ pending: 1, skipped: 0 });
    const { rows } = await sql<{ id: string }>`SELECT contact_id AS id FROM emails WHERE id = ${emailIds[1]}`.execute(
      db,
    );
    const ids = rows.map((row) => row.id);
    await inTransaction(db, (trx) => deleteContacts(trx, { projectId, ids, suppressionKey: Buffer.alloc(32) }));
    expect(await readCounts(id)).toMatchObject({ pending: 0, skipped: 1 });
  });

  it('are deleted for chunks that have changed and were not read since the change', async () => {
    const { id, emailIds } = await buildCampaign();
    await readCounts(id);
    await recordOpen(emailIds[0] ?? '', { machine: true });
    await recordOpen(emailIds[8] ?? '', { machine: false });
    await deleteStaleFigures(database.db);
    expect([await listStoredChunks(id), await countTouches()]).toEqual([[2], 0]);
    expect(await readCounts(id)).toMatchObject({ opened: 1, total: 12 });
  });

  it('are correct for many concurrent readers while feedback arrives', async () => {
    const { id, emailIds } = await buildCampaign();
    const sent = emailIds.filter((_, n) => n % 10 !== 0);
    const reading = Promise.all(Array.from({ length: 20 }, () => readCounts(id)));
    for (const email of sent) await recordEmailFeedback(email, 'delivery');
    for (const found of await reading) expect(found).toMatchObject({ total: 12, sent: 10, failed: 2 });
    expect(await readCounts(id)).toMatchObject({ delivered: 10 });
    expect(await readCounts(id)).toMatchObject({ delivered: 10 });
  });
});
