import { z } from '@hono/zod-openapi';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectFieldNames } from '../../api/http/unknown-fields.ts';
import { buildDomain } from '../build/senders.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { signIn } from '../support/session.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id });
});
afterAll(() => api.close());

/** Paths of members of request bodies that accept any fields. */
const FREE_FORM = [
  'PATCH /contacts/{id} data',
  'PATCH /contacts/{id} topics',
  // Only the stored step has the step type, so the route checks the fields of the config itself.
  'PATCH /workflows/{id}/steps/{stepId} config',
  'POST /assets file',
  'POST /contacts data',
  'POST /contacts topics',
  'POST /contacts/import file',
  'POST /contacts/import/preview file',
  'POST /events/track data',
  'POST /pixel data',
  'POST /pixel events.*.data',
  'POST /send data',
  'POST /send headers',
  // The service checks each email of a batch like a single email, so an email with an error does not refuse the others.
  'POST /send/batch emails.*',
  'POST /templates/preview data',
  'POST /track data',
  'POST /workflows/{id}/executions context',
  'POST /workflows/{id}/executions events.*.data',
  'POST /workflows/{id}/preview contact.data',
  'POST /workflows/{id}/preview context',
  'POST /workflows/{id}/preview event',
  'POST /workflows/{id}/preview events.*.data',
  'POST /workflows/{id}/preview webhooks.*.body',
];

/** Sends a form with a valid file and the parts that `change` adds. */
async function sendForm(path: string, change: (form: FormData) => void) {
  const form = new FormData();
  form.set('file', new File(['email\na@example.com\n'], 'a.csv'));
  change(form);
  const headers = { authorization: `Bearer ${api.one.secretKey}` };
  const response = await api.app.request(path, { method: 'POST', headers, body: form });
  // biome-ignore lint/suspicious/noExplicitAny: an error of any shape would fail here
  const { error } = (await response.json()) as any;
  return { status: response.status, error };
}

describe('the error message of a response', () => {
  it.each([
    [{ to: 'ada@example.com', sendat: '2030-01-01' }, /^sendat: Emails are sent immediately\.[^:]*$/],
    [{ to: 'ada' }, /^The request is not valid\. to: [^:]*$/],
  ])('for %j has its first error once', async (fields, message) => {
    const { body } = await api.call('POST', '/v1/send', { body: { subject: 'a', body: 'b', ...fields } });
    expect(body.message).toMatch(message);
  });
});

describe('a field that occurs twice', () => {
  it.each([
    ['POST', '/send', '{"to":"ada@example.com","subject":"a","body":"b","to":"bob@example.com"}', 'to'],
    ['POST', '/track', '{"event":"a","email":"ada@example.com","data":{"plan":1,"plan":2}}', 'data.plan'],
    ['POST', '/contacts', '{"email":"ada@example.com","subscribed":false,"subscribed":true}', 'subscribed'],
    ['POST', '/segments', '{"name":"a","condition":{"logic":"AND","groups":[],"groups":[]}}', 'condition.groups'],
  ])('is refused in the JSON of %s %s', async (method, path, body, field) => {
    const headers = { authorization: `Bearer ${api.one.secretKey}`, 'content-type': 'application/json' };
    const response = await api.app.request(`/v1${path}`, { method, headers, body });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ error: { errors: [{ field, code: 'duplicate_field' }] } });
  });

  it.each([
    ['/contacts/import', 'file', new File(['email\nb@example.com\n'], 'b.csv')],
    ['/contacts/import/preview', 'mapping', '{}'],
    ['/v1/assets', 'file', new File(['GIF89a'], 'b.gif')],
  ])('is refused in the form of POST %s: %s', async (path, field, value) => {
    const { status, error } = await sendForm(path, (form) => {
      form.append('mapping', '{}');
      form.append(field, value);
    });
    expect([status, error.errors]).toMatchObject([422, [{ field, code: 'duplicate_field' }]]);
  });

  it('is refused in JSON inside a form or a query', async () => {
    const { status, error } = await sendForm('/contacts/import', (form) =>
      form.append('mapping', '{"email":"email","email":null}'),
    );
    expect([status, error.errors]).toMatchObject([422, [{ field: 'mapping.email', code: 'duplicate_field' }]]);
    const condition = '{"logic":"AND","logic":"OR","groups":[{"filters":[{"field":"email","operator":"exists"}]}]}';
    const { status: ofQuery, body } = await api.call('GET', `/v1/contacts?condition=${encodeURIComponent(condition)}`);
    expect([ofQuery, body.error.errors]).toMatchObject([400, [{ field: 'condition.logic', code: 'duplicate_field' }]]);
  });

  it.each(['limit=5&limit=10', 'subscribed=true&subscribed=false', 'updatedAfter=2026-01-01&updatedAfter=2026-01-01'])(
    'is refused in a query: ?%s',
    async (query) => {
      const { status, body } = await api.call('GET', `/v1/contacts?${query}`);
      expect([status, body.error.errors[0].message]).toEqual([
        400,
        'The query contains this parameter more than once. Send it once.',
      ]);
    },
  );
});

