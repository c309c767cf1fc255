import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLinkTokens } from '../../../rules/content/link-tokens.ts';
import { buildEmail } from '../../build/emails.ts';
import { buildDomain, TEST_SECRET_KEY } from '../../build/senders.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

let api: TestApi;
let count = 0;
let name = '';

beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id, domain: 'topics.test' });
});
afterAll(() => api.close());
beforeEach(() => {
  count += 1;
  name = `Topic ${count}`;
});

const createTopic = async (more: object = {}) => {
  const { status, body } = await api.call('POST', '/topics', { body: { name, ...more } });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
};

const createContact = async (more: object = {}) => {
  const { body } = await api.call('POST', '/contacts', { body: { email: `c${count}@example.com`, ...more } });
  return body;
};

const MAIL = { subject: 's', body: '<p>b</p>', from: 'a@topics.test' };

describe('topics', () => {
  it('are created, read, listed, changed and deleted', async () => {
    const topic = await createTopic({ description: 'Monthly' });
    expect(topic).toMatchObject({ name, slug: `topic-${count}`, description: 'Monthly', defaultSubscribed: true });
    expect((await api.call('GET', `/v1/topics/${topic.id}`)).body).toEqual(topic);
    expect((await api.call('GET', '/topics')).body.data[0]).toEqual(topic);
    const renamed = await api.call('PATCH', `/topics/${topic.id}`, { body: { name: `New ${name}` } });
    expect(renamed.body).toMatchObject({ name: `New ${name}`, slug: topic.slug });
    const moved = await api.call('PATCH', `/topics/${topic.id}`, { body: { slug: `own-${count}` } });
    expect(moved.body.slug).toBe(`own-${count}`);
    expect((await api.call('DELETE', `/topics/${topic.id}`)).status).toBe(204);
    expect((await api.call('GET', `/topics/${topic.id}`)).status).toBe(404);
  });

  it('have a unique name and slug', async () => {
    const { id } = await createTopic();
    expect((await api.call('POST', '/topics', { body: { name } })).status).toBe(409);
    expect((await api.call('POST', '/topics', { body: { name: 'x', slug: `topic-${count}` } })).status).toBe(409);
    const other = await createTopic({ name: `Other ${name}` });
    expect((await api.call('PATCH', `/topics/${other.id}`, { body: { name } })).status).toBe(409);
    expect((await api.call('POST', '/topics', { body: { name: '' } })).status).toBe(422);
    expect((await api.call('PATCH', `/topics/${id}`, { body: { slug: 'Not One' } })).status).toBe(422);
    expect((await api.call('GET', `/topics/${id}`, { key: api.two.secretKey })).status).toBe(404);
  });

  it('are not deleted while a template or an unfinished campaign uses them', async () => {
    const { id } = await createTopic();
    const template = await api.call('POST', '/templates', {
      body: { name: 't', ...MAIL, type: 'MARKETING', topicId: id },
    });
    expect(template.body.topicId).toBe(id);
    const campaign = await api.call('POST', '/campaigns', {
      body: { name: 'c', ...MAIL, audienceType: 'ALL', topicId: id },
    });
    expect(campaign.body.data.topicId).toBe(id);
    const refused = await api.call('DELETE', `/topics/${id}`);
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
    expect(refused.body.error.details).toMatchObject({
      campaigns: [{ id: campaign.body.data.id }],
      templates: [{ id: template.body.id }],
    });
    await api.call('DELETE', `/templates/${template.body.id}`);
    expect((await api.call('DELETE', `/topics/${id}`)).status).toBe(409);
    await api.call('PUT', `/campaigns/${campaign.body.data.id}`, { body: { topicId: null } });
    expect((await api.call('DELETE', `/topics/${id}`)).status).toBe(204);
  });

  it('can be set only on MARKETING templates of the same project', async () => {
    const { id } = await createTopic();
    const body = { name: 't', ...MAIL, type: 'TRANSACTIONAL', topicId: id };
    const refused = await api.call('POST', '/templates', { body });
    expect(refused).toMatchObject({ status: 422, body: { error: { errors: [{ field: 'topicId' }] } } });
    const template = await api.call('POST', '/templates', { body: { ...body, type: 'MARKETING' } });
    const changed = await api.call('PATCH', `/templates/${template.body.id}`, { body: { type: 'TRANSACTIONAL' } });
    expect(changed.status).toBe(422);
    const foreign = { ...body, type: 'MARKETING' };
    await buildDomain(api.db, { projectId: api.two.id, domain: `two-${count}.test` });
    const two = { ...foreign, from: `a@two-${count}.test` };
    expect((await api.call('POST', '/templates', { body: two, key: api.two.secretKey })).status).toBe(404);
  });
});

