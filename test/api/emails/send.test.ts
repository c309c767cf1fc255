import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addSuppressions, CONSENT_PAGE_SOURCE } from '../../../db/contacts/suppressions.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { setOperatorLimits } from '../../../engine/projects/operator-limits.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { buildDomain, buildTemplate, TEST_SECRET_KEY } from '../../build/senders.ts';
import { buildApiKey, buildProject, startTestApi, type TestApi } from '../../support/api.ts';
import { signIn } from '../../support/session.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id });
});
afterAll(() => api.close());

const from = { name: 'Shop', email: 'Hello@Shop.example.com' };
const createEmailBody = (to: unknown, more: object = {}) => ({
  to,
  from,
  subject: 'Hi {{name}}',
  body: '<p>{{name}}</p>',
  ...more,
});
const send = (body: unknown, headers: Record<string, string> = {}, key = api.one.secretKey) =>
  api.call('POST', '/v1/send', { body, headers, key });

async function readEmail(id: string) {
  return api.db.selectFrom('emails').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}
async function readContact(email: string) {
  const query = api.db.selectFrom('contacts').selectAll().where('project_id', '=', api.one.id);
  return query.where('email', '=', email).executeTakeFirstOrThrow();
}

it('an address in two spellings gets one email', async () => {
  const to = ['twice@to.test', { name: 'T', email: 'TWICE@to.test' }, 'Twice <twice@To.test>', 'once@to.test'];
  const { body } = await send(createEmailBody(to));
  const emails = body.data.emails.map(({ contact }: { contact: { email: string } }) => contact.email);
  expect(emails).toEqual(['twice@to.test', 'once@to.test']);
});

it('each recipient gets a separate email, in the order of `to`, with an outbox row', async () => {
  const r = await send(createEmailBody(['a1@example.com', { name: 'B', email: 'B1@example.com' }]));
  expect(r.status).toBe(200);
  expect(r.body.success).toBe(true);
  expect(r.body.data.emails.map((e: { contact: { email: string } }) => e.contact.email)).toEqual([
    'a1@example.com',
    'b1@example.com',
  ]);
  const second = await readEmail(r.body.data.emails[1].email);
  expect(second).toMatchObject({ status: 'PENDING', mode: 'live', to_name: 'B', source_type: 'TRANSACTIONAL' });
  expect(api.dispatched.filter((row) => row.refId === second.id)).toHaveLength(1);
});

it('a new contact is unsubscribed unless the request says otherwise, and an existing contact keeps its state', async () => {
  await send(createEmailBody('state@example.com'));
  expect((await readContact('state@example.com')).subscribed).toBe(false);
  await send(createEmailBody('state@example.com', { subscribed: true }));
  await send(createEmailBody('state@example.com'));
  const contact = await readContact('state@example.com');
  expect(contact.subscribed).toBe(true);
  const events = await api.db.selectFrom('events').select('name').where('contact_id', '=', contact.id).execute();
  expect(events.map((event) => event.name)).toEqual(['contact.subscribed']);
});

it('data is merged into the contact, and non-persistent values apply to this email only', async () => {
  await send(createEmailBody('data@example.com', { data: { name: 'Ada', plan: 'pro', age: 3 } }));
  const data = { name: '', plan: null, email: 'x@y.z', once: { value: 'now', persistent: false } };
  const r = await send(createEmailBody('data@example.com', { data }));
  expect((await readContact('data@example.com')).data).toEqual({ name: 'Ada', age: 3 });
  expect((await readEmail(r.body.data.emails[0].email)).variables).toEqual({ name: 'Ada', age: 3, once: 'now' });
});

it('a template provides subject, body, sender and reply-to, and the request can override each', async () => {
  const template = await buildTemplate(api.db, { projectId: api.one.id });
  const plain = await send({ to: 't@example.com', template });
  const over = await send({ to: 't@example.com', template, subject: 'Own', from: 'own@shop.example.com', name: 'Me' });
  const contents = await Promise.all(
    [plain, over].map(async (r) => {
      const { content_id } = await readEmail(r.body.data.emails[0].email);
      return api.db.selectFrom('contents').selectAll().where('id', '=', content_id).executeTakeFirstOrThrow();
    }),
  );
  expect(contents[0]).toMatchObject({
    subject: 'Hello {{name}}',
    from_email: 'template@shop.example.com',
    from_name: 'The template',
    reply_to: 'reply@shop.example.com',
    template_id: template,
  });
  expect(contents[1]).toMatchObject({ subject: 'Own', from_email: 'own@shop.example.com', from_name: 'Me' });
});

it('identical requests share one content row', async () => {
  const [a, b] = await Promise.all([send(createEmailBody('c1@example.com')), send(createEmailBody('c2@example.com'))]);
  const one = await readEmail(a.body.data.emails[0].email);
  const two = await readEmail(b.body.data.emails[0].email);
  expect(one.content_id).toBe(two.content_id);
});

