import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { buildContacts } from '../build/campaigns.ts';
import { useCampaignService } from '../support/campaign-service.ts';

const campaigns = useCampaignService();
const { call, create, send, become, outcomes } = campaigns;

const buildAudience = (count: number) =>
  buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count });
const unsubscribe = (...emails: string[]) =>
  sql`UPDATE contacts SET subscribed = false WHERE project_id = ${campaigns.project.id} AND email = ANY(${emails}::text[])`.execute(
    campaigns.service.db,
  );
const suppress = async (email: string, reason: string) =>
  expect((await call('POST', '/suppressions', { email, reason })).status).toBeLessThan(300);

describe('who is a recipient', () => {
  it('everybody in the audience is a row, those who cannot get it skipped with their reason, in total and skipped', async () => {
    await buildAudience(10);
    await unsubscribe('r1@to.test', 'r2@to.test');
    await suppress('r3@to.test', 'manual');
    await suppress('r4@to.test', 'manual');
    const id = await create();
    await send(id);
    expect(await become(id, 'SENT')).toMatchObject({ totalRecipients: 10, sentCount: 6, skippedCount: 4 });
    expect(await outcomes(id)).toEqual({
      SENT: 6,
      'FAILED unsubscribed': 2,
      'FAILED suppressed:manual': 2,
    });
    expect([...campaigns.sink.perRecipient().keys()].sort()).toEqual([0, 5, 6, 7, 8, 9].map((n) => `r${n}@to.test`));
    const stats = (await call('GET', `/campaigns/${id}/stats`)).body;
    expect(stats).toMatchObject({ total: 10, pending: 0, sent: 6, failed: 0, skipped: 4 });
    expect(stats.byReason).toEqual({ unsubscribed: 2, 'suppressed:manual': 2 });
  });

  it('an audience of unsubscribed contacts only is empty: 400', async () => {
    await buildAudience(2);
    await unsubscribe('r0@to.test', 'r1@to.test');
    const id = await create();
    expect((await call('POST', `/campaigns/${id}/send`, {})).status).toBe(400);
  });

  it('who is skipped takes nothing of the month', async () => {
    await buildAudience(10);
    await unsubscribe('r1@to.test', 'r2@to.test', 'r3@to.test');
    await sql`UPDATE projects SET monthly_email_limit = 5 WHERE id = ${campaigns.project.id}`.execute(
      campaigns.service.db,
    );
    const id = await create();
    await send(id);
    expect(await become(id, 'SENT')).toMatchObject({ sentCount: 5, skippedCount: 3, failedCount: 2 });
    expect(await outcomes(id)).toEqual({ SENT: 5, 'FAILED unsubscribed': 3, 'FAILED limit_reached': 2 });
  });
});

describe('the figures of a campaign', () => {
  it('have a series of 72 hours from the hour of the start, zero-filled', async () => {
    await buildAudience(4);
    const id = await create();
    await send(id);
    const { startedAt } = await become(id, 'SENT');
    await sql`
      UPDATE emails SET sent_at = c.started_at, delivered_at = c.started_at + interval '3 hours', opened_at = c.started_at + interval '80 hours',
        machine_opens = 2, machine_clicks = 1
      FROM campaigns c WHERE c.id = campaign_id AND campaign_id = ${id}`.execute(campaigns.service.db);
    const { series, machineOpens, machineClicks, opened } = (await call('GET', `/campaigns/${id}/stats`)).body;
    expect([machineOpens, machineClicks, opened]).toEqual([8, 4, 4]);
    expect(series).toHaveLength(72);
    const first = Math.floor(Date.parse(startedAt) / 3_600_000) * 3_600_000;
    expect(series.map(({ at }: { at: string }) => Date.parse(at))).toEqual(
      Array.from({ length: 72 }, (_, hour) => first + hour * 3_600_000),
    );
    const nothing = { sent: 0, delivered: 0, opened: 0, clicked: 0 };
    expect(series[0]).toMatchObject({ ...nothing, sent: 4 });
    expect(series[3]).toMatchObject({ ...nothing, delivered: 4 });
    expect(series[71]).toMatchObject(nothing);
  });
});
