import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { track } from '../build/events.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { forgeCursor } from '../support/cursors.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

describe('POST /v1/track', () => {
  it('records the event, creates the contact as subscribed, stores its data and returns ids', async () => {
    const response = await track(api, 'new@example.com', 'signup', {
      plan: 'pro',
      once: { value: 1, persistent: false },
    });
    expect(response).toMatchObject({ success: true, data: { contact: expect.any(String), event: expect.any(String) } });
    const contact = await expectOk(api.call('GET', `/contacts/${response.data.contact}`));
    expect(contact).toMatchObject({ subscribed: true, data: { plan: 'pro' } });
    const { events } = await expectOk(api.call('GET', `/events/contact/${response.data.contact}`));
    expect(events).toMatchObject([
      { id: response.data.event, name: 'signup', data: { plan: 'pro', once: 1 } },
      { name: 'contact.subscribed' },
    ]);
  });

  it('returns its own result to each of many concurrent requests', async () => {
    const one = { email: 'rush@example.com', event: 'rushed' };
    const [same, others, keyed, bad] = await Promise.all([
      Promise.all(Array.from({ length: 20 }, (_, n) => track(api, one.email, one.event, { n }))),
      Promise.all(Array.from({ length: 20 }, (_, n) => track(api, `rush-${n}@example.com`, 'rushed', { n }))),
      Promise.all(
        Array.from({ length: 5 }, () =>
          api.call('POST', '/v1/track', { body: one, headers: { 'idempotency-key': 'rush' } }),
        ),
      ),
      api.call('POST', '/v1/track', { body: { ...one, email: 'bad@example.com', data: { ['k'.repeat(1_000)]: 1 } } }),
    ]);
    expect(new Set(same.map((response) => response.data.contact)).size).toBe(1);
    expect(new Set([...same, ...others].map((response) => response.data.event)).size).toBe(40);
    expect(keyed.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    expect([bad.status, bad.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    for (const [n, { data }] of others.entries()) {
      const { events } = await expectOk(api.call('GET', `/events/contact/${data.contact}`));
      expect(events).toMatchObject([{ id: data.event, data: { n } }, { name: 'contact.subscribed' }]);
    }
    const { events } = await expectOk(api.call('GET', `/events/contact/${same[0]?.data.contact}`));
    expect(events.filter(({ name }: { name: string }) => name === 'rushed')).toHaveLength(21);
    const { data: found } = await expectOk(api.call('GET', '/contacts?search=bad@example.com'));
    expect(found).toEqual([]);
  });

  it('refuses reserved names and names of system events with separate error codes', async () => {
    for (const [event, code] of [
      ['email.sent', 'reserved_event'],
      ['contact.subscribed', 'reserved_event'],
      ['segment.vip.entry', 'reserved_event'],
      ['pixel.view', 'system_sourced_event'],
      ['shopify.order', 'system_sourced_event'],
    ]) {
      const { status, body } = await api.call('POST', '/v1/track', { body: { email: 'a@example.com', event } });
      expect([status, body.error.code, body.error.errors]).toMatchObject([
        422,
        'VALIDATION_ERROR',
        [{ field: 'event', code }],
      ]);
    }
  });

  it('takes effect once for an Idempotency-Key, and shows the second request the first response', async () => {
    const options = { body: { email: 'key@example.com', event: 'once' }, headers: { 'idempotency-key': 'k-1' } };
    const first = await expectOk(api.call('POST', '/v1/track', options));
    const second = await api.call('POST', '/v1/track', options);
    expect(second).toMatchObject({
      status: 409,
      body: {
        error: {
          code: 'IDEMPOTENCY_KEY_REUSED',
          details: { key: 'k-1', originalRequest: 'POST /v1/track', originalResponse: first },
        },
      },
    });
  });

  it('accepts the public key, which does not undo an unsubscription', async () => {
    const body = { email: 'public@example.com', event: 'view', subscribed: true };
    await expectOk(api.call('POST', '/v1/track', { key: api.one.publicKey, body }));
    await expectOk(api.call('POST', '/suppressions', { body: { email: 'public@example.com', reason: 'unsubscribe' } }));
    await expectOk(api.call('POST', '/v1/track', { key: api.one.publicKey, body }));
    const [contact] = (await expectOk(api.call('GET', '/contacts?search=public@example.com'))).data;
    expect(contact.subscribed).toBe(false);
  });
});

describe('events', () => {
  it('are listed newest first, page by page, without gaps or duplicates', async () => {
    for (let n = 0; n < 5; n += 1) await track(api, 'pages@example.com', 'paged', { n });
    const seen: number[] = [];
    for (let cursor = ''; ; ) {
      const page = await expectOk(api.call('GET', `/events?eventName=paged&limit=2${cursor}`));
      expect(page.data).toEqual(page.events);
      seen.push(...page.events.map((event: { data: { n: number } }) => event.data.n));
      if (!page.hasMore) break;
      cursor = `&cursor=${page.cursor}`;
    }
    expect(seen).toEqual([4, 3, 2, 1, 0]);
  });

  it('are counted by name', async () => {
    await track(api, 'stats@example.com', 'counted');
    await track(api, 'stats@example.com', 'counted');
    const stats = await expectOk(api.call('GET', '/events/stats'));
    expect(stats).toContainEqual({ name: 'counted', count: 2, lastAt: expect.any(String) });
    expect((await expectOk(api.call('GET', '/events/names'))).eventNames).toContain('counted');
  });

  it('can be recorded by contact id, but not under a reserved name or for another project’s contact', async () => {
    const { data } = await track(api, 'manual@example.com', 'signup');
    const body = { name: 'called', contactId: data.contact, data: { by: 'Ada' } };
    expect(await api.call('POST', '/events/track', { body })).toMatchObject({
      status: 201,
      body: { name: 'called', contactId: data.contact, data: { by: 'Ada' } },
    });
    expect((await api.call('POST', '/events/track', { body: { ...body, name: 'email.open' } })).status).toBe(422);
    expect((await api.call('POST', '/events/track', { body, key: api.two.secretKey })).status).toBe(404);
  });

  it('can be deleted by name, unless a workflow or segment uses the name or the service records it', async () => {
    await track(api, 'purge@example.com', 'old');
    await track(api, 'purge@example.com', 'used');
    await expectOk(api.call('POST', '/workflows', { body: { name: 'Uses', eventName: 'used' } }));
    expect(await expectOk(api.call('GET', '/events/used/usage'))).toMatchObject({
      totalCount: 1,
      uniqueContacts: 1,
      canDelete: false,
    });
    expect((await api.call('DELETE', '/events/used')).status).toBe(409);
    expect((await api.call('DELETE', '/events/contact.subscribed')).status).toBe(409);
    expect(await api.call('DELETE', '/events/old', { key: api.two.secretKey })).toMatchObject({
      body: { deletedCount: 0 },
    });
    expect(await api.call('DELETE', '/events/old')).toMatchObject({ status: 200, body: { deletedCount: 1 } });
  });
});

it('events are not used by a workflow that has changed from this event to a manual start', async () => {
  const workflow = await expectOk(
    api.call('POST', '/workflows', { body: { name: 'Switched', eventName: 'switched' } }),
  );
  const listUses = async () => (await expectOk(api.call('GET', '/events/switched/usage'))).usedInWorkflows;
  expect(await listUses()).toEqual([{ id: workflow.id, name: 'Switched' }]);
  await expectOk(api.call('PATCH', `/workflows/${workflow.id}`, { body: { triggerType: 'MANUAL' } }));
  expect(await listUses()).toEqual([]);
});

describe('the activity feed', () => {
  it('shows entries of every kind in one order, page by page, and filters by type and contact', async () => {
    const { data } = await track(api, 'feed@example.com', 'seen');
    await expectOk(api.call('PATCH', `/contacts/${data.contact}`, { body: { subscribed: false } }));
    const workflow = await expectOk(api.call('POST', '/workflows', { body: { name: 'Feed', triggerType: 'MANUAL' } }));
    await expectOk(api.call('POST', `/workflows/${workflow.id}/steps`, { body: { type: 'EXIT' } }));
    await expectOk(api.call('PATCH', `/workflows/${workflow.id}`, { body: { enabled: true } }));
    await expectOk(api.call('POST', `/workflows/${workflow.id}/executions`, { body: { contactId: data.contact } }));
    const all: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await expectOk(api.call('GET', `/activity?contactId=${data.contact}&limit=1${cursor}`));
      all.push(...page.data.map((item: { type: string }) => item.type));
      expect(page.total).toBe(cursor === '' ? 5 : 0);
      if (!page.hasMore) break;
      cursor = `&cursor=${page.cursor}`;
    }
    expect([...all].sort()).toEqual([
      'contact.subscribed',
      'contact.unsubscribed',
      'event.triggered',
      'workflow.completed',
      'workflow.started',
    ]);
    const only = await expectOk(api.call('GET', `/activity?types=workflow.started&contactId=${data.contact}`));
    expect(only.data).toMatchObject([{ type: 'workflow.started', contactEmail: 'feed@example.com' }]);
    expect((await api.call('GET', '/activity?types=nonsense')).status).toBe(400);
    for (const forged of [
      ['not an instant', 'x'],
      [1e308, 'x'],
      [1, `event.triggered:${'z'.repeat(36)}`],
    ]) {
      const cursor = forgeCursor({ projectId: api.one.id, path: '/activity', query: {} }, forged);
      expect((await api.call('GET', `/activity?cursor=${cursor}`)).status).toBe(400);
    }
    const other = await expectOk(api.call('GET', '/activity', { key: api.two.secretKey }));
    expect(other.data).toEqual([]);
  });

  it('has totals, a recent count and planned items', async () => {
    expect(await expectOk(api.call('GET', '/activity/stats'))).toMatchObject({
      totalEvents: expect.any(Number),
      openRate: 0,
    });
    expect(await expectOk(api.call('GET', '/activity/recent-count'))).toMatchObject({
      minutes: 5,
      count: expect.any(Number),
    });
    expect((await expectOk(api.call('GET', '/activity/types'))).types).toContain('email.opened');
    expect(await expectOk(api.call('GET', '/activity/upcoming'))).toEqual({ activities: [] });
  });
});

describe('analytics', () => {
  it('has zeros for days without email', async () => {
    const days = await expectOk(api.call('GET', '/analytics/timeseries?startDate=2026-01-01&endDate=2026-01-03'));
    const zeros = { emails: 0, delivered: 0, opens: 0, clicks: 0, bounces: 0, complaints: 0 };
    expect(days).toEqual(['2026-01-01', '2026-01-02', '2026-01-03'].map((date) => ({ date, ...zeros })));
    expect((await api.call('GET', '/analytics/timeseries?startDate=2026-01-03&endDate=2026-01-01')).status).toBe(400);
  });

  it('names top events with their trend, top campaigns and campaign totals', async () => {
    await track(api, 'top@example.com', 'top');
    const top = await expectOk(api.call('GET', '/analytics/top-events?limit=100'));
    expect(top).toContainEqual({ name: 'top', count: 1, trend: 100 });
    expect(await expectOk(api.call('GET', '/analytics/top-campaigns'))).toEqual([]);
    expect(await expectOk(api.call('GET', '/analytics/campaign-stats'))).toMatchObject({
      total: 0,
      averageOpenRate: 0,
    });
  });
});

describe('the results of an event', () => {
  const listEventsWithName = async (contact: string, name: string) => {
    const { events } = await expectOk(api.call('GET', `/events/contact/${contact}`));
    return events.filter((event: { name: string }) => event.name === name);
  };
  const buildListeningWorkflow = (eventName: string, more: object = {}) =>
    buildWorkflow(api, {
      eventName,
      steps: { wait: { type: 'DELAY', config: { amount: 1, unit: 'days' } } },
      ...more,
    });

  it('are in its record, with the reason if a triggered workflow did not start', async () => {
    const once = await buildListeningWorkflow('cart.left');
    const again = await buildListeningWorkflow('cart.left', { allowReentry: true });
    const { data } = await track(api, 'started@example.com', 'cart.left');
    const [first] = await listEventsWithName(data.contact, 'cart.left');
    expect(first.executions.map((one: { workflowId: string }) => one.workflowId).sort()).toEqual(
      [once.id, again.id].sort(),
    );
    expect(first.notStarted).toEqual([]);
    await track(api, 'started@example.com', 'cart.left');
    const [second] = await listEventsWithName(data.contact, 'cart.left');
    expect(second.executions).toEqual([]);
    const getStartedId = (workflowId: string) =>
      first.executions.find((one: { workflowId: string }) => one.workflowId === workflowId).id;
    expect(second.notStarted).toHaveLength(2);
    expect(second.notStarted).toEqual(
      expect.arrayContaining([
        { workflowId: once.id, reason: 'active', executionId: getStartedId(once.id) },
        { workflowId: again.id, reason: 'active', executionId: getStartedId(again.id) },
      ]),
    );
    await api.call('POST', `/workflows/${once.id}/executions/cancel-all`);
    await api.call('POST', `/workflows/${again.id}/executions/cancel-all`);
    await track(api, 'started@example.com', 'cart.left');
    const [third] = await listEventsWithName(data.contact, 'cart.left');
    expect(third.executions).toMatchObject([{ workflowId: again.id }]);
    expect(third.notStarted).toEqual([
      { workflowId: once.id, reason: 'entered_before', executionId: getStartedId(once.id) },
    ]);
  });

  it('are empty, without a reason, if it triggers no workflow', async () => {
    const { data } = await track(api, 'nothing@example.com', 'ignored');
    expect(await listEventsWithName(data.contact, 'ignored')).toMatchObject([{ executions: [], notStarted: [] }]);
  });

  it('are reported for each of several concurrent events of one contact', async () => {
    const workflow = await buildListeningWorkflow('burst', { allowReentry: true });
    const responses = await Promise.all(Array.from({ length: 5 }, () => track(api, 'burst@example.com', 'burst')));
    const events = await listEventsWithName(responses[0]?.data.contact, 'burst');
    expect(events.flatMap((event: { executions: object[] }) => event.executions)).toHaveLength(1);
    expect(events.flatMap((event: { notStarted: object[] }) => event.notStarted)).toMatchObject(
      Array.from({ length: 4 }, () => ({ workflowId: workflow.id, reason: 'active' })),
    );
  });

  it('are shown to its project only', async () => {
    const { data } = await track(api, 'mine@example.com', 'cart.left');
    const { body } = await api.call('GET', `/events/contact/${data.contact}`, { key: api.two.secretKey });
    expect(body.events ?? []).toEqual([]);
  });
});

it('an event name of only spaces is refused wherever an event is recorded or listened to', async () => {
  const event = '   ';
  const readStatusAndFields = async (method: string, path: string, body: object) => {
    const response = await api.call(method, path, { body });
    return [response.status, response.body.error?.errors?.map(({ field }: { field: string }) => field)];
  };
  const { id } = (await api.call('POST', '/v1/workflows', { body: { name: 'W', eventName: 'e' } })).body;
  const filters = { operator: 'AND', conditions: [{ field: `event.${event}`, operator: 'triggered' }] };
  const wait = { type: 'WAIT_FOR_EVENT', config: { eventName: event } };
  expect(await readStatusAndFields('POST', '/v1/track', { email: 'ada@example.com', event })).toEqual([422, ['event']]);
  expect(await readStatusAndFields('POST', '/v1/events/track', { name: event })).toEqual([422, ['name']]);
  expect(await readStatusAndFields('POST', '/v1/workflows', { name: 'W', eventName: event })).toEqual([
    422,
    ['eventName'],
  ]);
  expect(await readStatusAndFields('PATCH', `/v1/workflows/${id}`, { exitOn: [{ eventName: event }] })).toEqual([
    422,
    ['exitOn.0.eventName'],
  ]);
  expect(await readStatusAndFields('POST', `/v1/workflows/${id}/steps`, wait)).toEqual([422, ['config.eventName']]);
  expect(await readStatusAndFields('POST', '/v1/segments', { name: 'S', filters })).toEqual([
    422,
    ['filters.conditions.0.field'],
  ]);
  expect(
    await readStatusAndFields('POST', '/v1/webhooks', { url: 'https://hooks.example.com', events: [event] }),
  ).toEqual([422, ['events.0']]);
  expect(
    await readStatusAndFields('POST', '/project/apply', { workflows: [{ slug: 'w', name: 'W', eventName: event }] }),
  ).toEqual([422, ['workflows.0.eventName']]);
});