describe("a contact's topics", () => {
  it('have the topic’s default until the contact chooses, and then the contact’s choice', async () => {
    const { id } = await createTopic();
    const { id: contactId, topics } = await createContact();
    expect(topics[id]).toBe(true);
    await api.call('PATCH', `/topics/${id}`, { body: { defaultSubscribed: false } });
    expect((await api.call('GET', `/contacts/${contactId}`)).body.topics[id]).toBe(false);
    const patched = await api.call('PATCH', `/contacts/${contactId}`, { body: { topics: { [id]: true } } });
    expect(patched.body.topics[id]).toBe(true);
    await api.call('PATCH', `/contacts/${contactId}`, { body: { topics: { [id]: true } } });
    await api.call('PATCH', `/contacts/${contactId}`, { body: { topics: { [id]: false } } });
    const events = await api.db
      .selectFrom('events')
      .select(['name', 'data'])
      .where('contact_id', '=', contactId)
      .where('name', 'like', 'topic.%')
      .orderBy('id')
      .execute();
    expect(events.map((event) => event.name)).toEqual(['topic.joined', 'topic.left']);
    expect(events[0]?.data).toEqual({ topicId: id, topic: `topic-${count}`, name });
    const unknown = await api.call('PATCH', `/contacts/${contactId}`, { body: { topics: { [contactId]: true } } });
    expect(unknown.status).toBe(404);
    const track = { email: `c${count}@example.com`, event: 'topic.left' };
    expect((await api.call('POST', '/v1/track', { body: track })).status).toBe(422);
  });

  it('can be filtered on in segments', async () => {
    const { id } = await createTopic();
    const { id: contactId } = await createContact({ topics: { [id]: false } });
    const findMatchingEmails = async (filter: object) => {
      const here = { field: 'email', operator: 'equals', value: `c${count}@example.com` };
      const filters = { operator: 'AND', conditions: [here, { field: `topic.${id}`, ...filter }] };
      const segment = await api.call('POST', '/segments', {
        body: { name: `${name} ${JSON.stringify(filter)}`, filters },
      });
      expect(segment.status, JSON.stringify(segment.body)).toBe(201);
      const { body } = await api.call('GET', `/segments/${segment.body.id}/contacts`);
      return body.contacts.map((item: { id: string }) => item.id);
    };
    expect(await findMatchingEmails({ operator: 'equals', value: true })).toEqual([]);
    expect(await findMatchingEmails({ operator: 'equals', value: false })).toEqual([contactId]);
    const text = { operator: 'AND', conditions: [{ field: `topic.${id}`, operator: 'equals', value: 'yes' }] };
    expect((await api.call('POST', '/segments', { body: { name: `${name} x`, filters: text } })).status).toBe(422);
  });

  it('stop an email of /v1/send with a template of a topic that the contact left', async () => {
    const { id } = await createTopic();
    const template = await api.call('POST', '/templates', {
      body: { name: 't', ...MAIL, type: 'MARKETING', topicId: id },
    });
    const { id: contactId } = await createContact();
    const send = () =>
      api.call('POST', '/v1/send', { body: { to: `c${count}@example.com`, template: template.body.id } });
    expect((await send()).status).toBe(200);
    await api.call('PATCH', `/contacts/${contactId}`, { body: { topics: { [id]: false } } });
    expect(await send()).toMatchObject({ status: 400, body: { error: { code: 'CONTACT_UNSUBSCRIBED' } } });
  });
});