describe('an unknown field', () => {
  const email = { to: 'a@example.com', from: 'x@shop.example.com', subject: 'S', body: '<p>b</p>' };

  it.each([
    ['/v1/send', { ...email, htmlBody: 'x' }, 'htmlBody', 'body'],
    ['/v1/send', { ...email, recipient: 'x' }, 'recipient', 'to'],
    ['/v1/send', { ...email, Subject: 'x' }, 'Subject', 'subject'],
    ['/v1/send', { ...email, template_id: 'x' }, 'template_id', 'template'],
    ['/v1/send', { ...email, dynamic_template_data: {} }, 'dynamic_template_data', 'data'],
    ['/v1/send', { ...email, attachement: [] }, 'attachement', 'attachments'],
    [
      '/v1/send',
      { ...email, attachments: [{ filename: 'a', content: 'QQ==', contentType: 'text/plain', content_id: 'x' }] },
      'attachments.0.content_id',
      'contentId',
    ],
    ['/v1/sms/send', { to: '+4915112345678', body: 'b', text: 'x' }, 'text', 'body'],
    [`/campaigns/${uuidv7()}/send`, { scheduled_at: '2030-01-01T00:00:00Z' }, 'scheduled_at', 'scheduledFor'],
    [`/campaigns/${uuidv7()}/send`, { schedule_time: '2030-01-01T00:00:00Z' }, 'schedule_time', 'scheduledFor'],
    [`/campaigns/${uuidv7()}/send`, { scheduledFro: '2030-01-01T00:00:00Z' }, 'scheduledFro', 'scheduledFor'],
    ['/campaigns', { name: 'N', list_id: 'x' }, 'list_id', 'segmentId'],
    ['/campaigns', { name: 'N', subject_line: 'x' }, 'subject_line', 'subject'],
    [`/workflows/${uuidv7()}/executions`, { contact_id: 'x' }, 'contact_id', 'contactId'],
    [`/workflows/${uuidv7()}/executions`, { variables: {} }, 'variables', 'context'],
    ['/contacts/bulk-delete', { contacts: ['x'] }, 'contacts', 'contactIds'],
  ])('is refused in POST %s %j as %s, and %s is suggested', async (path, body, field, meant) => {
    const { status, body: response } = await api.call('POST', path, { body });
    expect([status, response.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(response.error.errors[0]).toMatchObject({ field, code: 'unrecognized_keys' });
    if (meant === undefined) expect(response.error.errors[0].message).not.toContain('Did you mean');
    else expect(response.error.errors[0].message).toBe(`Unknown field. Did you mean ${meant}?`);
    if (meant !== undefined) expect(response.error.suggestion).toContain(`Did you mean ${meant}`);
  });

  it.each(['constructor', 'toString', 'hasOwnProperty', '__proto__'])(
    'is recognized if it is named %s, which every JavaScript object has',
    async (name) => {
      const body = JSON.parse(`${JSON.stringify(email).slice(0, -1)},"${name}":1}`);
      const { status, body: response } = await api.call('POST', '/v1/send', { body });
      expect([status, response.error.errors?.[0]]).toMatchObject([422, { field: name, code: 'unrecognized_keys' }]);
      const query = await api.call('GET', `/v1/contacts?${name}=1`);
      expect([query.status, query.body.error.errors[0].field]).toEqual([400, name]);
    },
  );

  it('an unknown field is not reported for an email header with the name of a built-in property of objects', async () => {
    const { status } = await api.call('POST', '/v1/send', { body: { ...email, headers: { constructor: 'x' } } });
    expect(status).toBe(200);
  });

  it.each([
    ['/v1/send', { ...email, scheduled_at: '2030-01-01' }, 'scheduled_at', 'POST /v1/campaigns/{id}/send'],
    ['/v1/send', { ...email, idempotency_key: 'x' }, 'idempotency_key', 'header Idempotency-Key'],
    ['/v1/contacts', { email: 'a@example.com', idempotencyKey: 'x' }, 'idempotencyKey', 'header Idempotency-Key'],
    ['/v1/contacts', { email: 'a@example.com', unsubscribed: true }, 'unsubscribed', 'Send subscribed instead'],
    ['/v1/contacts', { email: 'a@example.com', optOut: true }, 'optOut', 'Send subscribed instead'],
    ['/v1/contacts', { email: 'a@example.com', Subscribed: false }, 'Subscribed', 'Did you mean subscribed?'],
    ['/v1/contacts', { email: 'a@example.com', email_consent: false }, 'email_consent', 'Did you mean subscribed?'],
    ['/v1/contacts', { email: 'a@example.com', doNotEmail: true }, 'doNotEmail', 'Send subscribed instead'],
    ['/v1/contacts', { email: 'a@example.com', sms_opt_out: true }, 'sms_opt_out', '/v1/sms/stops'],
    ['/v1/contacts', { email: 'a@example.com', status: 'unsubscribed' }, 'status', 'Did you mean subscribed?'],
    ['/v1/contacts', { email: 'a@example.com', smsSubscribed: false }, 'smsSubscribed', '/v1/sms/stops'],
    ['/v1/events/track', { name: 'paid', email: 'a@example.com' }, 'email', 'Send contactId instead'],
    ['/project/apply', { topics: [], dry_run: true }, 'dry_run', 'has the field dryRun'],
    ['/v1/topics', { name: 'Not now', dryRun: true }, 'dryRun', 'An operation with a dry run'],
  ])('is refused in POST %s %j as %s: %s', async (path, body, field, remedy) => {
    const { status, body: response } = await api.call('POST', path, { body });
    expect([status, response.error.errors]).toMatchObject([422, [{ field, code: 'unrecognized_keys' }]]);
    expect(response.error.errors[0].message).toContain(remedy);
  });

  it('is refused in a new API key, because the key would have more rights than requested', async () => {
    const headers = await signIn(api, api.one);
    const createKey = (body: object) => api.call('POST', '/apikeys', { key: null, headers, body });
    const key = { name: 'K', scopes: ['email:send'] };
    const { status, body } = await createKey({ ...key, test: true, expiresIn: 3600, domainId: 'x' });
    expect([status, body.error.errors]).toMatchObject([
      422,
      [{ field: 'test' }, { field: 'expiresIn' }, { field: 'domainId' }],
    ]);
    expect(body.error.errors[0].message).toContain('mode');
    expect((await createKey(key)).status).toBe(201);
  });

  it('is accepted if it is the read-only field subscription of a contact that was read and is sent back', async () => {
    const { body: contact } = await api.call('POST', '/v1/contacts', { body: { email: 'back@example.com' } });
    const { _meta, ...record } = contact;
    const path = `/v1/contacts/${record.id}`;
    const changed = await api.call('PATCH', path, { body: { ...record, subscribed: false } });
    expect([changed.status, changed.body.subscription]).toEqual([200, 'unsubscribed']);
    const refused = await api.call('PATCH', path, { body: { subscription: 'subscribed' } });
    expect([refused.status, refused.body.error.errors]).toMatchObject([422, [{ field: 'subscription' }]]);
  });

  it('stores nothing: no contact, no email, no key', async () => {
    const idempotencyKey = uuidv7();
    const sendEmail = (body: object) =>
      api.call('POST', '/v1/send', { body, headers: { 'idempotency-key': idempotencyKey } });
    const fresh = { ...email, to: 'unseen@example.com' };
    expect((await sendEmail({ ...fresh, sendAt: 'x' })).status).toBe(422);
    expect((await api.call('POST', '/contacts/lookup', { body: { emails: ['unseen@example.com'] } })).status).toBe(200);
    const rows = await api.db.selectFrom('contacts').select('id').where('email', '=', 'unseen@example.com').execute();
    expect(rows).toEqual([]);
    expect((await sendEmail(fresh)).status).toBe(200);
  });

  it.each(['/contacts/import', '/contacts/import/preview'])('is refused in the form of POST %s', async (path) => {
    const { status, error } = await sendForm(path, (form) => form.set('maping', '{}'));
    expect([status, error.errors]).toEqual([
      422,
      [{ field: 'maping', message: 'Unknown field. Did you mean mapping?', code: 'unrecognized_keys' }],
    ]);
  });

  it('has an encoded name in the response header, which can be decoded', async () => {
    const names = ['prénom', '名'.repeat(60), 'a,b', 'x\r\ny', 'a'.repeat(500)];
    const fields = Object.fromEntries(names.map((name) => [name, 1]));
    const { headers } = await api.call('POST', '/v1/topics', { body: { name: 'Ignored', ...fields } });
    const ignored = (headers.get('x-ignored-fields') ?? '').split(', ').map(decodeURIComponent);
    expect(ignored).toHaveLength(names.length);
    for (const [i, name] of ignored.entries()) expect(names[i]?.startsWith(name) && name.length > 0).toBe(true);
  });

  it('is named if the operation has no body; a form instead of JSON returns 415', async () => {
    const endpoint = await api.call('POST', '/v1/webhooks', { body: { url: 'https://x.test/hooks', events: ['*'] } });
    const path = `/v1/webhooks/${endpoint.body.id}/rotate-secret`;
    const rotated = await api.call('POST', path, { body: { secret: 'whsec_mine' } });
    expect([rotated.status, rotated.headers.get('x-ignored-fields')]).toEqual([200, 'secret']);
    const form = await api.app.request(`/v1/campaigns/${uuidv7()}/cancel`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.one.secretKey}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'scheduledFor=2030-01-01',
    });
    expect(form.status).toBe(415);
  });

  it('is named in the config of a step', async () => {
    const { body: workflow } = await api.call('POST', '/v1/workflows', { body: { name: 'W', eventName: 'e' } });
    const path = `/v1/workflows/${workflow.id}/steps`;
    const config = { amount: 1, unit: 'days', untill: '09:00' };
    const step = await api.call('POST', path, { body: { type: 'DELAY', config, nmae: 'x' } });
    expect([step.status, step.headers.get('x-ignored-fields')]).toEqual([201, 'config.untill, nmae']);
    const changed = await api.call('PATCH', `${path}/${step.body.id}`, { body: { config } });
    expect([changed.status, changed.headers.get('x-ignored-fields')]).toEqual([200, 'config.untill']);
    const graph = { entryStepId: 'a', steps: [{ id: 'a', type: 'DELAY', name: 'A', config }], transitions: [] };
    const saved = await api.call('PUT', `/v1/workflows/${workflow.id}/graph`, { body: { ...graph, dryRun: true } });
    expect([saved.status, saved.headers.get('x-ignored-fields')]).toEqual([200, 'steps.0.config.untill']);
    const wait = { type: 'WAIT_FOR_EVENT', config: { eventName: 'paid', filters: [] } };
    const condition = { type: 'CONDITION', config: { field: 'data.plan', operator: 'equals', value: 'pro' } };
    for (const body of [wait, condition]) {
      const { status, headers } = await api.call('POST', path, { body });
      expect([status, headers.get('x-ignored-fields')]).toEqual([201, null]);
    }
    const header = { type: 'WEBHOOK', config: { url: 'https://x.test', headers: { 'X-A': 'a\r\nb' } } };
    const refused = await api.call('POST', path, { body: header });
    expect([refused.status, refused.body.error.errors[0].field]).toEqual([422, 'config.headers.X-A']);
  });

  const filter = { field: 'data.plan', operator: 'equals', value: 'pro', filed: 'x' };
  const condition = { logic: 'AND', groups: [{ filters: [filter] }] };

  it('is refused in a condition where something is sent or started', async () => {
    const campaign = {
      name: 'N',
      subject: 'S',
      body: '<p>b</p>',
      from: 'x@shop.example.com',
      audienceType: 'FILTERED',
    };
    const bodies: [string, object, string][] = [
      ['/campaigns', { ...campaign, audienceFilter: condition }, 'audienceFilter.groups.0.filters.0.filed'],
      ['/campaigns', { ...campaign, filters: { operator: 'AND', conditions: [filter] } }, 'filters.conditions.0.filed'],
      ['/contacts/bulk-delete', { where: { condition } }, 'where.condition.groups.0.filters.0.filed'],
    ];
    for (const [path, body, field] of bodies) {
      const refused = await api.call('POST', path, { body });
      expect([refused.status, refused.body.error.errors]).toEqual([
        422,
        [{ field, message: 'Unknown field. Did you mean field?', code: 'unrecognized_keys' }],
      ]);
    }
    const mapping = JSON.stringify({ email: { field: 'email', tpye: 'string' } });
    const { status, error } = await sendForm('/contacts/import', (form) => form.set('mapping', mapping));
    expect([status, error.errors]).toMatchObject([422, [{ field: 'mapping.email.tpye', code: 'unrecognized_keys' }]]);
    const list = await api.call('GET', `/v1/contacts?condition=${encodeURIComponent(JSON.stringify(condition))}`);
    expect([list.status, list.body.error.errors[0]]).toMatchObject([
      400,
      { field: 'condition.groups.0.filters.0.filed', code: 'unrecognized_keys' },
    ]);
  });

  it('is named with its path in a condition of another write', async () => {
    const place = 'groups.0.filters.0.filed';
    const segment = await api.call('POST', '/v1/segments', { body: { name: 'Filed', filters: condition } });
    expect([segment.status, segment.headers.get('x-ignored-fields')]).toEqual([201, `filters.${place}`]);
    const document = {
      dryRun: true,
      settings: { frequencyCap: { max: 1, days: 7, dyas: 8 } },
      segments: [{ slug: 'filed', name: 'Filed', condition, color: 'red' }],
      workflows: [
        {
          slug: 'w',
          name: 'W',
          exitOn: [{ eventName: 'done', filters: [filter] }],
          steps: [{ slug: 'a', type: 'CONDITION', config: condition, nmae: 'A' }],
        },
      ],
    };
    const owner = await signIn(api, api.one);
    const applied = await api.call('POST', '/project/apply', { body: document, key: null, headers: owner });
    expect([applied.status, applied.headers.get('x-ignored-fields')?.split(', ')]).toEqual([
      200,
      [
        'settings.frequencyCap.dyas',
        `segments.0.condition.${place}`,
        'segments.0.color',
        'workflows.0.exitOn.0.filters.0.filed',
        `workflows.0.steps.0.config.${place}`,
        'workflows.0.steps.0.nmae',
      ],
    ]);
  });

  it('is ignored silently only in data of the caller', () => {
    const places = api.app.openAPIRegistry.definitions.flatMap((definition) => {
      if (definition.type !== 'route') return [];
      const { method, path, request } = definition.route;
      return Object.values(request?.body?.content ?? {}).flatMap((content) => {
        const schema = content && 'schema' in content ? content.schema : undefined;
        const free = schema instanceof z.ZodType ? collectFieldNames(schema).freeForm() : [];
        return free.map((place) => `${method.toUpperCase()} ${path.replace(/^\/v1\//, '/')} ${place}`);
      });
    });
    expect([...new Set(places)].sort()).toEqual(FREE_FORM);
  });

  it('is accepted inside `data` and `context`', async () => {
    const { status } = await api.call('POST', '/v1/send', { body: { ...email, data: { scheduled_at: 'x' } } });
    expect(status).toBe(200);
  });
});

