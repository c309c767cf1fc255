import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RECOVERY, type RecoveryDeps } from '../../activities/recovery/recovery.ts';
import { NEW_CAMPAIGN } from '../../rules/campaigns/campaign.ts';
import type { RunHistory } from '../../temporal/run-histories.ts';
import { buildContacts, buildStartedCampaign } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let projectId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database;
  projectId = (await buildProject(db, 'Recovered')).id;
  await buildDomain(db, { projectId, domain: 'sender.test', signing: false });
  await buildContacts(db, { projectId, count: 1 });
});
afterAll(() => database?.drop());

/** Builds a campaign that sends, and recovers it. Returns its status, its reason for a pause, and its outbox rows. */
async function recover(run: { status: string; history: RunHistory }) {
  const { db } = database;
  const { campaignId } = await buildStartedCampaign(db, { projectId });
  await db.updateTable('campaigns').set({ status: 'SENDING' }).where('id', '=', campaignId).execute();
  await db.deleteFrom('outbox').execute();
  const deps = {
    db,
    outbox: { wake: () => {} },
    lifecycle: {
      names: { campaign: (id: string) => id },
      runs: {
        findLast: async () => new Map([[campaignId, { status: run.status, runId: 'run' }]]),
        readRunHistory: async () => run.history,
      },
    },
    log: pino({ level: 'silent' }),
  } as unknown as RecoveryDeps;
  await RECOVERY.campaigns(deps, { cursor: null, messagesSince: new Date(), settledMs: 0, mayContinue: () => true });
  const { status, paused_reason: reason } = await db
    .selectFrom('campaigns')
    .select(['status', 'paused_reason'])
    .where('id', '=', campaignId)
    .executeTakeFirstOrThrow();
  const queued = await db.selectFrom('outbox').select(['kind', 'ref_id']).execute();
  await db.deleteFrom('campaigns').where('id', '=', campaignId).execute();
  expect(queued).toEqual([{ kind: 'campaign.start', ref_id: campaignId }]);
  return { status, reason };
}

const SENT_CHUNK = { type: 'sendCampaignChunk', input: {}, result: { outcome: 'done', sent: 1 } };
const createHistory = (changes: Partial<RunHistory> = {}): RunHistory => ({
  done: [SENT_CHUNK],
  failureType: undefined,
  args: [{}],
  ...changes,
});

it.each([
  ['completed', 'COMPLETED', {}],
  [
    'completed, and had sent in an earlier run',
    'COMPLETED',
    { done: [], args: [{ state: { ...NEW_CAMPAIGN, nextSeq: 3 } }] },
  ],
  ['failed, because a row was missing', 'FAILED', { failureType: 'ROW_MISSING' }],
  ['failed, because the campaign was open again', 'FAILED', { failureType: 'CAMPAIGN_OPEN' }],
])('a campaign is paused as restored if its workflow had sent emails and %s', async (_, status, changes) => {
  const found = await recover({ status, history: createHistory(changes) });
  expect(found).toEqual({ status: 'PAUSED', reason: 'database_restored' });
});

it.each([
  ['completed without an email', 'COMPLETED', { done: [], args: [{ state: NEW_CAMPAIGN }] }],
  ['failed without a code', 'FAILED', {}],
  ['failed with the code of another failure', 'FAILED', { failureType: 'COMPUTE_BUDGET' }],
  ['timed out', 'TIMED_OUT', {}],
])('a campaign continues without a pause if its workflow %s', async (_, status, changes) => {
  const found = await recover({ status, history: createHistory(changes) });
  expect(found).toEqual({ status: 'SENDING', reason: null });
});