describe('the unsubscribe pages of an email about a topic', () => {
  async function buildTopicEmail() {
    const topic = await createTopic();
    const { id: contactId } = await createContact();
    const emailId = await buildEmail(api.db, {
      projectId: api.one.id,
      contactId,
      to: `c${count}@example.com`,
      type: 'MARKETING',
      status: 'SENT',
    });
    const { content_id } = await api.db
      .selectFrom('emails')
      .select('content_id')
      .where('id', '=', emailId)
      .executeTakeFirstOrThrow();
    const content = await api.db
      .selectFrom('contents')
      .selectAll()
      .where('id', '=', content_id)
      .executeTakeFirstOrThrow();
    const own = await api.db
      .insertInto('contents')
      .values({ ...content, id: emailId, hash: Buffer.from(emailId), topic_id: topic.id })
      .returning('id')
      .executeTakeFirstOrThrow();
    await api.db.updateTable('emails').set({ content_id: own.id }).where('id', '=', emailId).execute();
    return { topic, contactId, manage: createLinkTokens(TEST_SECRET_KEY, emailId).manage };
  }
  const get = async (path: string) => (await api.call('GET', path, { key: null })).body as string;
  const post = async (path: string, body: string) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return (await api.app.request(path, { method: 'POST', headers, body })).text();
  };
  const readContact = async (contactId: string) => (await api.call('GET', `/contacts/${contactId}`)).body;

  it('have two buttons: leave this topic, and unsubscribe from everything', async () => {
    const { topic, contactId, manage } = await buildTopicEmail();
    const page = await get(`/u/${manage}`);
    expect(page.match(/<button/g)).toHaveLength(2);
    expect(page).toContain(`Unsubscribe from ${name}`);
    expect(await post(`/u/${manage}`, 'from=topic')).toContain(name);
    expect(await readContact(contactId)).toMatchObject({ subscribed: true, topics: { [topic.id]: false } });
    await post(`/u/${manage}`, 'from=everything');
    expect((await readContact(contactId)).subscribed).toBe(false);
  });

  it('keep the choice for the next contact with the address after an erasure, in any order of requests', async () => {
    const { topic, contactId, manage } = await buildTopicEmail();
    await api.call('DELETE', `/contacts/${contactId}`);
    expect(await post(`/u/${manage}`, 'List-Unsubscribe=One-Click')).toContain('You are unsubscribed from');
    expect(await get(`/u/${manage}`)).toContain('You are unsubscribed from');
    const second = await createContact();
    expect(second).toMatchObject({ subscribed: true, topics: { [topic.id]: false } });
    await api.call('DELETE', `/contacts/${second.id}`);
    const third = await createContact();
    expect(third.topics).toEqual(expect.objectContaining({ [topic.id]: false }));
    await post(`/m/${manage}`, `subscribed=true&topics=shown&topic=${topic.id}`);
    expect((await readContact(third.id)).topics).toMatchObject({ [topic.id]: true });
    await api.call('DELETE', `/contacts/${third.id}`);
    expect((await createContact()).topics).toMatchObject({ [topic.id]: true });
  });

  it('show the topics in the settings, and store only changes', async () => {
    const other = await createTopic({ name: `${name} too <b>` });
    const { topic, contactId, manage } = await buildTopicEmail();
    const page = await get(`/m/${manage}`);
    expect(page).toContain(`value="${topic.id}" checked`);
    expect(page).toContain(`${name} too &lt;b&gt;`);
    await post(`/m/${manage}`, `subscribed=true&topics=shown&topic=${other.id}`);
    expect((await readContact(contactId)).topics).toMatchObject({ [topic.id]: false, [other.id]: true });
    const choices = await api.db
      .selectFrom('topic_choices')
      .select('topic_id')
      .where('contact_id', '=', contactId)
      .execute();
    expect(choices.map((row) => row.topic_id)).not.toContain(other.id);
  });
});
