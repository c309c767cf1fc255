import { describe, expect, it } from 'vitest';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { useCampaignService } from '../support/campaign-service.ts';
import { until } from '../support/until.ts';

/** A template that prints nothing for contacts without `items`, and endless text for contacts with many. */
const COSTLY_BY_DATA =
  '{% for a in items %}{% for b in items %}{% for c in items %}{{ a | times: b | times: c }}{% endfor %}{% endfor %}{% endfor %}';
const MANY_ITEMS = { items: Array.from({ length: 300 }, (_, n) => n) };

const campaigns = useCampaignService({ env: { PROJECT_CPU_MS_PER_SECOND: '0' } });
const { call, create, send, read, waitForStatus, countOutcomes } = campaigns;

async function startCampaign(changes: Record<string, unknown> = {}): Promise<string> {
  const id = await create(changes);
  await send(id);
  return id;
}

/** Waits until no recipient is SENDING. */
function waitUntilNoneIsSending(id: string) {
  return until(async () => ('SENDING' in (await countOutcomes(id)) ? undefined : true), 'no recipient to be SENDING');
}

describe('pausing a campaign', () => {
  it('stops sending while it is PAUSED, and resuming continues with the unsent recipients', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 2_000 });
    campaigns.pauseMs = 20;
    const id = await startCampaign();
    await until(async () => campaigns.sink.messages.length > 0 || undefined, 'an email');
    const paused = await call('POST', `/campaigns/${id}/pause`);
    expect(paused).toMatchObject({ status: 200, body: { data: { status: 'PAUSED', pausedReason: 'requested' } } });
    campaigns.pauseMs = 0;
    await waitUntilNoneIsSending(id);
    const atPause = campaigns.sink.messages.length;
    expect(atPause).toBeLessThan(2_000);
    // A second pause changes nothing. Other actions that need the status SENDING are refused.
    expect(await call('POST', `/campaigns/${id}/pause`)).toMatchObject({ status: 200 });
    expect((await call('DELETE', `/campaigns/${id}`)).status).toBe(409);
    expect((await call('POST', `/campaigns/${id}/send`)).status).toBe(409);
    const { pendingCount, sentCount, failedCount, skippedCount, totalRecipients } = await read(id);
    expect(pendingCount + sentCount + failedCount + skippedCount).toBe(totalRecipients);
    expect(campaigns.sink.messages.length).toBe(atPause);

    const resumed = await call('POST', `/campaigns/${id}/resume`);
    expect(resumed).toMatchObject({ status: 200, body: { data: { status: 'SENDING', pausedReason: null } } });
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 2_000, pausedReason: null });
    expect(await countOutcomes(id)).toEqual({ SENT: 2_000 });
    expect([...campaigns.sink.perRecipient().values()].every((times) => times === 1)).toBe(true);
  });

  it('before its start makes it wait, also across a restart of the worker', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 30 });
    await campaigns.service.stopWorker();
    const id = await startCampaign();
    expect((await call('POST', `/campaigns/${id}/pause`)).status).toBe(200);
    await campaigns.service.startWorker();
    await until(async () => (await read(id)).totalRecipients === 30 || undefined, 'the audience');
    expect(await countOutcomes(id)).toEqual({ PENDING: 30 });
    await call('POST', `/campaigns/${id}/resume`);
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 30 });
  });

  it('does not prevent cancelling it', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 2_000 });
    campaigns.pauseMs = 20;
    const id = await startCampaign();
    await until(async () => campaigns.sink.messages.length > 0 || undefined, 'an email');
    await call('POST', `/campaigns/${id}/pause`);
    const cancelled = await call('POST', `/campaigns/${id}/cancel`);
    expect(cancelled).toMatchObject({ status: 200, body: { data: { status: 'CANCELLED', pausedReason: null } } });
    const skipped = await until(async () => {
      const { pendingCount, skippedCount } = await read(id);
      return pendingCount === 0 ? skippedCount : undefined;
    }, 'the rest to be skipped');
    expect(skipped).toBeGreaterThan(0);
  });

  it('is refused in every status except SENDING', async () => {
    const { body } = await call('POST', '/campaigns', createCampaignBody());
    for (const change of ['pause', 'resume']) {
      const refused = await call('POST', `/campaigns/${body.data.id}/${change}`);
      expect(refused).toMatchObject({ status: 409, body: { error: { details: { status: 'DRAFT' } } } });
    }
  });
});

describe('a campaign whose content takes too long to render', () => {
  it('is PAUSED with the reason after 20 timeouts in a row, while the email of another project is sent', async () => {
    const other = await buildProject(campaigns.service.db, 'Other');
    await buildDomain(campaigns.service.db, { projectId: other.id, domain: 'other.test', signing: false });
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 150, data: MANY_ITEMS });
    const id = await startCampaign({ body: COSTLY_BY_DATA });
    await until(async () => (await countOutcomes(id))['FAILED template_error'], 'the first to run out of time');
    const email = { to: 'b@to.test', from: 'hi@other.test', subject: 'Hi', body: '<p>Hi</p>' };
    expect((await campaigns.service.call('POST', '/v1/send', { key: other.secretKey, body: email })).status).toBe(200);
    await until(async () => campaigns.sink.perRecipient().has('b@to.test') || undefined, "the other project's mail");
    // The email of the other project was sent while the campaign was still running.
    expect((await countOutcomes(id)).PENDING).toBeGreaterThan(100);

    expect(await waitForStatus(id, 'PAUSED')).toMatchObject({ pausedReason: 'template_timeout', sentCount: 0 });
    await waitUntilNoneIsSending(id);
    const failed = (await countOutcomes(id))['FAILED template_error'] ?? 0;
    // On a busy machine a turn can lose its chunk to another one, which composes the same messages again.
    expect(failed).toBeGreaterThanOrEqual(10);
    expect(failed).toBeLessThan(60);
    expect((await call('POST', `/campaigns/${id}/cancel`)).body.data.status).toBe('CANCELLED');
  });

  it('continues if most emails are rendered in time', async () => {
    await buildContacts(campaigns.service.db, {
      projectId: campaigns.project.id,
      count: 3,
      localPart: 'slow',
      data: MANY_ITEMS,
    });
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 40 });
    const id = await startCampaign({ body: `<p>{{n}}</p>${COSTLY_BY_DATA}` });
    await waitForStatus(id, 'SENT');
    expect(await countOutcomes(id)).toEqual({ SENT: 40, 'FAILED template_error': 3 });
  });
});

describe('content that takes too long to render for any contact', () => {
  const body = '{% for a in (1..9999) %}{% for b in (1..9999) %}{{ a | times: b }}{% endfor %}{% endfor %}';

  it('is refused when it is saved', async () => {
    const refused = { status: 422, body: { error: { code: 'VALIDATION_ERROR', errors: [{ field: 'body' }] } } };
    expect(await call('POST', '/campaigns', createCampaignBody({ body }))).toMatchObject(refused);
    const template = { name: 'T', subject: 'S', type: 'TRANSACTIONAL' };
    expect(await call('POST', '/templates', { ...template, body })).toMatchObject(refused);
    const good = await call('POST', '/templates', { ...template, body: '{% for i in items %}{{i}}{% endfor %}' });
    expect(good.status).toBe(201);
    expect(await call('PATCH', `/templates/${good.body.id}`, { body })).toMatchObject(refused);
  });
});