describe('a schedule in a campaign that is not scheduled', () => {
  const draft = { name: 'N', subject: 'S', body: '<p>b</p>', from: 'x@shop.example.com', audienceType: 'ALL' };
  const remedy = 'A draft has no schedule. To schedule it, call POST /campaigns/{id}/send with scheduledFor.';

  it.each(['scheduledFor', 'scheduledAt', 'scheduled_at'])('is refused in a new campaign, as %s', async (field) => {
    const { status, body } = await api.call('POST', '/v1/campaigns', {
      body: { ...draft, [field]: '2030-01-01T09:00:00Z' },
    });
    expect([status, body.error]).toMatchObject([
      422,
      { suggestion: remedy, errors: [{ field, message: remedy, code: 'unrecognized_keys' }] },
    ]);
  });

  it('is refused in a draft', async () => {
    const { data } = (await api.call('POST', '/v1/campaigns', { body: { ...draft, scheduledFor: null } })).body;
    for (const field of ['scheduledFor', 'scheduledAt']) {
      const { status, body } = await api.call('PUT', `/v1/campaigns/${data.id}`, {
        body: { ...data, [field]: '2030-01-01T09:00:00Z' },
      });
      expect([status, body.error]).toMatchObject([422, { errors: [{ field: 'scheduledFor', message: remedy }] }]);
    }
  });

  it('is read-only in a copy of a whole record', async () => {
    const { data } = (await api.call('POST', '/v1/campaigns', { body: draft })).body;
    const at = '2030-01-01T09:00:00.000Z';
    const copy = { ...data, slug: undefined, scheduledFor: at, scheduledAt: at };
    const { status, body, headers } = await api.call('POST', '/v1/campaigns', { body: copy });
    expect([status, body.data?.status]).toEqual([200, 'DRAFT']);
    expect(headers.get('x-ignored-fields')).toContain('scheduledFor');
  });
});

