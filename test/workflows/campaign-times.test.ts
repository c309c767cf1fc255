import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS, readLocalTime, toInstant, toWallTime, writeLocalTime } from '../../rules/time/local-time.ts';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { expectOk } from '../build/workflows.ts';
import { buildProject } from '../support/api.ts';
import { useCampaignService } from '../support/campaign-service.ts';
import { signIn } from '../support/session.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;
const campaigns = useCampaignService();
const { call, create, send, read, waitForStatus, countOutcomes } = campaigns;

let owner: Record<string, string>;
beforeEach(async () => {
  const { db } = campaigns.service;
  owner = await signIn({ db, deps: { config: { publicUrl: 'http://127.0.0.1' } } }, campaigns.project);
});
const patchProject = (body: object) =>
  campaigns.service.call('PATCH', '/project', { key: null, headers: owner, body: { ...body } });

/** Returns a sending window in UTC that opens this number of hours from now, for one hour. */
function createWindowIn(hours: number) {
  const at = (ms: number) => new Date(Date.now() + ms).toISOString().slice(11, 16);
  return { from: at(hours * HOUR_MS), to: at((hours + 1) * HOUR_MS), timezone: 'UTC' };
}

/** Builds `n` contacts in a time zone. Their addresses contain `name`. */
function buildContactsInZone(name: string, timezone: unknown, count = 2) {
  const data = { firstName: 'Ada', ...(timezone !== undefined && { timezone }) };
  return buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count, localPart: name, data });
}

/**
 * Returns the recipients in the sink by the name given to `people`. Recipients of `timer` are omitted, because another
 * test sends to them at the same time.
 */
const listReachedNames = () => {
  const names = [...campaigns.sink.perRecipient().keys()].map((to) => to.replace(/\d.*/, ''));
  return [...new Set(names)].filter((name) => name !== 'timer').sort();
};

/** Waits until the campaign has only waiting recipients, and returns the campaign. */
function waitForPending(id: string, pendingCount: number) {
  return until(async () => {
    const campaign = await read(id);
    return campaign.pendingCount === pendingCount && campaign.nextOpening ? campaign : undefined;
  }, `${pendingCount} recipients to wait`);
}

