import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDomain } from '../../build/senders.ts';
import { buildProject, startTestApi, type TestApi } from '../../support/api.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id });
});
afterAll(() => api.close());

const createEmailBody = (to: string, more: object = {}) => ({
  to,
  from: 'x@shop.example.com',
  subject: `For ${to}`,
  body: '<p>b</p>',
  ...more,
});
const sendBatch = (body: object, { key = api.one.secretKey, headers = {} }: { key?: string; headers?: object } = {}) =>
  api.call('POST', '/v1/send/batch', { body, key, headers: headers as Record<string, string> });
const findEmails = (to: string) =>
  api.db.selectFrom('emails').selectAll().where('to_email', '=', to).where('project_id', '=', api.one.id).execute();

describe('a batch of emails', () => {
  it('returns a result for each email in order, as /v1/send would, and queues each email', async () => {
    const before = api.dispatched.length;
    const { status, body } = await sendBatch({
      emails: [createEmailBody('b1@x.test'), createEmailBody('b2@x.test', { subject: 'Other' })],
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, data: { accepted: 2, refused: 0 } });
    expect(body.data.results).toMatchObject([
      { success: true, data: { emails: [{ contact: { email: 'b1@x.test' } }] } },
      { success: true, data: { emails: [{ contact: { email: 'b2@x.test' } }] } },
    ]);
    for (const { data } of body.data.results) {
      const { status: found, body: record } = await api.call('GET', `/v1/emails/${data.emails[0].email}`);
      expect([found, record.toEmail ?? record.to ?? data.emails[0].contact.email]).toEqual([
        200,
        data.emails[0].contact.email,
      ]);
    }
    expect(api.dispatched.slice(before).filter(({ kind }) => kind === 'email.deliver')).toHaveLength(2);
  });

  it('refuses each invalid email without refusing the others, for any reason', async () => {
    const { status, body } = await sendBatch({
      emails: [
        createEmailBody('c1@x.test'),
        createEmailBody('c2@x.test', { scheduled_at: 'x' }),
        createEmailBody('nobody'),
        createEmailBody('c3@x.test', { from: 'x@elsewhere.example' }),
        createEmailBody('c4@x.test', { template: uuidv7() }),
        'no email',
        createEmailBody('c5@x.test', { subject: '{{ oops' }),
        createEmailBody('c6@x.test'),
      ],
    });
    expect([status, body.data.accepted, body.data.refused]).toEqual([200, 2, 6]);
    const seen = body.data.results.map((r: { success: boolean; error?: { code: string; statusCode: number } }) =>
      r.success ? 'sent' : `${r.error?.statusCode} ${r.error?.code}`,
    );
    expect(seen).toEqual([
      'sent',
      '422 VALIDATION_ERROR',
      '422 VALIDATION_ERROR',
      '400 DOMAIN_NOT_VERIFIED',
      '404 TEMPLATE_NOT_FOUND',
      '422 VALIDATION_ERROR',
      '422 VALIDATION_ERROR',
      'sent',
    ]);
    expect(body.data.results[1].error.errors[0]).toMatchObject({ field: 'scheduled_at', code: 'unrecognized_keys' });
    expect(await findEmails('c3@x.test')).toEqual([]);
    const left = await api.db
      .selectFrom('contacts')
      .select('id')
      .where('email', 'in', ['c2@x.test', 'c3@x.test'])
      .execute();
    expect(left).toEqual([]);
  });

  it('a batch with atomic accepts no email if one is refused, and names all refused ones', async () => {
    const { status, body } = await sendBatch({
      atomic: true,
      emails: [
        createEmailBody('d1@x.test'),
        createEmailBody('d2@x.test', { subjcet: 'S' }),
        createEmailBody('d3@x.test', { to: 'nobody' }),
      ],
    });
    expect([status, body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(body.error.errors.map(({ field }: { field: string }) => field)).toEqual(['emails.1.subjcet', 'emails.2.to']);
    expect(body.error.details.refused).toEqual([1, 2]);
    expect(await findEmails('d1@x.test')).toEqual([]);
    const later = await sendBatch({
      atomic: true,
      emails: [createEmailBody('d1@x.test'), createEmailBody('d2@x.test', { from: 'x@no.example' })],
    });
    expect([later.status, later.body.error.code]).toEqual([400, 'DOMAIN_NOT_VERIFIED']);
    expect(later.body.error.errors).toMatchObject([{ field: 'emails.1.from' }]);
    expect(await findEmails('d1@x.test')).toEqual([]);
    expect((await sendBatch({ atomic: true, emails: [createEmailBody('d1@x.test')] })).body.data.accepted).toBe(1);
  });

  it('processes the emails to one contact in order', async () => {
    const { body } = await sendBatch({
      emails: [
        createEmailBody('e@x.test', { data: { plan: 'free' } }),
        createEmailBody('e@x.test', { data: { plan: 'pro' } }),
        createEmailBody('e2@x.test', { data: { plan: 'free' } }),
        createEmailBody('e@x.test', { data: { plan: 'team' } }),
      ],
    });
    expect(body.data.accepted).toBe(4);
    const emails = await findEmails('e@x.test');
    expect(emails.map(({ variables }) => (variables as { plan: string }).plan).sort()).toEqual(['free', 'pro', 'team']);
    const contact = await api.db
      .selectFrom('contacts')
      .select('data')
      .where('email', '=', 'e@x.test')
      .executeTakeFirstOrThrow();
    expect(contact.data).toMatchObject({ plan: 'team' });
  });

  it('sends the attachments of each email with that email only', async () => {
    const createAttachment = (filename: string, text: string) => ({
      filename,
      content: Buffer.from(text).toString('base64'),
      contentType: 'text/plain',
    });
    const { body } = await sendBatch({
      emails: [
        createEmailBody('f1@x.test', {
          attachments: [createAttachment('a.txt', 'one'), createAttachment('b.txt', 'two')],
        }),
        createEmailBody('f2@x.test'),
        createEmailBody('f3@x.test', { attachments: [{ ...createAttachment('x.txt', 'x'), content: '!' }] }),
        createEmailBody('f4@x.test', { attachments: [createAttachment('c.txt', 'three')] }),
      ],
    });
    expect(body.data.results.map(({ success }: { success: boolean }) => success)).toEqual([true, true, false, true]);
    expect(body.data.results[2].error.errors[0].field).toBe('attachments.0.content');
    const rows = await api.db
      .selectFrom('attachments')
      .select(['filename', 'content'])
      .where('project_id', '=', api.one.id)
      .orderBy('filename')
      .execute();
    expect(rows.map(({ filename, content }) => `${filename} ${content}`)).toEqual([
      'a.txt one',
      'b.txt two',
      'c.txt three',
    ]);
  });

  it.each([
    ['no list of emails', {}, 'emails'],
    ['an empty list', { emails: [] }, 'emails'],
    ['101 emails', { emails: Array.from({ length: 101 }, (_, n) => ({ to: `g${n}@x.test` })) }, 'emails'],
    ['an unknown field', { emails: [{}], atomc: true }, 'atomc'],
    [
      'more than 10,000 recipients together',
      {
        emails: Array.from({ length: 11 }, (_, n) => ({
          ...createEmailBody('x'),
          to: Array.from({ length: 1000 }, (_, m) => `g${n}-${m}@x.test`),
        })),
      },
      'emails',
    ],
  ])('returns 422 for the whole batch with %s', async (_, body, field) => {
    const { status, body: response } = await sendBatch(body);
    expect([status, response.error.errors[0].field]).toEqual([422, field]);
  });
});

describe('the idempotency key of a batch', () => {
  const sendBatchWithKey = (key: string, body: object, owner = api.one.secretKey) =>
    sendBatch(body, { key: owner, headers: { 'idempotency-key': key } });

  it('takes effect once, and returns the first response for an identical batch', async () => {
    const first = await sendBatchWithKey('batch-1', {
      emails: [createEmailBody('h1@x.test'), createEmailBody('nobody')],
    });
    expect(first.body.data).toMatchObject({ accepted: 1, refused: 1 });
    const again = await sendBatchWithKey('batch-1', {
      emails: [createEmailBody('h1@x.test'), createEmailBody('nobody')],
    });
    expect([again.status, again.body.error.details.sameRequest]).toEqual([409, true]);
    expect(again.body.error.details.originalResponse).toEqual(first.body);
    const other = await sendBatchWithKey('batch-1', { emails: [createEmailBody('h2@x.test')] });
    expect([other.status, other.body.error.details]).toMatchObject([
      409,
      { sameRequest: false, originalResponse: null },
    ]);
    expect(await findEmails('h1@x.test')).toHaveLength(1);
  });

  it('can be used again if no email was accepted', async () => {
    expect((await sendBatchWithKey('batch-2', { emails: [createEmailBody('nobody')] })).body.data.accepted).toBe(0);
    expect((await sendBatchWithKey('batch-2', { atomic: true, emails: [createEmailBody('nobody')] })).status).toBe(422);
    expect((await sendBatchWithKey('batch-2', { emails: [createEmailBody('i@x.test')] })).body.data.accepted).toBe(1);
  });

  it('takes effect once for twenty concurrent requests', async () => {
    const all = await Promise.all(
      Array.from({ length: 20 }, () =>
        sendBatchWithKey('batch-3', { emails: [createEmailBody('j1@x.test'), createEmailBody('j2@x.test')] }),
      ),
    );
    expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 409)]);
    expect(await findEmails('j1@x.test')).toHaveLength(1);
  });
});