describe('a campaign that was fetched, edited and sent back', () => {
  it('is accepted, and its read-only fields are named as ignored', async () => {
    const created = await api.call('POST', '/campaigns', {
      body: { name: 'N', subject: 'S', body: '<p>b</p>', from: 'x@shop.example.com', audienceType: 'ALL' },
    });
    const { body: fetched } = await api.call('GET', `/campaigns/${created.body.data.id}`);
    const record = fetched.data ?? fetched;
    const put = await api.call('PUT', `/campaigns/${record.id}`, { body: { ...record, subject: 'S2' } });
    expect([put.status, put.body.error]).toEqual([200, undefined]);
    expect((put.body.data ?? put.body).subject).toBe('S2');
    const ignored = put.headers.get('x-ignored-fields')?.split(', ');
    expect(ignored).toEqual(expect.arrayContaining(['id', 'status', 'createdAt']));
    const copy = await api.call('POST', '/campaigns', { body: { ...record, slug: undefined, name: 'Copy' } });
    expect([copy.status, copy.body.error]).toEqual([200, undefined]);
  });

  it('is refused with a field that campaigns do not have', async () => {
    const { status, body } = await api.call('PUT', `/campaigns/${uuidv7()}`, { body: { id: 'x', subjcet: 'S' } });
    expect([status, body.error.errors.map(({ field }: { field: string }) => field)]).toEqual([422, ['subjcet']]);
  });

  it('is refused for an unknown field after its read-only fields; without the unknown field, all read-only fields are named', async () => {
    const body = { name: 'Whole', subject: 'S', body: '<p>b</p>', from: 'x@shop.example.com', audienceType: 'ALL' };
    const { id } = (await api.call('POST', '/campaigns', { body })).body.data;
    const { body: record } = await api.call('GET', `/campaigns/${id}`);
    const refused = await api.call('PUT', `/campaigns/${id}`, { body: { ...record, scheduled_for: 'x' } });
    expect([refused.status, refused.body.error.errors[0].field]).toEqual([422, 'scheduled_for']);
    const taken = await api.call('PUT', `/campaigns/${id}`, { body: record });
    const ignored = taken.headers.get('x-ignored-fields')?.split(', ') ?? [];
    expect([taken.status, Object.keys(record)]).toEqual([200, expect.arrayContaining(ignored)]);
    expect(ignored).toEqual(expect.arrayContaining(['bouncedCount', 'failedCount', 'totalRecipients']));
    expect(ignored.length).toBeGreaterThan(20);
  });

  it('is refused with all of its errors', async () => {
    const { body } = await api.call('POST', '/campaigns', { body: { nme: 'N', subject: 'S', body: 4 } });
    const fields = body.error.errors.map(({ field }: { field: string }) => field);
    expect(fields[0]).toBe('nme');
    expect(fields).toEqual(expect.arrayContaining(['nme', 'name', 'body']));
  });
});