describe("a campaign at the recipients' local time", () => {
  it("is sent in each recipient's time zone, and immediately to recipients whose hour has passed", async () => {
    const local = writeLocalTime(toWallTime('Asia/Kathmandu', Date.now() - 60_000));
    await buildContactsInZone('now', 'Asia/Kathmandu');
    await buildContactsInZone('late', 'Asia/Tokyo');
    await buildContactsInZone('later', 'america/new_york');
    await buildContactsInZone('project', undefined);
    await buildContactsInZone('nonsense', 'Mars/Olympus');
    await buildContactsInZone('number', 5);
    await patchProject({ timezone: 'Pacific/Honolulu' });
    const id = await create({ sendAtLocal: local });
    await send(id);
    const campaign = await waitForPending(id, 8);
    const at = (zone: string) => new Date(toInstant(zone, readLocalTime(local) ?? 0)).toISOString();
    expect(campaign).toMatchObject({ status: 'SENDING', sendAtLocal: local, latePolicy: 'SEND', scheduledFor: null });
    expect(campaign).toMatchObject({ sentCount: 4, nextOpening: at('America/New_York') });
    expect(listReachedNames()).toEqual(['late', 'now']);
    const { rows } = await sql<{ zone: string; at: Date }>`
      SELECT zone, not_before AS at FROM campaign_chunks WHERE campaign_id = ${id} AND done_at IS NULL ORDER BY not_before
    `.execute(campaigns.service.db);
    expect(rows).toEqual([
      { zone: 'America/New_York', at: new Date(at('America/New_York')) },
      { zone: null, at: new Date(at('Pacific/Honolulu')) },
    ]);
    // Contacts without a time zone use the current time zone of the project.
    expect((await patchProject({ timezone: 'Asia/Kathmandu' })).status).toBe(200);
    await waitForPending(id, 2);
    expect(listReachedNames()).toEqual(['late', 'nonsense', 'now', 'number', 'project']);
    await call('POST', `/campaigns/${id}/cancel`);
    expect(await waitForStatus(id, 'CANCELLED')).toMatchObject({ nextOpening: null });
  });

  it('skips recipients whose hour has passed if it is set so, after a grace period of 15 minutes', async () => {
    await buildContactsInZone('ontime', 'Asia/Kathmandu');
    await buildContactsInZone('late', 'Asia/Tokyo', 3);
    // Local times are in whole minutes, so this time is between 13 and 14 minutes ago.
    const sendAtLocal = writeLocalTime(toWallTime('Asia/Kathmandu', Date.now() - 13 * 60_000));
    const id = await create();
    await send(id, { sendAtLocal, latePolicy: 'SKIP' });
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 2, skippedCount: 3, latePolicy: 'SKIP' });
    expect(await countOutcomes(id)).toEqual({ SENT: 2, 'FAILED too_late': 3 });
  });

  it('skips nobody because of an outage between the request to send and the start', async () => {
    await buildContactsInZone('ontime', 'Asia/Kathmandu');
    const id = await create();
    await campaigns.service.stopWorker();
    await send(id, {
      sendAtLocal: writeLocalTime(toWallTime('Asia/Kathmandu', Date.now() - 20 * 60_000)),
      latePolicy: 'SKIP',
    });
    await sql`UPDATE campaigns SET started_at = now() - interval '25 minutes' WHERE id = ${id}`.execute(
      campaigns.service.db,
    );
    await campaigns.service.startWorker();
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 2, skippedCount: 0 });
  });

  it('is SCHEDULED until the first time zone reaches the hour, and can be rescheduled', async () => {
    await buildContactsInZone('any', 'Europe/Berlin');
    const sendAtLocal = writeLocalTime(Date.now() + 3 * DAY_MS);
    const id = await create({ sendAtLocal });
    await send(id);
    const first = (readLocalTime(sendAtLocal) ?? 0) - 14 * HOUR_MS;
    const scheduled = await read(id);
    expect(scheduled).toMatchObject({ status: 'SCHEDULED', scheduledAt: new Date(first).toISOString() });
    expect((await call('PUT', `/campaigns/${id}`, scheduled)).status).toBe(200);
    const refused = await call('PUT', `/campaigns/${id}`, { scheduledFor: new Date(Date.now() + DAY_MS) });
    expect(refused.body.error.errors[0].field).toBe('scheduledFor');
    expect((await call('PUT', `/campaigns/${id}`, { sendAtLocal: null })).status).toBe(422);
    const over = await call('PUT', `/campaigns/${id}`, { sendAtLocal: writeLocalTime(Date.now() - DAY_MS) });
    expect([over.status, over.body.error.message]).toEqual([400, 'sendAtLocal is in the past in every time zone.']);
    await call('PUT', `/campaigns/${id}`, { sendAtLocal: writeLocalTime(Date.now() - HOUR_MS) });
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 2 });
  });

  it('needs one timer in Temporal per time zone', async () => {
    const zones = Intl.supportedValuesOf('timeZone').slice(0, 40);
    await sql`
      INSERT INTO contacts (project_id, email, subscribed, data)
      SELECT ${campaigns.project.id}, 'z' || n || '@to.test', true, jsonb_build_object('timezone', (${zones}::text[])[1 + n % 40])
      FROM generate_series(1, 2000) AS n`.execute(campaigns.service.db);
    const id = await create({ sendAtLocal: writeLocalTime(Date.now() + 13 * HOUR_MS) });
    await send(id);
    await until(async () => {
      const { rows } = await sql<{ open: number; shut: number }>`
        SELECT count(*) AS open, count(not_before) AS shut FROM campaign_chunks WHERE campaign_id = ${id}`.execute(
        campaigns.service.db,
      );
      const { totalRecipients } = await read(id);
      return totalRecipients === 2000 && rows[0]?.open === rows[0]?.shut ? true : undefined;
    }, 'all zones to wait');
    const handle = campaigns.operator.client.workflow.getHandle(campaigns.service.names.campaign(id, 1));
    const { events } = await handle.fetchHistory();
    const timers = events?.filter((event) => event.timerStartedEventAttributes) ?? [];
    expect(timers.length).toBeLessThanOrEqual(40);
    const chunks = events?.filter(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'sendCampaignChunk',
    );
    expect(chunks?.length).toBeLessThanOrEqual(80);
    expect(campaigns.sink.messages).toHaveLength(0);
    await call('POST', `/campaigns/${id}/cancel`);
    expect(await waitForStatus(id, 'DRAFT')).toMatchObject({ totalRecipients: 0 });
  });
});

