import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CampaignStart } from '../../db/campaigns/campaigns.ts';
import { findChunkTiming } from '../../db/campaigns/chunk-clock.ts';
import { recordSentEmails, requeueDeferredEmails } from '../../db/campaigns/completions.ts';
import type { Db } from '../../db/connection.ts';
import { inTransaction } from '../../db/transaction.ts';
import { cancelCampaign, pauseCampaign } from '../../engine/campaigns/lifecycle.ts';
import { cancelTerminatedCampaign } from '../../engine/campaigns/lost-campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import {
  buildSendingCampaign,
  type CampaignWorker,
  claimFirstRecipients,
  createCampaignWorker,
} from '../support/campaign-worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let worker: CampaignWorker;

beforeAll(async () => {
  database = await createTestDatabase();
  worker = createCampaignWorker({ db: database.db, smtpUrl: 'smtp://127.0.0.1:1' });
});
afterAll(async () => {
  await worker?.close();
  await database?.drop();
});

/** Starts a campaign to ten recipients. */
async function startCampaign(): Promise<CampaignStart> {
  const projectId = (await buildProject(database.db, 'Claims')).id;
  await buildDomain(database.db, { projectId, domain: 'sender.test', signing: false });
  return buildSendingCampaign(database.db, { projectId, count: 10, worker });
}

/** Claims up to `size` of the first open recipients, and returns the number of claimed recipients. */
async function claimRecipients(db: Db, start: CampaignStart, size: number): Promise<number> {
  const key = (await findChunkTiming(db, { ...start, seq: 1 }))?.key ?? '';
  return claimFirstRecipients(db, start, { size, clock: { key, closesAt: null } });
}

/** Waits until this many transactions wait for the lock that claims share. */
const waitForLockWaiters = (count: number) =>
  until(async () => {
    const { rows } = await sql<{ count: number }>`
        SELECT count(*)::int AS count FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted`.execute(database.db);
    return rows[0]?.count === count || undefined;
  }, `${count} that wait for the lock`);

/** Starts a claim of three recipients. The transaction of the claim stays open until `commit`. */
async function startClaim(start: CampaignStart): Promise<{ commit: () => Promise<void> }> {
  const trx = await database.db.startTransaction().execute();
  expect(await claimRecipients(trx, start, 3)).toBe(3);
  return {
    async commit() {
      await trx.commit().execute();
    },
  };
}

it.each([
  ['a pause', pauseCampaign, 'PAUSED'],
  ['a cancel', cancelCampaign, 'CANCELLED'],
] as const)('%s of a campaign waits for running claims, and later claims wait for it', async (_, change, status) => {
  const start = await startCampaign();
  const ref = { projectId: start.projectId, id: start.campaignId, reason: 'requested' as const };
  const first = await startClaim(start);
  const changed = inTransaction(database.db, (trx) => change(trx, ref));
  await waitForLockWaiters(1);
  const later = claimRecipients(database.db, start, 3);
  await waitForLockWaiters(2);
  await first.commit();
  expect((await changed).campaign.status).toBe(status);
  expect(await later).toBe(0);
});

it('cancelling a campaign whose workflow was terminated in Temporal waits for running claims, and later claims wait for it', async () => {
  const start = await startCampaign();
  const first = await startClaim(start);
  const cancelled = inTransaction(database.db, (trx) => cancelTerminatedCampaign(trx, start));
  await waitForLockWaiters(1);
  const later = claimRecipients(database.db, start, 3);
  await waitForLockWaiters(2);
  await first.commit();
  expect(await cancelled).not.toEqual([]);
  expect(await later).toBe(0);
});

it('a pause of one campaign does not block claims of another', async () => {
  const [one, other] = [await startCampaign(), await startCampaign()];
  await inTransaction(database.db, async (trx) => {
    await pauseCampaign(trx, { projectId: one.projectId, id: one.campaignId, reason: 'requested' });
    expect(await claimRecipients(database.db, other, 10)).toBe(10);
  });
});

it('claims and completions of recipients write to no index', async () => {
  const start = await startCampaign();
  await database.db.transaction().execute(async (trx) => {
    const before = await countUpdates(trx);
    expect(await claimRecipients(trx, start, 10)).toBe(10);
    const [deferred, ...sent] = await listClaimed(trx, start);
    if (!deferred) throw new Error('nothing is claimed');
    expect(await requeueDeferredEmails(trx, [{ ...deferred, error: '451 4.7.1 Later' }])).toBe(1);
    const claims = sent.map((row) => row.claim);
    const columns = { ids: sent.map(({ id }) => id), claims, providerIds: sent.map(() => null) };
    const completed = await recordSentEmails(trx, { ...columns, projectIds: [start.projectId], source: 'smtp' });
    expect(completed.counted).toBe(9);
    const after = await countUpdates(trx);
    expect(after.updates - before.updates).toBe(20);
    expect(after.heapOnly - before.heapOnly).toBe(20);
  });
});

/** Counts this connection's updates of the ledger. Updates of its previous transactions may be included. */
async function countUpdates(trx: Db): Promise<{ updates: number; heapOnly: number }> {
  const { rows } = await sql<{ updates: number; heapOnly: number }>`
    SELECT n_tup_upd::int AS updates, n_tup_hot_upd::int AS "heapOnly" FROM pg_stat_xact_user_tables
    WHERE relname = 'emails'`.execute(trx);
  return rows[0] ?? { updates: 0, heapOnly: 0 };
}

async function listClaimed(db: Db, { campaignId }: CampaignStart): Promise<{ id: string; claim: number }[]> {
  const { rows } = await sql<{ id: string; claim: number }>`
    SELECT id, claim FROM emails WHERE campaign_id = ${campaignId} AND status = 'SENDING' ORDER BY id`.execute(db);
  return rows;
}