describe('any record that was fetched, edited and sent back', () => {
  const condition = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
  };
  it.each([
    ['topics', { name: 'Back' }, { name: 'Sent back' }],
    ['segments', { name: 'Back', filters: condition, trackMembership: true }, { name: 'Sent back' }],
    ['segments', { name: 'Back by hand', type: 'STATIC' }, { name: 'Sent back by hand' }],
    ['templates', { name: 'Back', subject: 'S', body: '<p>b</p>', type: 'MARKETING' }, { subject: 'Edited' }],
    [
      'workflows',
      { name: 'Back', eventName: 'e', exitOn: [{ eventName: 'done' }], allowReentry: true },
      { name: 'Sent back' },
    ],
    ['contacts', { email: 'back@x.test', data: { plan: 'pro' } }, { email: 'back2@x.test' }],
    ['webhooks', { url: 'https://hooks.example.com/back', events: ['*'] }, { description: 'Edited' }],
  ])('an edited record of /%s is accepted, and its read-only fields are named', async (resource, body, edit) => {
    const created = await api.call('POST', `/v1/${resource}`, { body });
    expect([created.status, created.body.error]).toEqual([201, undefined]);
    const path = `/v1/${resource}/${created.body.id}`;
    const { body: record } = await api.call('GET', path);
    const sent = await api.call('PATCH', path, { body: { ...record, ...edit } });
    expect([sent.status, sent.body.error]).toEqual([200, undefined]);
    const ignored = sent.headers.get('x-ignored-fields')?.split(', ') ?? [];
    expect(ignored).toEqual(expect.arrayContaining(['id', 'createdAt']));
    expect(Object.keys(record)).toEqual(expect.arrayContaining(ignored));
    const { updatedAt: _, ...rest } = record;
    const { body: now } = await api.call('GET', path);
    expect(now).toMatchObject({ ...rest, ...edit, ...('memberCount' in now && { memberCount: now.memberCount }) });
  });
});