it('an unknown template returns 404, an unverified sender returns 400, and neither stores anything', async () => {
  const unknown = '0190a000-0000-7000-8000-000000000000';
  const missing = await send({ to: 'gone@example.com', template: unknown }, { 'idempotency-key': 'gone' });
  expect([missing.status, missing.body.error.code]).toEqual([404, 'TEMPLATE_NOT_FOUND']);
  const foreign = await send(createEmailBody('gone@example.com', { from: 'x@elsewhere.com' }), {
    'idempotency-key': 'gone',
  });
  expect([foreign.status, foreign.body.error.code]).toEqual([400, 'DOMAIN_NOT_VERIFIED']);
  expect((await send({ to: 'gone@example.com', template: 'no-uuid' })).status).toBe(404);
  const left = await sql`
    SELECT 1 FROM contacts WHERE email = 'gone@example.com' UNION ALL SELECT 1 FROM idempotency_keys WHERE key = 'gone'
  `.execute(api.db);
  expect(left.rows).toEqual([]);
  expect((await send(createEmailBody('gone2@example.com'), { 'idempotency-key': 'gone' })).status).toBe(200);
});

it('a marketing template to an unsubscribed contact is sent to no recipient, unless the request subscribes the contact', async () => {
  const template = await buildTemplate(api.db, { projectId: api.one.id, type: 'MARKETING' });
  await send(createEmailBody('in@example.com', { subscribed: true }));
  const r = await send({ to: ['in@example.com', 'out@example.com'], template });
  expect([r.status, r.body.error.code]).toEqual([400, 'CONTACT_UNSUBSCRIBED']);
  expect(r.body.error.details.emails).toEqual(['out@example.com']);
  expect((await send({ to: 'out@example.com', template, subscribed: true })).status).toBe(200);
  expect((await send({ to: 'in@example.com', template, subscribed: false })).status).toBe(400);
  expect((await readContact('in@example.com')).subscribed).toBe(true);
});

it('a marketing template is not sent to a contact whose refusal the project protects, even with subscribed: true', async () => {
  const template = await buildTemplate(api.db, { projectId: api.one.id, type: 'MARKETING' });
  const protectRefusals = (isProtected: boolean) =>
    api.db.updateTable('projects').set({ resubscribe_protected: isProtected }).where('id', '=', api.one.id).execute();
  const refusals = [
    { email: 'left@example.com', reason: 'unsubscribe', source: CONSENT_PAGE_SOURCE },
    { email: 'complained@example.com', reason: 'complaint', source: 'smtp' },
    // The project added this entry itself, so it may also end it.
    { email: 'listed@example.com', reason: 'unsubscribe', source: 'api' },
  ] as const;
  const key = deriveKey(TEST_SECRET_KEY, 'suppression');
  await send(createEmailBody('left@example.com'));
  await addSuppressions(api.db, key, { projectId: api.one.id, entries: [...refusals] });
  await protectRefusals(true);
  const to = [...refusals.map(({ email }) => email), 'agreed@example.com'];
  const r = await send({ to, template, subscribed: true });
  expect([r.status, r.body.error?.code]).toEqual([400, 'CONTACT_UNSUBSCRIBED']);
  expect(r.body.error.details.emails).toEqual(['left@example.com', 'complained@example.com']);
  expect(r.body.error.suggestion).toContain('resubscribe: true');
  const batch = await api.call('POST', '/v1/send/batch', {
    body: { emails: to.map((email) => ({ to: email, template, subscribed: true })) },
  });
  expect(batch.body.data.results.map(({ success }: { success: boolean }) => success)).toEqual([
    ...[false, false, true, true],
  ]);
  expect((await send(createEmailBody('left@example.com', { subscribed: true }))).status).toBe(200);
  expect((await readContact('left@example.com')).subscribed).toBe(false);
  const agreement = { email: 'left@example.com', subscribed: true, resubscribe: true };
  await api.call('POST', '/contacts', { body: agreement });
  expect((await send({ to: 'left@example.com', template, subscribed: true })).status).toBe(200);
  await protectRefusals(false);
});

it('one of twenty requests with the same idempotency key takes effect; the others are refused with its response', async () => {
  const all = await Promise.all(
    Array.from({ length: 20 }, () => send(createEmailBody('once@example.com'), { 'idempotency-key': 'order 1' })),
  );
  const accepted = all.filter((r) => r.status === 200);
  const refused = all.filter((r) => r.status === 409);
  expect([accepted.length, refused.length]).toEqual([1, 19]);
  const { details, code } = refused[0]?.body.error ?? {};
  expect(code).toBe('IDEMPOTENCY_KEY_REUSED');
  expect(details).toMatchObject({ key: 'order 1', originalRequest: 'POST /v1/send', originalStatusCode: 200 });
  expect(details.originalResponse).toEqual(accepted[0]?.body);
  expect(Date.parse(details.originalRequestAt)).toBeGreaterThan(Date.now() - 60_000);
  const contact = await readContact('once@example.com');
  const emails = await api.db.selectFrom('emails').select('id').where('contact_id', '=', contact.id).execute();
  expect(emails).toHaveLength(1);
});