it('a batch uses only the domains and contacts of its project', async () => {
  const { body } = await sendBatch({ emails: [createEmailBody('k@x.test')] }, { key: api.two.secretKey });
  expect(body.data.results[0].error.code).toBe('DOMAIN_NOT_VERIFIED');
  const contacts = await api.db.selectFrom('contacts').select('id').where('email', '=', 'k@x.test').execute();
  expect(contacts).toEqual([]);
});

it('a batch needs the scope to send, and each of its emails counts toward the monthly limit', async () => {
  expect(
    (await sendBatch({ emails: [createEmailBody('l@x.test')] }, { key: api.one.bareKey })).body.error.details
      .requiredScope,
  ).toBe('email:send');
  const limited = await buildProject(api.db, 'Limited');
  await api.db.updateTable('projects').set({ monthly_email_limit: 1 }).where('id', '=', limited.id).execute();
  await buildDomain(api.db, { projectId: limited.id, domain: 'two.example.com' });
  const from = 'x@two.example.com';
  const { body } = await sendBatch(
    { emails: [createEmailBody('l1@x.test', { from }), createEmailBody('l2@x.test', { from })] },
    { key: limited.secretKey },
  );
  expect([body.data.accepted, body.data.refused]).toEqual([1, 1]);
  expect(body.data.results[1].error.code).toBe('BILLING_LIMIT_EXCEEDED');
});
