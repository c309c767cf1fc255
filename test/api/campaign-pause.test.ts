import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject, startTestApi, type TestApi, type TestProject } from '../support/api.ts';

let api: TestApi;
let project: TestProject;
let domainId: string;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  project = await buildProject(api.db, 'Pause');
  await buildDomain(api.db, { projectId: project.id, domain: 'sender.test' });
  const { rows } = await sql<{ id: string }>`SELECT id FROM domains WHERE project_id = ${project.id}`.execute(api.db);
  domainId = rows[0]?.id ?? '';
  await buildContacts(api.db, { projectId: project.id, count: 2 });
});
afterAll(() => api?.close());

const call = (method: string, path: string, body?: unknown) => api.call(method, path, { key: project.secretKey, body });

async function startCampaign(changes: Record<string, unknown> = {}): Promise<string> {
  const { body } = await call('POST', '/campaigns', createCampaignBody(changes));
  expect((await call('POST', `/campaigns/${body.data.id}/send`, {})).status).toBe(200);
  return body.data.id;
}

describe('pausing a campaign', () => {
  it('accepts an Idempotency-Key, also while recipients are still being counted', async () => {
    const id = await startCampaign();
    await sql`
      INSERT INTO campaign_chunks (campaign_id, seq, project_id, first_id, last_id, size)
      VALUES (${id}, 1, ${project.id}, gen_random_uuid(), gen_random_uuid(), 1)`.execute(api.db);
    for (const [action, status] of [
      ['pause', 'PAUSED'],
      ['resume', 'SENDING'],
    ]) {
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      const response = await api.call('POST', `/campaigns/${id}/${action}`, { key: project.secretKey, headers });
      expect([response.status, response.body.data?.status], JSON.stringify(response.body)).toEqual([200, status]);
    }
  });

  it('changes SENDING to PAUSED, and resuming changes it back; a second pause or resume returns 200 and changes nothing', async () => {
    const id = await startCampaign();
    for (const _ of [1, 2]) {
      const paused = await call('POST', `/campaigns/${id}/pause`);
      expect([paused.status, paused.body.data.status, paused.body.data.pausedReason]).toEqual([
        200,
        'PAUSED',
        'requested',
      ]);
    }
    const { updatedAt } = (await call('GET', `/campaigns/${id}`)).body;
    expect((await call('POST', `/campaigns/${id}/pause`)).body.data.updatedAt).toBe(updatedAt);
    for (const _ of [1, 2]) {
      const resumed = await call('POST', `/campaigns/${id}/resume`);
      expect([resumed.status, resumed.body.data.status, resumed.body.data.pausedReason]).toEqual([
        200,
        'SENDING',
        null,
      ]);
    }
  });

  it.each(['DRAFT', 'SCHEDULED', 'SENT', 'CANCELLED'])(
    'returns 409 in %s, as resuming does, with the status in details',
    async (status) => {
      const { body } = await call('POST', '/campaigns', createCampaignBody());
      await sql`UPDATE campaigns SET status = ${status} WHERE id = ${body.data.id}`.execute(api.db);
      for (const what of ['pause', 'resume']) {
        const response = await call('POST', `/campaigns/${body.data.id}/${what}`);
        expect([response.status, response.body.error.details]).toEqual([409, { status }]);
      }
    },
  );

  it('prevents the deletion of the campaign, its segment and its domain', async () => {
    const segment = await call('POST', '/segments', { name: 'S', type: 'STATIC' });
    await call('POST', `/segments/${segment.body.id}/members`, { emails: ['r0@to.test'] });
    const id = await startCampaign({ audienceType: 'SEGMENT', segmentId: segment.body.id });
    await call('POST', `/campaigns/${id}/pause`);
    const responses = [`/campaigns/${id}`, `/segments/${segment.body.id}`, `/domains/${domainId}`];
    for (const path of responses) expect([path, (await call('DELETE', path)).status]).toEqual([path, 409]);
  });

  it('and then cancelling makes the campaign a DRAFT if no email was attempted, else CANCELLED', async () => {
    const [fresh, tried] = [await startCampaign(), await startCampaign()];
    await sql`
      INSERT INTO emails (project_id, contact_id, content_id, campaign_id, source_type, attempts)
      SELECT ${project.id}, id, uuidv7(), ${tried}, 'CAMPAIGN', 1 FROM contacts WHERE project_id = ${project.id} LIMIT 1`.execute(
      api.db,
    );
    for (const [id, status] of [
      [fresh, 'DRAFT'],
      [tried, 'CANCELLED'],
    ]) {
      await call('POST', `/campaigns/${id}/pause`);
      const cancelled = await call('POST', `/campaigns/${id}/cancel`);
      expect([cancelled.status, cancelled.body.data.status]).toEqual([200, status]);
    }
  });
});
