import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRequestLog } from '../../api/http/request-log.ts';
import type { NewLoggedRequest } from '../../db/requests/request-log.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { buildEmail } from '../build/emails.ts';
import { buildDomain } from '../build/senders.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { type CallOptions, startTestApi, type TestApi } from '../support/api.ts';
import { signIn } from '../support/session.ts';
import { until } from '../support/until.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id });
});
afterAll(() => api?.close());

/** The last part of a UUID of version 7. */
const TAIL = '000-8000-000000000000';
const listRequests = (query = '', options: CallOptions = {}) => expectOk(api.call('GET', `/requests${query}`, options));

/** Returns the entry of a request by its X-Request-Id, as soon as it is written. */
const waitForEntry = (requestId: string) =>
  until(async () => {
    const { status, body } = await api.call('GET', `/requests/${encodeURIComponent(requestId)}`);
    return status === 200 && body;
  }, `the entry of ${requestId}`);

const createHeaders = (requestId: string) => ({ 'x-request-id': requestId });

describe('the log of requests', () => {
  it('has the method, route, status, key and error of a request, and no content', async () => {
    const { body: contact } = await api.call('POST', '/contacts', { body: { email: 'ada@example.com', data: {} } });
    const path = `/contacts/${contact.id}`;
    await api.call('PATCH', path, { body: { subscribed: 'hidden' }, headers: createHeaders('a wrong change') });
    const logged = await waitForEntry('a wrong change');
    expect(logged).toMatchObject({
      requestId: 'a wrong change',
      method: 'PATCH',
      route: '/contacts/{id}',
      status: 422,
      by: 'key',
      userId: null,
      errorCode: 'VALIDATION_ERROR',
      made: { contacts: [], events: [], executions: [], emails: [], sms: [] },
    });
    expect(logged.keyId).toEqual(expect.any(String));
    expect(logged.ms).toBeGreaterThan(0);
    expect(JSON.stringify(logged)).not.toContain('hidden');
    expect(await listRequests(`?requestId=${encodeURIComponent('a wrong change')}`)).toMatchObject({
      data: [{ id: logged.id }],
    });
    expect((await expectOk(api.call('GET', `/requests/${logged.id}`))).id).toBe(logged.id);
  });

  it('links a request to the emails that it sent', async () => {
    const body = { to: ['a@example.com', 'b@example.com'], subject: 's', body: 'b', from: 'shop@shop.example.com' };
    const { data } = await expectOk(api.call('POST', '/v1/send', { body, headers: createHeaders('two emails') }));
    const { made } = await waitForEntry('two emails');
    expect(made.emails.map(({ id }: { id: string }) => id).sort()).toEqual(
      data.emails.map(({ email }: { email: string }) => email).sort(),
    );
    expect(made.emails[0]).toMatchObject({ status: 'PENDING', reason: null, executionId: null });
  });

  it('links a tracked event to the execution that it started', async () => {
    const workflow = await buildWorkflow(api, {
      eventName: 'bought',
      steps: { Pause: { type: 'DELAY', config: { amount: 1, unit: 'days' } } },
    });
    const body = { email: 'buyer@example.com', event: 'bought' };
    await expectOk(api.call('POST', '/v1/track', { body, headers: createHeaders('an event'), key: api.one.publicKey }));
    const logged = await waitForEntry('an event');
    expect(logged).toMatchObject({ by: 'public', keyId: null });
    const contactId = logged.made.events[0].contactId;
    expect(logged.made.events).toMatchObject([{ name: 'bought' }]);
    expect(logged.made.executions).toMatchObject([
      { workflowId: workflow.id, workflowName: 'Test', contactId, status: 'WAITING' },
    ]);
  });

  it('links an email, an execution, an event and a contact to the request that caused them', async () => {
    const workflow = await buildWorkflow(api, {
      eventName: 'asked',
      steps: { Pause: { type: 'DELAY', config: { amount: 1, unit: 'days' } } },
    });
    const body = { email: 'asker@example.com', event: 'asked' };
    await expectOk(api.call('POST', '/v1/track', { body, headers: createHeaders('the cause') }));
    const { id, made } = await waitForEntry('the cause');
    const [execution] = made.executions;
    const emailId = await buildEmail(api.db, { projectId: api.one.id, sourceType: 'WORKFLOW' });
    await api.db
      .updateTable('emails')
      .set({ execution_id: execution.id, visit: 1 })
      .where('id', '=', emailId)
      .execute();
    for (const result of [emailId, execution.id, made.events[0].id]) {
      expect(await listRequests(`?made=${result}`)).toMatchObject({ data: [{ id }], hasMore: false });
    }
    expect((await waitForEntry('the cause')).made.emails).toMatchObject([{ id: emailId, executionId: execution.id }]);
    expect(workflow.id).toBe(execution.workflowId);
    const saved = { body: { email: 'saved@example.com' }, headers: createHeaders('a contact') };
    const contact = await expectOk(api.call('POST', '/contacts', saved));
    expect((await waitForEntry('a contact')).made.contacts).toEqual([{ id: contact.id, email: 'saved@example.com' }]);
    expect((await listRequests(`?made=${contact.id}`)).data).toHaveLength(1);
    expect((await listRequests(`?made=${emailId}`, { key: api.two.secretKey })).data).toEqual([]);
    expect((await listRequests(`?made=${uuidv7()}`)).data).toEqual([]);
    // Ids with the first and the last possible time, and ids without a time.
    for (const id of ['6f1c1f0e-3a52-4b3f-9a63-2f0a1d1f6a10', `00000000-0000-7${TAIL}`, `ffffffff-ffff-7${TAIL}`])
      expect((await listRequests(`?made=${id}`)).data).toEqual([]);
  });

  it('lists the effects of requests from the pages of a shop', async () => {
    const events = [{ name: 'viewed', email: 'visitor@example.com' }, { name: 'viewed' }];
    const key = api.one.publicKey;
    await expectOk(api.call('POST', '/v1/pixel', { body: { events }, headers: createHeaders('a pixel'), key }));
    const { made } = await waitForEntry('a pixel');
    expect(made.contacts).toMatchObject([{ email: 'visitor@example.com' }]);
    expect(made.events).toMatchObject([
      { name: 'pixel.viewed', contactId: made.contacts[0].id },
      { name: 'pixel.viewed', contactId: null },
    ]);
    const variants = [{ variantId: '1', productTitle: 'Jumper', title: 'Blue', available: false }];
    await expectOk(api.call('PUT', '/storefront/variants', { body: { variants } }));
    const backInStock = { email: 'visitor@example.com', storefrontVariantId: '1' };
    await expectOk(
      api.call('POST', '/v1/back-in-stock', {
        body: backInStock,
        headers: createHeaders('a back-in-stock request'),
        key,
      }),
    );
    expect((await waitForEntry('a back-in-stock request')).made.contacts).toEqual(made.contacts);
  });

  it('has the changes of users, but not their reads', async () => {
    const person = await signIn(api, api.one);
    const createUserOptions = (requestId: string) => ({
      key: null,
      headers: { ...person, ...createHeaders(requestId) },
    });
    await expectOk(api.call('GET', '/contacts', createUserOptions('a look')));
    await expectOk(
      api.call('POST', '/contacts', { ...createUserOptions('a change'), body: { email: 'new@example.com' } }),
    );
    expect(await waitForEntry('a change')).toMatchObject({ by: 'user', keyId: null, userId: expect.any(String) });
    expect((await listRequests('?requestId=a%20look')).data).toEqual([]);
  });

  it('can be filtered by status, route, method, error and key, and has pages', async () => {
    for (const n of [1, 2, 3])
      await api.call('GET', `/contacts/${uuidv7()}`, { headers: createHeaders(`missing ${n}`) });
    await waitForEntry('missing 3');
    const { data } = await listRequests('?status=404&method=GET&route=/contacts/%7Bid%7D&errorCode=NOT_FOUND');
    expect(data.length).toBeGreaterThanOrEqual(3);
    const [newest] = data;
    const ofKey = await listRequests(`?keyId=${newest.keyId}&status=4xx&route=/contacts/%7Bid%7D`);
    expect(ofKey.data[0].id).toBe(newest.id);
    expect((await listRequests(`?keyId=${uuidv7()}`)).data).toEqual([]);
    expect((await listRequests('?status=5xx')).data).toEqual([]);
    expect((await listRequests(`?since=${new Date(Date.now() + 60_000).toISOString()}`)).data).toEqual([]);
    const first = await listRequests('?status=404&limit=2');
    expect(first).toMatchObject({ hasMore: true });
    const second = await listRequests(`?status=404&limit=2&cursor=${first.cursor}`);
    const ids = [...first.data, ...second.data].map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const bad of ['status=sometimes', 'errorCode=not_found'])
      expect((await api.call('GET', `/requests?${bad}`)).status).toBe(400);
  });

  it('shows no requests of another project', async () => {
    await api.call('GET', '/contacts', { headers: createHeaders('of one') });
    await waitForEntry('of one');
    const asTwo = { key: api.two.secretKey };
    expect((await api.call('GET', '/requests/of%20one', asTwo)).status).toBe(404);
    expect((await listRequests('?requestId=of%20one', asTwo)).data).toEqual([]);
  });
});

describe('the log of requests in memory', () => {
  const createLoggedRequest = (projectId: string): NewLoggedRequest => ({
    id: uuidv7(),
    projectId,
    requestId: 'r',
    method: 'GET',
    route: '/contacts',
    status: 200,
    ms: 1,
    actor: 'public',
    errorCode: null,
    made: null,
    createdAt: new Date(),
  });

  it('is limited per project, so a busy project does not displace the requests of others', async () => {
    const warnings: object[] = [];
    const log = createRequestLog({ db: api.db, log: { warn: (about: object) => void warnings.push(about) } as never });
    const [busy, quiet] = [uuidv7(), uuidv7()];
    for (let n = 0; n < 5_000; n += 1) log.add(createLoggedRequest(busy));
    log.add(createLoggedRequest(quiet));
    await log.close();
    const countRequests = async (projectId: string) =>
      (await api.db.selectFrom('requests').select('id').where('project_id', '=', projectId).execute()).length;
    expect(await countRequests(busy)).toBe(100);
    expect(await countRequests(quiet)).toBe(1);
    expect(warnings).toEqual([{ requests: 4_900 }]);
  });
});