describe('a field of a request that has no effect because of another field', () => {
  it.each(['campaigns', 'templates', 'workflows'])('is refused for the page size of /%s', async (resource) => {
    const { status, body } = await api.call('GET', `/v1/${resource}?pageSize=2&limit=5`);
    expect([status, body.error.errors[0].field]).toEqual([400, 'limit']);
    expect((await api.call('GET', `/v1/${resource}?pageSize=5&limit=5`)).status).toBe(200);
  });

  it('is named as ignored in the members of a segment', async () => {
    const { body: segment } = await api.call('POST', '/v1/segments', { body: { name: 'Useless', type: 'STATIC' } });
    const addMembers = (body: object) => api.call('POST', `/v1/segments/${segment.id}/members`, { body });
    const named = await addMembers({ emails: ['new@x.test'], subscribed: false, name: 'N' });
    expect([named.status, named.headers.get('x-ignored-fields')]).toEqual([200, 'name, subscribed']);
    const used = await addMembers({ emails: ['new@x.test'], subscribed: false, createMissing: true });
    expect(used.headers.get('x-ignored-fields')).toBeNull();
    const { data } = (await api.call('GET', '/v1/contacts?search=new@x.test')).body;
    expect(data).toMatchObject([{ subscribed: false }]);
  });

  it('is refused or named as ignored in a step', async () => {
    const template = { name: 'T', subject: 'S', body: '<p>b</p>', type: 'TRANSACTIONAL' };
    const [{ id: one }, { id: two }] = [
      (await api.call('POST', '/v1/templates', { body: template })).body,
      (await api.call('POST', '/v1/templates', { body: template })).body,
    ];
    const path = `/v1/workflows/${(await api.call('POST', '/v1/workflows', { body: { name: 'Useless' } })).body.id}/steps`;
    const postAndReadRefusal = async (body: object) => {
      const response = await api.call('POST', path, { body });
      return [response.status, response.body.error?.errors[0].field];
    };
    expect(await postAndReadRefusal({ type: 'EXIT', templateId: one })).toEqual([422, 'templateId']);
    const request = { url: 'https://hooks.example.com', method: 'GET', body: '{}' };
    const unsent = await api.call('POST', path, { body: { type: 'WEBHOOK', config: request } });
    expect([unsent.status, unsent.headers.get('x-ignored-fields')]).toEqual([201, 'config.body']);
    expect(await postAndReadRefusal({ type: 'SEND_EMAIL', templateId: one, config: { templateId: two } })).toEqual([
      422,
      'config.templateId',
    ]);
    const recipient = { type: 'CONTACT', customEmail: 'ada@x.test' };
    expect(await postAndReadRefusal({ type: 'SEND_EMAIL', config: { recipient } })).toEqual([
      422,
      'config.recipient.customEmail',
    ]);
    const { body: step } = await api.call('POST', path, { body: { type: 'SEND_EMAIL', templateId: one } });
    const editStep = async (body: object) => (await api.call('PATCH', `${path}/${step.id}`, { body })).body.templateId;
    expect(await editStep({ ...step, config: { templateId: two } })).toBe(two);
    expect(await editStep({ templateId: one })).toBe(one);
    expect(await editStep({ name: 'Named' })).toBe(one);
    expect(await editStep({ templateId: null })).toBeNull();
  });

  it('is refused in an import', async () => {
    const { status, error } = await sendForm('/v1/contacts/import?triggerWorkflows=false', (form) =>
      form.set('triggerWorkflows', 'true'),
    );
    expect([status, error.errors[0].field]).toEqual([422, 'triggerWorkflows']);
  });

  it('is refused in the preview of a workflow', async () => {
    const { body: workflow } = await api.call('POST', '/v1/workflows', { body: { name: 'Previewed' } });
    const previewWorkflow = (body: object) => api.call('POST', `/v1/workflows/${workflow.id}/preview`, { body });
    const contact = { email: 'ada@x.test' };
    const unknown = await previewWorkflow({ contact, webhooks: [{ step: 'nope', status: 500 }] });
    expect([unknown.status, unknown.body.error.errors[0].field]).toEqual([422, 'webhooks.0.step']);
    const misplaced = await previewWorkflow({ contact: { ...contact, data: { subscribed: false } } });
    expect([misplaced.status, misplaced.body.error.errors[0].field]).toEqual([422, 'contact.data.subscribed']);
  });

  it('is refused where a campaign is sent', async () => {
    const campaign = { name: 'Late', subject: 'S', body: '<p>b</p>', from: 'a@shop.example.com', audienceType: 'ALL' };
    const { id } = (await api.call('POST', '/v1/campaigns', { body: campaign })).body.data;
    const body = { scheduledFor: '2090-01-01', latePolicy: 'SKIP' };
    const { status, body: response } = await api.call('POST', `/v1/campaigns/${id}/send`, { body });
    expect([status, response.error.errors[0].field]).toEqual([422, 'latePolicy']);
  });
});

