import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { buildContacts } from '../build/campaigns.ts';
import { deleteStoredStatistics } from '../build/recipients.ts';
import { useCampaignService } from '../support/campaign-service.ts';
import { until } from '../support/until.ts';

const campaigns = useCampaignService();
const { call, create, send, waitForStatus, countOutcomes } = campaigns;

const buildAudience = (count: number) =>
  buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count });
const unsubscribe = (...emails: string[]) =>
  sql`UPDATE contacts SET subscribed = false WHERE project_id = ${campaigns.project.id} AND email = ANY(${emails}::text[])`.execute(
    campaigns.service.db,
  );
const suppress = async (email: string, reason: string) =>
  expect((await call('POST', '/suppressions', { email, reason })).status).toBeLessThan(300);

describe('the recipients of a campaign', () => {
  it('have a row for every contact; skipped contacts have a reason, and count in total and skipped', async () => {
    await buildAudience(10);
    await unsubscribe('r1@to.test', 'r2@to.test');
    await suppress('r3@to.test', 'manual');
    await suppress('r4@to.test', 'manual');
    const id = await create();
    await send(id);
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ totalRecipients: 10, sentCount: 6, skippedCount: 4 });
    expect(await countOutcomes(id)).toEqual({
      SENT: 6,
      'FAILED unsubscribed': 2,
      'FAILED suppressed:manual': 2,
    });
    expect([...campaigns.sink.perRecipient().keys()].sort()).toEqual([0, 5, 6, 7, 8, 9].map((n) => `r${n}@to.test`));
    const stats = (await call('GET', `/campaigns/${id}/stats`)).body;
    expect(stats).toMatchObject({ total: 10, pending: 0, sent: 6, failed: 0, skipped: 4 });
    expect(stats.byReason).toEqual({ unsubscribed: 2, 'suppressed:manual': 2 });
  });

  it('cannot be only unsubscribed contacts: the send returns 400', async () => {
    await buildAudience(2);
    await unsubscribe('r0@to.test', 'r1@to.test');
    const id = await create();
    expect((await call('POST', `/campaigns/${id}/send`, {})).status).toBe(400);
  });

  it('recipients that are skipped do not count toward the monthly limit', async () => {
    await buildAudience(10);
    await unsubscribe('r1@to.test', 'r2@to.test', 'r3@to.test');
    await sql`UPDATE projects SET monthly_email_limit = 5 WHERE id = ${campaigns.project.id}`.execute(
      campaigns.service.db,
    );
    const id = await create();
    await send(id);
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 5, skippedCount: 3, failedCount: 2 });
    expect(await countOutcomes(id)).toEqual({ SENT: 5, 'FAILED unsubscribed': 3, 'FAILED limit_reached': 2 });
  });

  it('recipients that were skipped before a monthly limit was set do not count toward it', async () => {
    await buildAudience(10);
    await unsubscribe('r1@to.test', 'r2@to.test', 'r3@to.test');
    const id = await create();
    await send(id);
    await waitForStatus(id, 'SENT');
    await sql`UPDATE projects SET monthly_email_limit = 8 WHERE id = ${campaigns.project.id}`.execute(
      campaigns.service.db,
    );
    const sendOne = () =>
      call('POST', '/v1/send', { to: 'one@to.test', from: 'a@sender.test', subject: 'Hi', body: '<p>Hi</p>' });
    expect((await sendOne()).status).toBe(200);
    expect((await sendOne()).body.error.code).toBe('BILLING_LIMIT_EXCEEDED');
  });
});

