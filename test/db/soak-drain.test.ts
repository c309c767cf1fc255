import { afterAll, beforeAll, expect, it } from 'vitest';
import { countRunning } from '../../bench/soak/drain.ts';
import { CAMPAIGN_STATUSES } from '../../rules/campaigns/campaign.ts';
import { buildContacts, buildStartedCampaign } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

it('the soak waits for campaigns that are SCHEDULED, SENDING or PAUSED, and for no others', async () => {
  const { db } = database;
  const { id: projectId } = await buildProject(db, 'Soak');
  await buildDomain(db, { projectId, domain: 'sender.test', signing: false });
  await buildContacts(db, { projectId, count: 1 });
  const waitsFor: string[] = [];
  for (const status of CAMPAIGN_STATUSES) {
    const { campaignId } = await buildStartedCampaign(db, { projectId });
    await db
      .updateTable('campaigns')
      .set({ status, paused_reason: status === 'PAUSED' ? 'requested' : null })
      .where('id', '=', campaignId)
      .execute();
    if ((await countRunning(db))['campaigns not ended']) waitsFor.push(status);
    await db.deleteFrom('campaigns').where('id', '=', campaignId).execute();
  }
  expect(waitsFor).toEqual(['SCHEDULED', 'SENDING', 'PAUSED']);
});