it('the preview of a template accepts non-persistent values, as a send does', async () => {
  const data = { code: { value: 4711, persistent: false } };
  const { body } = await api.call('POST', '/v1/templates/preview', { body: { subject: '{{code}}', body: 'b', data } });
  expect(body.subject).toBe('4711');
});

it('a query parameter with a list that has an unknown value returns an error that names the accepted values', async () => {
  const { status, body } = await api.call('GET', '/v1/activity?types=email.sent,bogus');
  expect([status, body.error.errors[0]]).toMatchObject([400, { field: 'types', code: 'invalid_enum_value' }]);
  expect(body.error.errors[0].message).toContain('email.sent');
});

describe('a request header', () => {
  it.each([
    ['PATCH', `/v1/contacts/${uuidv7()}`, { 'if-match': '"lmn4w1c0"' }, 'without If-Match'],
    ['POST', '/v1/contacts', { 'x-idempotency-key': 'order-1' }, 'as Idempotency-Key'],
    ['POST', '/v1/send', { 'x-idempotency-key': 'order-1' }, 'as Idempotency-Key'],
  ])(
    'a header that %s %s does not support returns 400 and says what to use instead: %j',
    async (method, path, headers, remedy) => {
      const { status, body } = await api.call(method, path, { body: {}, headers });
      expect([status, body.error]).toMatchObject([
        400,
        { code: 'BAD_REQUEST', suggestion: expect.stringContaining(remedy) },
      ]);
    },
  );
});