describe('the statistics of a campaign', () => {
  it('have a series of 72 hours from the hour of the start, with zeros for empty hours', async () => {
    await buildAudience(4);
    const id = await create();
    await send(id);
    const { startedAt } = await waitForStatus(id, 'SENT');
    await sql`
      UPDATE emails SET sent_at = c.started_at, delivered_at = c.started_at + interval '3 hours', opened_at = c.started_at + interval '80 hours',
        machine_opens = 2, machine_clicks = 1
      FROM campaigns c WHERE c.id = campaign_id AND campaign_id = ${id}`.execute(campaigns.service.db);
    await deleteStoredStatistics(campaigns.service.db, id);
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

describe('retrying recipients of a campaign', () => {
  const retryCampaign = (id: string, body?: unknown) => call('POST', `/campaigns/${id}/retry`, body);

  /** Makes some recipients of a SENT campaign FAILED, as if the provider had refused them. */
  async function failRecipients(id: string, reason: string, emails: string[]) {
    await sql`
      UPDATE emails SET status = 'FAILED', reason = ${reason}, error = 'no', sent_at = NULL
      WHERE campaign_id = ${id} AND to_email = ANY(${emails}::text[])`.execute(campaigns.service.db);
    campaigns.sink.reset();
  }

  const readMessageIds = async () => {
    const { rows } = await sql<{ id: string; email: string }>`
      SELECT id, to_email AS email FROM emails WHERE project_id = ${campaigns.project.id}`.execute(
      campaigns.service.db,
    );
    return new Map(rows.map((row) => [row.email, row.id]));
  };

  it('sends once to recipients whose failure can be fixed, and to no one else; sentAt becomes the time of the last email', async () => {
    await buildAudience(10);
    await unsubscribe('r9@to.test');
    const id = await create();
    await send(id);
    const { sentAt } = await waitForStatus(id, 'SENT');
    const before = await readMessageIds();
    await failRecipients(id, 'provider_rejected', ['r1@to.test', 'r2@to.test']);
    await failRecipients(id, 'expired', ['r3@to.test']);
    await failRecipients(id, 'bounced:dead_mailbox', ['r4@to.test']);
    const response = await retryCampaign(id);
    expect([response.status, response.body]).toEqual([200, { requeued: 3 }]);
    const after = await waitForStatus(id, 'SENT');
    expect(after).toMatchObject({
      totalRecipients: 10,
      sentCount: 8,
      pendingCount: 0,
      skippedCount: 1,
      failedCount: 1,
    });
    expect(after.sentAt > sentAt).toBe(true);
    expect(Object.fromEntries(campaigns.sink.perRecipient())).toEqual({
      'r1@to.test': 1,
      'r2@to.test': 1,
      'r3@to.test': 1,
    });
    expect(await readMessageIds()).toEqual(before);
    expect((await retryCampaign(id)).body).toEqual({ requeued: 0 });
    expect((await call('GET', `/campaigns/${id}`)).body).toMatchObject({ status: 'SENT', sentAt: after.sentAt });
  });

  it('retries only recipients with the given reasons, and checks consent again', async () => {
    await buildAudience(4);
    const id = await create();
    await send(id);
    await waitForStatus(id, 'SENT');
    await failRecipients(id, 'expired', ['r0@to.test']);
    await failRecipients(id, 'template_error', ['r1@to.test', 'r2@to.test']);
    await unsubscribe('r1@to.test');
    expect((await retryCampaign(id, { reasons: ['template_error', 'sender_not_verified'] })).body).toEqual({
      requeued: 2,
    });
    await waitForStatus(id, 'SENT');
    expect(await countOutcomes(id)).toEqual({ SENT: 2, 'FAILED expired': 1, 'FAILED unsubscribed': 1 });
  });

  it('skips a recipient who is no longer in the audience, with the reason', async () => {
    await buildAudience(3);
    const ofTown = { field: 'data.town', operator: 'equals', value: 'Bonn' };
    await sql`UPDATE contacts SET data = '{"town": "Bonn"}' WHERE project_id = ${campaigns.project.id}`.execute(
      campaigns.service.db,
    );
    const id = await create({
      audienceType: 'FILTERED',
      audienceFilter: { logic: 'AND', groups: [{ filters: [ofTown] }] },
    });
    await send(id);
    await waitForStatus(id, 'SENT');
    await failRecipients(id, 'provider_rejected', ['r0@to.test', 'r1@to.test']);
    await sql`
      UPDATE contacts SET data = '{"town": "Ulm"}' WHERE project_id = ${campaigns.project.id} AND email = 'r1@to.test'
    `.execute(campaigns.service.db);
    expect((await retryCampaign(id)).body).toEqual({ requeued: 1 });
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 2, skippedCount: 1, failedCount: 0 });
    expect(await countOutcomes(id)).toEqual({ SENT: 2, 'FAILED left_audience': 1 });
    expect(Object.fromEntries(campaigns.sink.perRecipient())).toEqual({ 'r0@to.test': 1 });
  });

  it('returns 422 for a permanent reason, and 409 in a status without failures to retry', async () => {
    await buildAudience(1);
    const id = await create();
    expect((await retryCampaign(id)).status).toBe(409);
    for (const reason of ['unsubscribed', 'bounced:dead_mailbox', 'suppressed:manual', 'because'])
      expect((await retryCampaign(id, { reasons: [reason] })).status).toBe(422);
    await sql`UPDATE campaigns SET status = 'CANCELLED' WHERE id = ${id}`.execute(campaigns.service.db);
    expect((await retryCampaign(id)).body.error).toMatchObject({ code: 'CONFLICT', details: { status: 'CANCELLED' } });
  });

  it('retries recipients beyond the monthly limit as far as the limit now allows', async () => {
    await buildAudience(10);
    const setMonthlyLimit = (n: number) =>
      sql`UPDATE projects SET monthly_email_limit = ${n} WHERE id = ${campaigns.project.id}`.execute(
        campaigns.service.db,
      );
    await setMonthlyLimit(4);
    const id = await create();
    await send(id);
    await waitForStatus(id, 'SENT');
    expect(await countOutcomes(id)).toEqual({ SENT: 4, 'FAILED limit_reached': 6 });
    expect((await retryCampaign(id)).body).toEqual({ requeued: 0 });
    await setMonthlyLimit(7);
    expect((await retryCampaign(id)).body).toEqual({ requeued: 3 });
    await waitForStatus(id, 'SENT');
    expect(await countOutcomes(id)).toEqual({ SENT: 7, 'FAILED limit_reached': 3 });
    expect([...campaigns.sink.perRecipient().values()].every((times) => times === 1)).toBe(true);
  });

  it('adds the recipients to a campaign that was paused while it ran', async () => {
    await buildAudience(1_200);
    campaigns.pauseMs = 100;
    const id = await create();
    await send(id);
    await until(async () => campaigns.sink.messages.length > 0);
    expect((await call('POST', `/campaigns/${id}/pause`)).status).toBe(200);
    const failed = await sql`
      UPDATE emails SET status = 'FAILED', reason = 'expired' WHERE id IN (
        SELECT id FROM emails WHERE campaign_id = ${id} AND status = 'PENDING' LIMIT 5)`.execute(campaigns.service.db);
    expect(Number(failed.numAffectedRows)).toBe(5);
    expect((await retryCampaign(id)).body).toEqual({ requeued: 5 });
    campaigns.pauseMs = 0;
    await call('POST', `/campaigns/${id}/resume`);
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ totalRecipients: 1_200, sentCount: 1_200 });
    expect([...campaigns.sink.perRecipient().values()].every((times) => times === 1)).toBe(true);
  });
});
