import { describe, expect, it } from 'vitest';
import { createLinkTokens } from '../../rules/content/link-tokens.ts';
import { TEST_SECRET_KEY } from '../build/senders.ts';
import { useCampaignService } from '../support/campaign-service.ts';
import { until } from '../support/until.ts';

const campaigns = useCampaignService();
const call = (method: string, path: string, body?: unknown) => campaigns.call(method, path, body);

async function createTopic(name: string, more: object = {}): Promise<{ id: string }> {
  const { status, body } = await call('POST', '/topics', { name, ...more });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

async function createContact(localPart: string, more: object = {}) {
  const { body } = await call('POST', '/contacts', { email: `${localPart}@to.test`, ...more });
  return body as { id: string; topics: Record<string, boolean> };
}

const listEventNames = async (contactId: string): Promise<string[]> => {
  const rows = await campaigns.service.db
    .selectFrom('events')
    .select('name')
    .where('contact_id', '=', contactId)
    .where('name', 'like', 'topic.%')
    .orderBy('id')
    .execute();
  return rows.map(({ name }) => name);
};

describe('a campaign about a topic', () => {
  it('is sent to the contacts of the topic, and skips the others with the reason', async () => {
    const on = await createTopic('On by default');
    const off = await createTopic('Off by default', { defaultSubscribed: false });
    const left = await createContact('left', { topics: { [on.id]: false } });
    await createContact('joined', { topics: { [off.id]: true } });
    expect(await listEventNames(left.id)).toEqual(['topic.left']);
    for (const [topicId, to] of [
      [on.id, 'joined@to.test'],
      [off.id, 'joined@to.test'],
    ] as const) {
      const id = await campaigns.create({ topicId });
      expect((await campaigns.read(id)).topicId).toBe(topicId);
      await campaigns.send(id);
      await campaigns.waitForStatus(id, 'SENT');
      expect(await campaigns.countOutcomes(id)).toEqual({ SENT: 1, 'FAILED unsubscribed:topic': 1 });
      const sent = await campaigns.service.db
        .selectFrom('emails')
        .select('to_email')
        .where('campaign_id', '=', id)
        .where('status', '=', 'SENT')
        .execute();
      expect(sent).toEqual([{ to_email: to }]);
      expect((await call('GET', `/campaigns/${id}/stats`)).body).toMatchObject({
        total: 2,
        sent: 1,
        skipped: 1,
        failed: 0,
      });
    }
  });

  it('lets readers leave the topic with one click, which counts as unsubscribed and does not stop other email', async () => {
    const news = await createTopic('News');
    const reader = await createContact('reader');
    const id = await campaigns.create({ topicId: news.id });
    await campaigns.send(id);
    await campaigns.waitForStatus(id, 'SENT');
    const { id: emailId } = await campaigns.service.db
      .selectFrom('emails')
      .select('id')
      .where('campaign_id', '=', id)
      .executeTakeFirstOrThrow();
    const { manage } = createLinkTokens(TEST_SECRET_KEY, emailId);
    for (let n = 0; n < 2; n++) expect((await post(`/u/${manage}`, 'List-Unsubscribe=One-Click')).status).toBe(200);
    expect((await call('GET', `/contacts/${reader.id}`)).body).toMatchObject({
      subscribed: true,
      topics: { [news.id]: false },
    });
    expect(await listEventNames(reader.id)).toEqual(['topic.left']);
    expect((await call('GET', `/campaigns/${id}/stats`)).body.unsubscribed).toBe(1);
    await post(`/u/${manage}`, 'from=everything');
    expect((await call('GET', `/contacts/${reader.id}`)).body.subscribed).toBe(false);
  });
});

const post = async (path: string, form: string) => {
  const response = await fetch(`${campaigns.service.baseUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form,
  });
  return { status: response.status, body: await response.text() };
};

describe('double opt-in', () => {
  it('sends the confirmation email, and a campaign skips contacts that have not confirmed', async () => {
    const { id: projectId, publicKey: key } = campaigns.project;
    const template = await call('POST', '/templates', {
      name: 'Confirm',
      subject: 'Confirm',
      body: '<a href="{{confirmUrl}}">Yes</a>',
      from: 'a@sender.test',
      type: 'TRANSACTIONAL',
    });
    await campaigns.service.db
      .updateTable('projects')
      .set({ double_opt_in: true, double_opt_in_template_id: template.body.id })
      .where('id', '=', projectId)
      .execute();
    await createContact('old');
    await campaigns.service.call('POST', '/v1/track', { key, body: { email: 'new@to.test', event: 'form' } });
    const confirmationEmail = await until(
      () =>
        campaigns.service.db
          .selectFrom('emails')
          .select('id')
          .where('project_id', '=', projectId)
          .where('status', '=', 'SENT')
          .executeTakeFirst(),
      'the confirmation email',
    );
    const marketing = await call('POST', '/templates', {
      name: 'M',
      subject: 's',
      body: '<p>b</p>',
      from: 'a@sender.test',
      type: 'MARKETING',
    });
    const refused = await call('POST', '/v1/send', { to: 'new@to.test', template: marketing.body.id });
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'CONTACT_UNSUBSCRIBED' } } });
    const id = await campaigns.create();
    await campaigns.send(id);
    await campaigns.waitForStatus(id, 'SENT');
    expect((await campaigns.countOutcomes(id)).SENT).toBe(1);
    const { manage } = createLinkTokens(TEST_SECRET_KEY, confirmationEmail.id);
    expect((await post(`/confirm/${manage}`, '')).body).toContain('You are subscribed');
    const next = await campaigns.create();
    await campaigns.send(next);
    await campaigns.waitForStatus(next, 'SENT');
    expect(await campaigns.countOutcomes(next)).toEqual({ SENT: 2 });
  });
});