it('two projects can use the same idempotency key', async () => {
  await buildDomain(api.db, { projectId: api.two.id });
  const r = await send(createEmailBody('once@example.com'), { 'idempotency-key': 'order 1' }, api.two.secretKey);
  expect(r.status).toBe(200);
});

it('concurrent requests with different values for a contact all take effect, one after the other', async () => {
  const flags = Array.from({ length: 30 }, (_, i) =>
    send(createEmailBody('flip@example.com', { subscribed: i % 2 === 0, data: { [`k${i}`]: i } })),
  );
  const all = await Promise.all(flags);
  expect(all.every((r) => r.status === 200)).toBe(true);
  const contact = await readContact('flip@example.com');
  expect(Object.keys(contact.data as object)).toHaveLength(30);
});

it('a request that fails does not fail the other requests of its transaction', async () => {
  const big = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`k${i}`, i]));
  await send(createEmailBody('big@example.com', { data: big }));
  const more = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`m${i}`, i]));
  const all = await Promise.all([
    ...Array.from({ length: 10 }, (_, i) => send(createEmailBody(`fine${i}@example.com`))),
    send(createEmailBody('big@example.com', { data: more })),
  ]);
  expect(all.map((r) => r.status)).toEqual([...Array(10).fill(200), 422]);
});

it('test keys send test emails', async () => {
  const r = await send(createEmailBody('test@example.com'), {}, api.one.testKey);
  expect((await readEmail(r.body.data.emails[0].email)).mode).toBe('test');
});

it('the monthly limit refuses emails beyond it, but never emails of a test key', async () => {
  await api.db.updateTable('projects').set({ monthly_email_limit: 3 }).where('id', '=', api.two.id).execute();
  const key = await buildApiKey(api.db, api.two.id, ['email:send']);
  const sendWithKey = (to: unknown, as = key) => send(createEmailBody(to), {}, as);
  expect((await sendWithKey(['l1@example.com', 'l2@example.com', 'l3@example.com'])).status).toBe(429);
  // One email was sent before the limit was set.
  expect((await sendWithKey(['l1@example.com', 'l2@example.com'])).status).toBe(200);
  const over = await sendWithKey('l3@example.com');
  expect([over.status, over.body.error.code]).toEqual([429, 'BILLING_LIMIT_EXCEEDED']);
  const testKey = await buildApiKey(api.db, api.two.id, ['email:send'], 'test');
  expect((await sendWithKey('l3@example.com', testKey)).status).toBe(200);
});

it('a monthly limit that is removed and set again also counts the emails in between', async () => {
  const project = await buildProject(api.db, 'Again');
  await buildDomain(api.db, { projectId: project.id });
  const owner = await signIn(api, project);
  const sendOne = async () => (await send(createEmailBody('again@example.com'), {}, project.secretKey)).status;
  const setLimit = async (monthlyEmailLimit: number | null) =>
    expect(
      (await api.call('PATCH', '/project', { key: null, headers: owner, body: { monthlyEmailLimit } })).status,
    ).toBe(200);
  const setOperatorLimit = (monthlyEmailLimit: number | null) =>
    inTransaction(api.db, (trx) =>
      setOperatorLimits(trx, { projectId: project.id, actor: 'operator:test' }, { monthlyEmailLimit }),
    );
  await setLimit(3);
  expect(await sendOne()).toBe(200);
  await setLimit(null);
  expect([await sendOne(), await sendOne()]).toEqual([200, 200]);
  await setLimit(4);
  expect([await sendOne(), await sendOne()]).toEqual([200, 429]);
  await setLimit(null);
  expect(await sendOne()).toBe(200);
  await setOperatorLimit(6);
  expect([await sendOne(), await sendOne()]).toEqual([200, 429]);
});

it('a header that occurs twice in different case is refused', async () => {
  const headers = { 'Message-ID': '<a@shop.example>', 'message-id': '<b@shop.example>' };
  const { status, body } = await send(createEmailBody('twice@example.com', { headers }));
  expect([status, body.error.errors[0]]).toMatchObject([422, { field: 'headers.message-id', code: 'duplicate_field' }]);
});

it('attachments and headers are stored with the email', async () => {
  const attachments = [
    { filename: 'a.txt', content: Buffer.from('hello').toString('base64'), contentType: 'text/plain' },
  ];
  const r = await send(
    createEmailBody('file@example.com', { attachments, headers: { 'X-Order': '7' }, reply: 'r@example.com' }),
  );
  const { options } = await readEmail(r.body.data.emails[0].email);
  expect(options).toMatchObject({ headers: { 'X-Order': '7' }, attachmentIds: [expect.any(String)] });
});