describe('a wrong path or method', () => {
  it.each([
    ['GET', '/v1/contcats', 'Did you mean /v1/contacts?'],
    ['POST', '/api/v1/send', 'Did you mean /v1/send?'],
    ['POST', '/send', 'Did you mean /v1/send?'],
    ['GET', '/v1/campaign', 'Did you mean /v1/campaigns?'],
    ['POST', '/emails', 'Did you mean POST /v1/send?'],
    ['POST', '/v3/mail/send', 'Did you mean POST /v1/send?'],
    ['GET', '/nothing/like/it', 'See /docs for all operations and their paths.'],
  ])('%s %s returns 404: %s', async (method, path, suggestion) => {
    const { status, body } = await api.call(method, path);
    expect([status, body.error.suggestion]).toEqual([404, suggestion]);
  });

  it.each([
    ['GET', `/v1/contacts/${uuidv7()}`, '/v1/contacts'],
    ['DELETE', `/templates/${uuidv7()}`, '/templates'],
    ['GET', `/v1/workflows/${uuidv7()}/executions/${uuidv7()}`, '/v1/workflows'],
  ])('%s %s without such a record returns 404 and names the list of records', async (method, path, list) => {
    const { status, body } = await api.call(method, path);
    expect([status, body.error.suggestion]).toEqual([
      404,
      expect.stringContaining(`GET ${list} lists the records of your project`),
    ]);
    expect((await api.call('GET', list)).status).toBe(200);
  });

  it.each([
    ['POST', '/v1/emails', 'POST /v1/send'],
    ['POST', '/v1/events', 'POST /v1/track'],
    ['POST', '/contacts/create', 'POST /v1/contacts'],
  ])('%s %s, a path of other services, returns 405: %s', async (method, path, meant) => {
    const { status, body } = await api.call(method, path, { body: {} });
    expect([status, body.error.suggestion]).toEqual([405, `Did you mean ${meant}?`]);
  });

  it('returns 405 with the methods of the path', async () => {
    const { status, body, headers } = await api.call('PUT', '/v1/contacts/fields');
    expect([status, headers.get('allow'), body.error.suggestion]).toEqual([405, 'GET, HEAD', 'Use GET or HEAD.']);
  });
});

describe('the suggestion of an error', () => {
  it.each([
    ['no file', (form: FormData) => form.delete('file'), 'Required'],
    ['a file that is text', (form: FormData) => form.set('file', 'email'), 'Must be a file'],
  ])('names the file for %s in a form', async (_, change, message) => {
    const { status, error } = await sendForm('/contacts/import', change);
    expect([status, error.errors]).toMatchObject([422, [{ field: 'file', code: 'invalid_type' }]]);
    expect(error.errors[0].message).toContain(message);
  });

  it('is about forms if the form cannot be read', async () => {
    const response = await api.app.request('/contacts/import', {
      method: 'POST',
      headers: { authorization: `Bearer ${api.one.secretKey}`, 'content-type': 'multipart/form-data' },
      body: 'x',
    });
    // biome-ignore lint/suspicious/noExplicitAny: an error of any shape would fail here
    const { error } = (await response.json()) as any;
    expect([response.status, error.suggestion]).toEqual([400, expect.stringContaining('form')]);
  });

  it.each([
    ['limit=99999999999999999999', 'Must be at most 100'],
    ['createdAfter=2026-01-01T00:00:00+02:00', 'write the + of an offset as %2B'],
  ])('for ?%s says: %s', async (query, message) => {
    const { status, body } = await api.call('GET', `/v1/contacts?${query}`);
    expect([status, body.error.errors[0].message]).toEqual([400, expect.stringContaining(message)]);
  });

  it('names the documentation for a path that is only a version', async () => {
    const { body } = await api.call('GET', '/v1/');
    expect(body.error.suggestion).toBe('See /docs for all operations and their paths.');
  });
});

it('an operation that needs a session tells a caller with a key what to use', async () => {
  const project = await api.call('GET', '/project');
  expect([project.status, project.body.error.code]).toEqual([401, 'INVALID_API_KEY']);
  expect(project.body.error.message).toContain('session');
  const [, path = ''] = /GET (\S+?),/.exec(project.body.error.suggestion) ?? [];
  expect((await api.call('GET', path)).status).toBe(200);
  const change = await api.call('PATCH', '/project', { body: { name: 'x' } });
  expect(change.body.error.suggestion).toMatch(/^Change settings in the dashboard, or sign in with POST/);
  const team = await api.call('GET', '/team');
  expect(team.body.error.suggestion).toContain('POST /auth/login');
});