describe('a sending window', () => {
  let timed: { id: string; key: string; opensMs: number };

  // Windows open at whole minutes, so this campaign waits for up to a minute. The file starts it first and checks it
  // last.
  beforeAll(async () => {
    const { service } = campaigns;
    const { id: projectId, secretKey: key } = await buildProject(service.db, 'Timer');
    await buildDomain(service.db, { projectId, domain: 'sender.test', signing: false });
    await buildContacts(service.db, { projectId, count: 2, localPart: 'timer' });
    const opensMs = (Math.floor(Date.now() / 60_000) + 1) * 60_000;
    const at = (ms: number) => new Date(ms).toISOString().slice(11, 16);
    const sendingWindow = { from: at(opensMs), to: at(opensMs + HOUR_MS), timezone: 'UTC' };
    const created = await expectOk(
      service.call('POST', '/campaigns', { key, body: createCampaignBody({ sendingWindow }) }),
    );
    await expectOk(service.call('POST', `/campaigns/${created.data.id}/send`, { key, body: {} }));
    timed = { id: created.data.id, key, opensMs };
  });

  it('delays campaigns until it opens, also across a restart, and follows the current setting', async () => {
    await buildContactsInZone('any', 'Asia/Tokyo', 3);
    const { from, to } = createWindowIn(2);
    expect(await patchProject({ sendingWindow: { from, to, timezone: 'UTC' } })).toMatchObject({
      status: 200,
      body: { sendingWindow: { from, to, days: [1, 2, 3, 4, 5, 6, 7], timezone: 'UTC' } },
    });
    const id = await create();
    await send(id);
    const { nextOpening } = await waitForPending(id, 3);
    expect(nextOpening.slice(11, 16)).toBe(from);
    expect(Date.parse(nextOpening) - Date.now()).toBeLessThanOrEqual(2 * HOUR_MS);
    await campaigns.service.stopWorker();
    await patchProject({ sendingWindow: createWindowIn(4) });
    await campaigns.service.startWorker();
    await until(async () => (await read(id)).nextOpening !== nextOpening || undefined, 'the later opening');
    expect(await countOutcomes(id)).toEqual({ PENDING: 3 });
    await patchProject({ sendingWindow: null });
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 3, nextOpening: null });
  });

  it("set on a campaign replaces the project's window", async () => {
    await buildContactsInZone('any', 'Asia/Tokyo', 3);
    await patchProject({ sendingWindow: createWindowIn(2) });
    const free = await create({ sendingWindow: null });
    await send(free);
    expect(await waitForStatus(free, 'SENT')).toMatchObject({ sentCount: 3, sendingWindow: null });
    const own = await create({ sendingWindow: createWindowIn(-0.5) });
    await send(own);
    await waitForStatus(own, 'SENT');
    const follows = await create({ sendingWindow: createWindowIn(-0.5) });
    const put = await call('PUT', `/campaigns/${follows}`, { sendingWindow: 'project' });
    expect(put.body).not.toHaveProperty('sendingWindow');
    await send(follows);
    await waitForPending(follows, 3);
    // One campaign is paused and resumed, and still waits for the window.
    await call('POST', `/campaigns/${follows}/pause`);
    expect(await read(follows)).toMatchObject({ status: 'PAUSED', pendingCount: 3 });
    await call('POST', `/campaigns/${follows}/resume`);
    expect((await waitForPending(follows, 3)).status).toBe('SENDING');
  });

  it("in each contact's time zone can be open for one contact and closed for another", async () => {
    const getHour = (zone: string, ms: number) => writeLocalTime(toWallTime(zone, Date.now() + ms)).slice(11);
    const sendingWindow = {
      from: getHour('Asia/Kathmandu', -HOUR_MS),
      to: getHour('Asia/Kathmandu', HOUR_MS),
      timezone: 'contact',
    };
    await buildContactsInZone('open', 'Asia/Kathmandu');
    await buildContactsInZone('shut', 'Asia/Tokyo');
    const id = await create({ sendingWindow });
    await send(id);
    await waitForPending(id, 2);
    expect(listReachedNames()).toEqual(['open']);
  });

  it('opens with a timer of Temporal', async () => {
    const { id, key, opensMs } = timed;
    const readStatus = async () => (await expectOk(campaigns.service.call('GET', `/campaigns/${id}`, { key }))).status;
    await until(async () => (await readStatus()) === 'SENT', 'the window to open');
    const { rows } = await sql<{ at: Date }>`SELECT min(sent_at) AS at FROM emails WHERE campaign_id = ${id}`.execute(
      campaigns.service.db,
    );
    expect(rows[0]?.at.getTime()).toBeGreaterThanOrEqual(opensMs);
  });
});
