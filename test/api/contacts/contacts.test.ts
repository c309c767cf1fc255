import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { finishJob } from '../../../db/contacts/jobs.ts';
import { removeErasedAttachments } from '../../../db/contents/erased-attachments.ts';
import { removeErasedContents } from '../../../db/contents/removal.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { recordFeedback } from '../../../engine/feedback/email-feedback.ts';
import { recordReceivedEmail } from '../../../engine/feedback/inbound-email.ts';
import { recordReceivedSms } from '../../../engine/feedback/received-sms.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { buildEmail } from '../../build/emails.ts';
import { buildDomain, TEST_SECRET_KEY } from '../../build/senders.ts';
import { buildWorkflow } from '../../build/workflows.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { findRowsWith } from '../../support/erasure.ts';
import { signIn } from '../../support/session.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

let counter = 0;
let email = '';
beforeEach(() => {
  counter += 1;
  email = `person${counter}@example.com`;
});

async function saveContact(body: object, key?: string) {
  const { body: contact, status } = await api.call('POST', '/contacts', {
    body: { email, ...body },
    ...(key && { key }),
  });
  return { ...contact, status };
}

async function listEventNames(contactId: string): Promise<string[]> {
  const { rows } = await sql<{
    name: string;
  }>`SELECT name FROM events WHERE contact_id = ${contactId} ORDER BY id`.execute(api.db);
  return rows.map((row) => row.name);
}

describe('saving a contact', () => {
  it('creates the contact with 201, then updates it with 200', async () => {
    const created = await api.call('POST', '/v1/contacts', { body: { email: ` ${email.toUpperCase()} ` } });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ email, subscribed: true, data: {}, _meta: { isNew: true, isUpdate: false } });
    expect(created.headers.get('cache-control')).toBe('no-store');
    const updated = await saveContact({ data: { plan: 'pro' } });
    expect(updated).toMatchObject({ status: 200, id: created.body.id, _meta: { isNew: false, isUpdate: true } });
    expect(updated.data).toEqual({ plan: 'pro' });
  });

  it('merges data: null deletes a field, empty and non-persistent values are ignored, and reserved names are dropped', async () => {
    await saveContact({ data: { keep: 'x', drop: 1, empty: 'stays', list: [1, { a: 1 }], flag: false } });
    const { data } = await saveContact({
      data: { drop: null, empty: '', once: { value: 5, persistent: false }, id: 'evil', manageUrl: 'evil', n: 0 },
    });
    expect(data).toEqual({ keep: 'x', empty: 'stays', list: [1, { a: 1 }], flag: false, n: 0 });
  });

  it.each(['subscribed', 'smsSubscribed', 'topics', 'Subscribed', 'sms_subscribed'])(
    'refuses "%s" in data, and names the field to use instead',
    async (name) => {
      const { status, body } = await api.call('POST', '/contacts', {
        body: { email, data: { [name]: false, plan: 'pro' } },
      });
      expect(status).toBe(422);
      expect(body.error.errors).toEqual([
        { field: `data.${name}`, message: expect.stringContaining('is not data'), code: 'custom' },
      ]);
      const { body: found } = await api.call('POST', '/contacts/lookup', { body: { emails: [email] } });
      expect(found.found).toEqual([]);
    },
  );

  it('keeps the state of an existing contact unless the request gives one, and records each change once', async () => {
    const { id } = await saveContact({ subscribed: false });
    expect(await listEventNames(id)).toEqual([]);
    expect(await saveContact({})).toMatchObject({ subscribed: false });
    expect(await saveContact({ subscribed: true })).toMatchObject({ subscribed: true });
    await saveContact({ subscribed: true });
    await saveContact({ subscribed: false });
    expect(await listEventNames(id)).toEqual(['contact.subscribed', 'contact.unsubscribed']);
  });

  it('changes updatedAt only when something has changed', async () => {
    const first = await saveContact({ data: { plan: 'pro', o: { b: 1, a: 2 } } });
    expect((await saveContact({ data: { o: { a: 2, b: 1 }, gone: null } })).updatedAt).toBe(first.updatedAt);
    expect((await saveContact({ data: { plan: 'free' } })).updatedAt).not.toBe(first.updatedAt);
  });

  it('creates one contact from many concurrent requests, and keeps the data of all', async () => {
    const saved = await Promise.all(Array.from({ length: 12 }, (_, i) => saveContact({ data: { [`k${i}`]: i } })));
    expect(saved.filter((one) => one.status === 201)).toHaveLength(1);
    expect(new Set(saved.map((one) => one.id)).size).toBe(1);
    expect(Object.keys((await saveContact({})).data)).toHaveLength(12);
  });

  it('refuses more than 200 fields or 64 KB of data, also in total over several requests', async () => {
    const createFields = (from: number, n: number) =>
      Object.fromEntries(Array.from({ length: n }, (_, i) => [`f${from + i}`, 1]));
    expect((await saveContact({ data: createFields(0, 201) })).status).toBe(422);
    expect((await saveContact({ data: createFields(0, 150) })).status).toBe(201);
    const over = await saveContact({ data: createFields(150, 51) });
    expect(over).toMatchObject({
      status: 422,
      error: { code: 'VALIDATION_ERROR', errors: [{ field: 'data', code: 'too_big' }] },
    });
    expect(Object.keys((await saveContact({})).data)).toHaveLength(150);
    expect((await saveContact({ data: { big: 'x'.repeat(66_000) } })).status).toBe(422);
    expect((await saveContact({ data: { ['k'.repeat(101)]: 1 } })).status).toBe(422);
  });

  it('subscribed: true deletes the suppression with reason unsubscribe, and no other one', async () => {
    await saveContact({ subscribed: false });
    for (const reason of ['unsubscribe', 'complaint', 'hard_bounce', 'manual']) {
      await api.call('POST', '/suppressions', { body: { email, reason } });
    }
    await saveContact({});
    await saveContact({ subscribed: true });
    const { body } = await api.call('GET', '/suppressions?limit=100');
    const reasons = body.data.filter((entry: { email: string }) => entry.email === email);
    expect(reasons.map((entry: { reason: string }) => entry.reason).sort()).toEqual([
      'complaint',
      'hard_bounce',
      'manual',
    ]);
  });

  it.each([
    [{ email: 'nope' }, 'email', 'invalid_string'],
    [{ email: 5 }, 'email', 'invalid_type'],
    [{}, 'email', 'invalid_type'],
    [{ email: 'a@example.com', subscribed: 'yes' }, 'subscribed', 'invalid_type'],
    [{ email: 'a@example.com', data: [] }, 'data', 'invalid_type'],
  ])('saving a contact refuses %j', async (body, field, code) => {
    const response = await api.call('POST', '/contacts', { body });
    expect(response.status).toBe(422);
    expect(response.body.error.errors).toContainEqual(expect.objectContaining({ field, code }));
  });
});

describe('changing a contact', () => {
  it('merges data, changes the address and records the change of subscription', async () => {
    const { id } = await saveContact({ data: { a: 1, b: 2 } });
    const patched = await api.call('PATCH', `/contacts/${id}`, {
      body: { email: `new-${email}`, subscribed: false, data: { a: null, c: 3 } },
    });
    expect(patched.status).toBe(200);
    expect(patched.body).toMatchObject({ id, email: `new-${email}`, subscribed: false, data: { b: 2, c: 3 } });
    expect((await api.call('GET', `/v1/contacts/${id}`)).body).toEqual(patched.body);
    expect(await listEventNames(id)).toEqual(['contact.subscribed', 'contact.unsubscribed']);
  });

  it('refuses the address of another contact, and then changes nothing', async () => {
    const { id } = await saveContact({});
    await api.call('POST', '/contacts', { body: { email: `other-${email}` } });
    const response = await api.call('PATCH', `/contacts/${id}`, { body: { email: `other-${email}`, data: { x: 1 } } });
    expect(response).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
    expect((await api.call('GET', `/contacts/${id}`)).body).toMatchObject({ email, data: {} });
  });
});

describe('adding a contact as subscribed', () => {
  it('starts the workflows for new subscribers once, through any request that can add a contact', async () => {
    const welcome = await buildWorkflow(api, {
      eventName: 'contact.subscribed',
      steps: { wait: { type: 'DELAY', config: { amount: 1, unit: 'days' } } },
    });
    await api.call('POST', '/contacts', { body: { email: 'added@welcome.test' } });
    await api.call('POST', '/v1/track', { body: { email: 'tracked@welcome.test', event: 'seen' } });
    await api.call('POST', '/v1/track', { body: { email: 'tracked@welcome.test', event: 'seen' } });
    await api.call('POST', '/contacts', { body: { email: 'silent@welcome.test', subscribed: false } });
    const { body } = await api.call('GET', `/workflows/${welcome.id}/executions`);
    expect(body.data.map(({ contactEmail }: { contactEmail: string }) => contactEmail).sort()).toEqual([
      'added@welcome.test',
      'tracked@welcome.test',
    ]);
    await api.call('PATCH', `/workflows/${welcome.id}`, { body: { enabled: false } });
  });
});

describe('erasing a contact', () => {
  it('cancels its executions and keeps no address in plain text; the suppression list still applies', async () => {
    const { id } = await saveContact({ data: { name: 'Ada' } });
    const projectId = api.one.id;
    await api.call('POST', '/suppressions', { body: { email, reason: 'manual' } });
    const { rows } = await sql<{ id: string }>`
      WITH w AS (INSERT INTO workflows (project_id, name) VALUES (${projectId}, 'w') RETURNING id)
      INSERT INTO executions (project_id, workflow_id, contact_id, entry, event)
      SELECT ${projectId}, id, ${id}, 1, '{"name": "Ada"}' FROM w RETURNING id`.execute(api.db);
    const executionId = rows[0]?.id;
    await sql`
      INSERT INTO emails (project_id, contact_id, content_id, source_type, to_email, variables, status) VALUES
        (${projectId}, ${id}, uuidv7(), 'TRANSACTIONAL', ${email}, '{"name": "Ada"}', 'SENT'),
        (${projectId}, ${id}, uuidv7(), 'TRANSACTIONAL', ${email}, '{}', 'PENDING')`.execute(api.db);
    await sql`INSERT INTO events (project_id, contact_id, name, data) VALUES (${projectId}, ${id}, 'e', '{"name": "Ada"}')`.execute(
      api.db,
    );
    api.dispatched.length = 0;

    expect((await api.call('DELETE', `/contacts/${id}`)).status).toBe(204);

    expect((await api.call('GET', `/contacts/${id}`)).status).toBe(404);
    expect((await api.call('DELETE', `/contacts/${id}`)).status).toBe(404);
    expect(api.dispatched).toMatchObject([{ kind: 'execution.cancel', refId: executionId }]);
    const left = await sql`
      SELECT (SELECT to_jsonb(e) FROM executions e WHERE id = ${executionId}) AS execution,
        (SELECT jsonb_agg(to_jsonb(e) ORDER BY id) FROM emails e WHERE project_id = ${projectId} AND status <> 'x') AS emails,
        (SELECT jsonb_agg(to_jsonb(e)) FROM events e WHERE name = 'e') AS events,
        (SELECT jsonb_agg(to_jsonb(s)) FROM suppressions s WHERE email IS NULL) AS suppressions`.execute(api.db);
    expect(left.rows[0]).toMatchObject({
      execution: { status: 'CANCELLED', exit_reason: 'contact_deleted', event: {} },
      emails: [
        { status: 'SENT', contact_id: null, to_email: null, variables: null },
        { status: 'FAILED', reason: 'contact_deleted', to_email: null },
      ],
      events: [{ contact_id: null, data: {} }],
      suppressions: [{ reason: 'manual', email: null }],
    });
    expect(JSON.stringify(left.rows[0])).not.toContain('Ada');
    expect((await api.call('DELETE', `/suppressions/${encodeURIComponent(email)}`)).status).toBe(204);
  });

  it('removes address, name and number from every table', async () => {
    const [mark, phone] = ['zyxmark', '+4915155501234'];
    const address = `${mark}@example.com`;
    const projectId = api.one.id;
    await buildDomain(api.db, { projectId, domain: 'erase.test' });
    await api.db
      .insertInto('sms_senders')
      .values({ project_id: projectId, country: null, from_phone: '+4930999' })
      .execute();
    const draft = { name: 'n', subject: 'S', body: 'B', from: 'a@erase.test', audienceType: 'ALL' };
    const campaign = (await api.call('POST', '/campaigns', { body: draft })).body.data.id;
    const former = `${mark}.former@example.com`;
    // The emails and SMS of these requests are sent before the contact exists.
    await api.call('POST', `/campaigns/${campaign}/test`, { body: { email: former } });
    await api.call('POST', '/v1/sms/send', { body: { to: phone, body: mark } });
    const headers = await signIn(api, api.one, 'OWNER');
    const endpoint = await api.call('POST', '/webhooks', {
      key: null,
      headers,
      body: { url: 'https://hooks.example.com/x', events: ['*'] },
    });
    expect(endpoint.status, JSON.stringify(endpoint.body)).toBe(201);
    const data = { firstName: mark, phone };
    const { id } = (await api.call('POST', '/contacts', { body: { email: former, data } })).body;
    const bounced = await buildEmail(api.db, { projectId, contactId: id, to: former, status: 'SENT' });
    const refusal = { about: 'recipient', why: 'dead_mailbox', bounceType: 'Permanent', retry: false } as const;
    const feedback = { kind: 'bounce' as const, at: new Date(), refusal, words: mark };
    const suppressionKey = deriveKey(TEST_SECRET_KEY, 'suppression');
    await inTransaction(api.db, (trx) =>
      recordFeedback(trx, { emailId: bounced, feedback, suppressionKey, source: 'dsn' }),
    );
    expect((await api.call('PATCH', `/contacts/${id}`, { body: { email: address } })).status).toBe(200);
    const where = { search: address };
    const job = (await api.call('POST', '/contacts/bulk-subscribe', { body: { where } })).body.jobId;
    await finishJob(api.db, { projectId, id: job, status: 'COMPLETED' });
    await api.call('POST', '/v1/track', { body: { email: address, event: 'did.it', data: { note: mark } } });
    const mail = { from: 'a@erase.test', subject: mark, body: `<p>${mark}</p>`, to: address };
    const keyed = { 'Idempotency-Key': 'erase-1' };
    const named = { 'Idempotency-Key': `welcome-${address}`, 'X-Request-Id': `for ${address}` };
    await api.call('POST', '/v1/track', { body: { email: address, event: 'named' }, headers: named });
    const copy = { ...mail, subject: 'All', body: 'B', to: 'other@example.com', cc: address };
    const copies = (await api.call('POST', '/v1/send', { body: copy })).body.data.emails;
    await api.call('POST', '/v1/send', { body: { ...mail, headers: { 'Message-ID': `<${mark}@app.example>` } } });
    const sent = await api.call('POST', '/v1/send', { body: mail, headers: keyed });
    const byName = { 'Idempotency-Key': `welcome-${mark.toUpperCase()}-1` };
    await api.call('POST', '/v1/track', { body: { email: address, event: 'by.name' }, headers: byName });
    expect(sent.status, JSON.stringify(sent.body)).toBe(200);
    await api.call('POST', '/suppressions', { body: { email: address, reason: 'complaint' } });
    await api.call('POST', '/v1/sms/stops', { body: { phone } });
    await inTransaction(api.db, (trx) =>
      recordReceivedSms(trx, { from: phone, to: '+4930999', text: mark, messageId: null, media: [], consent: null }),
    );
    await api.db
      .insertInto('jobs')
      .values({
        project_id: projectId,
        kind: 'import',
        status: 'COMPLETED',
        result: JSON.stringify({
          errors: [
            { row: 2, email: address, error: mark },
            { row: 3, email: 'x@y.z', error: 'e' },
            { row: 4, email: `${mark} <${address.toUpperCase()}>`, error: 'subscribed' },
            { row: 5, email: `a@b.example, ${address}`, error: 'email' },
          ],
          warnings: [{ row: 6, email: address, warning: `phone: "${phone} ${mark}" cannot be read` }],
        }),
      })
      .execute();
    const emailId = sent.body.data.emails[0].email;
    const threadId = `<${mark}@laptop>`;
    const received = {
      sender: address,
      fromName: mark,
      subject: mark,
      html: mark,
      messageId: threadId,
      digest: Buffer.alloc(32),
      recipients: ['help@erase.test'],
      files: [{ filename: `${mark}.pdf`, contentType: 'application/pdf', contentId: null, content: Buffer.from(mark) }],
      detail: { body: mark, inReplyTo: threadId, references: [threadId] },
    };
    await inTransaction(api.db, (trx) => recordReceivedEmail(trx, { projectId, suppressionKey, email: received }));
    await api.db
      .insertInto('captured_emails')
      .values(
        [emailId, copies[0].email].map((one) => ({
          id: one,
          from_email: 'a@erase.test',
          to_email: 'x@example.com',
          raw: Buffer.from(mark),
        })),
      )
      .execute();
    const listDeliveries = () => api.call('GET', `/webhooks/${endpoint.body.id}/deliveries`, { key: null, headers });
    expect(JSON.stringify((await listDeliveries()).body)).toContain(mark);

    expect((await api.call('DELETE', `/contacts/${id}`)).status).toBe(204);
    await removeErasedContents(api.db);
    await removeErasedAttachments(api.db);

    expect(await findRowsWith(api.db, [mark, phone])).toEqual([]);
    const { rows: imports } =
      await sql`SELECT result FROM jobs WHERE project_id = ${projectId} AND kind = 'import'`.execute(api.db);
    expect(imports).toEqual([{ result: { errors: [{ row: 3, email: 'x@y.z', error: 'e' }], warnings: [] } }]);
    const { body } = await listDeliveries();
    expect(body.data.length).toBeGreaterThan(0);
    for (const delivery of body.data)
      expect(delivery).toMatchObject({ status: 'FAILED', error: 'contact_deleted', payload: {} });
    const replay = `/webhooks/${endpoint.body.id}/deliveries/${body.data[0].id}/replay`;
    expect((await api.call('POST', replay, { key: null, headers, body: {} })).status).toBe(409);
    const reused = await api.call('POST', '/v1/send', { body: mail, headers: keyed });
    expect(reused.body.error.details).toMatchObject({ originalStatusCode: 200, originalResponse: null });
  });

  it('removes the text of emails that only this contact got, and keeps templates and emails to others', async () => {
    await buildDomain(api.db, { projectId: api.one.id });
    const mail = { from: 'hello@shop.example.com', subject: 'For Ada', body: `<p>Dear Ada, ${email}</p>` };
    const template = { name: 't', subject: 'Hello', body: '<p>All</p>', type: 'TRANSACTIONAL', from: mail.from };
    const { body: saved } = await api.call('POST', '/templates', { body: template });
    const send = async (body: object) => (await api.call('POST', '/v1/send', { body })).body.data.emails;
    const [mine, other] = await send({ ...mail, to: [email, `other-${email}`] });
    const [ofTemplate] = await send({ to: email, template: saved.id });

    expect((await api.call('DELETE', `/contacts/${mine.contact.id}`)).status).toBe(204);

    const readEmail = async (id: string) => (await api.call('GET', `/v1/emails/${id}`)).body.data;
    expect(JSON.stringify(await readEmail(mine.email))).not.toMatch(/Ada|person/);
    expect(await readEmail(mine.email)).toMatchObject({
      to: null,
      from: mail.from,
      subject: '',
      reason: 'contact_deleted',
    });
    expect(await readEmail(other.email)).toMatchObject({ subject: 'For Ada', to: `other-${email}` });
    expect(await readEmail(ofTemplate.email)).toMatchObject({ subject: 'Hello', to: null });
  });
});

describe('finding contacts', () => {
  it('matches addresses in upper and lower case', async () => {
    const { id } = await saveContact({});
    const response = await api.call('POST', '/contacts/lookup', {
      body: { emails: [email.toUpperCase(), email, 'nobody@example.com'] },
    });
    expect(response).toMatchObject({
      status: 200,
      body: { found: [{ id, email, subscribed: true }], notFound: ['nobody@example.com'] },
    });
    const many = Array.from({ length: 501 }, (_, i) => `p${i}@example.com`);
    expect((await api.call('POST', '/contacts/lookup', { body: { emails: many } })).status).toBe(422);
    expect((await api.call('POST', '/contacts/lookup', { body: { emails: many.slice(1) } })).status).toBe(200);
  });

  it('lists each contact once, newest first, during concurrent changes, with a total on the first page only', async () => {
    const key = api.two.secretKey;
    const ids: string[] = [];
    for (let i = 0; i < 7; i += 1) {
      ids.unshift((await api.call('POST', '/contacts', { key, body: { email: `l${i}@example.org` } })).body.id);
    }
    const first = await api.call('GET', '/contacts?limit=3', { key });
    expect(first.body).toMatchObject({ total: 7, hasMore: true });
    await api.call('POST', '/contacts', { key, body: { email: 'later@example.org' } });
    await api.call('DELETE', `/contacts/${ids[2]}`, { key });
    const second = await api.call('GET', `/contacts?limit=3&cursor=${first.body.cursor}`, { key });
    const third = await api.call('GET', `/contacts?limit=3&cursor=${second.body.cursor}`, { key });
    const seen = [first, second, third].flatMap((page) => page.body.data.map((contact: { id: string }) => contact.id));
    expect(seen).toEqual(ids);
    expect(second.body.total).toBe(0);
    expect(third.body).toMatchObject({ hasMore: false, cursor: null });
  });

  it('searches for a part of the address, and treats wildcards as text', async () => {
    await api.call('POST', '/contacts', { body: { email: 'a_bc@search.example' } });
    await api.call('POST', '/contacts', { body: { email: 'axbxc@search.example' } });
    const find = async (search: string) =>
      (await api.call('GET', `/contacts?search=${encodeURIComponent(search)}`)).body.data.map(
        (c: { email: string }) => c.email,
      );
    expect(await find('SEARCH.ex')).toHaveLength(2);
    expect(await find('A_B')).toEqual(['a_bc@search.example']);
    expect(await find('nothing like it')).toEqual([]);
  });

  it('searches for a part of the name in the data fields that usually have it', async () => {
    const people = {
      'n1@names.example': { firstName: 'Ada', lastName: 'Lovelace' },
      'n2@names.example': { first_name: 'Ada', surname: 'Byron' },
      'n3@names.example': { name: 'Émile 100%_sure', firstName: '' },
      'n4@names.example': { title: 'Ada Lovelace' },
    };
    for (const [email, data] of Object.entries(people)) await api.call('POST', '/contacts', { body: { email, data } });
    const find = async (search: string) =>
      (await api.call('GET', `/contacts?sort=email&search=${encodeURIComponent(search)}`)).body.data.map(
        (c: { email: string }) => c.email.slice(0, 2),
      );
    expect(await find('ADA')).toEqual(['n1', 'n2']);
    expect(await find(' a  love')).toEqual(['n1']);
    expect(await find('ada by')).toEqual(['n2']);
    expect(await find('éMILE 100%_')).toEqual(['n3']);
    expect(await find('%_')).toEqual(['n3']);
    expect(await find('names.example')).toHaveLength(4);
  });

  it('sorts by creation time and by address, page by page, and refuses a cursor of another order', async () => {
    for (const name of ['b', 'c', 'a'])
      await api.call('POST', '/contacts', { body: { email: `${name}@sort.example` } });
    const listNamesByPages = async (sort: string) => {
      const names: string[] = [];
      let cursor = '';
      do {
        const { body } = await api.call('GET', `/contacts?search=@sort.example&limit=1&sort=${sort}${cursor}`);
        names.push(...body.data.map((c: { email: string }) => c.email.slice(0, 1)));
        cursor = body.hasMore ? `&cursor=${body.cursor}` : '';
      } while (cursor !== '');
      return names.join('');
    };
    expect(await listNamesByPages('-createdAt')).toBe('acb');
    expect(await listNamesByPages('createdAt')).toBe('bca');
    expect(await listNamesByPages('email')).toBe('abc');
    expect(await listNamesByPages('-email')).toBe('cba');
    const { cursor } = (await api.call('GET', '/contacts?search=@sort.example&limit=1')).body;
    expect((await api.call('GET', `/contacts?sort=email&cursor=${cursor}`)).status).toBe(400);
    expect((await api.call('GET', '/contacts?sort=data.plan')).status).toBe(400);
  });

  it.each(['limit=0', 'limit=101', 'limit=x', 'cursor=nonsense'])('returns 400 for ?%s', async (query) => {
    expect(await api.call('GET', `/contacts?${query}`)).toMatchObject({
      status: 400,
      body: { error: { code: 'VALIDATION_ERROR' } },
    });
  });
});

describe('access to contacts', () => {
  it("does not find another project's contact, and does not change it", async () => {
    const { id } = await saveContact({ data: { plan: 'pro' } });
    const key = api.two.secretKey;
    expect((await api.call('GET', `/contacts/${id}`, { key })).status).toBe(404);
    expect((await api.call('PATCH', `/contacts/${id}`, { key, body: { subscribed: false } })).status).toBe(404);
    expect((await api.call('DELETE', `/v1/contacts/${id}`, { key })).status).toBe(404);
    expect((await api.call('POST', '/contacts/lookup', { key, body: { emails: [email] } })).body.found).toEqual([]);
    expect((await api.call('GET', `/contacts?search=${email}`, { key })).body.total).toBe(0);
    expect((await saveContact({}, key)).id).not.toBe(id);
    expect((await api.call('GET', `/contacts/${id}`)).body).toMatchObject({ subscribed: true, data: { plan: 'pro' } });
  });

  it('needs contacts:view to read and contacts:edit to write', async () => {
    const key = api.one.bareKey;
    const read = await api.call('GET', '/contacts', { key });
    expect(read).toMatchObject({ status: 403, body: { error: { details: { requiredScope: 'contacts:view' } } } });
    const write = await api.call('POST', '/contacts', { key, body: { email } });
    expect(write).toMatchObject({ status: 403, body: { error: { details: { requiredScope: 'contacts:edit' } } } });
    expect((await api.call('GET', '/contacts', { key: api.one.publicKey })).body.error.code).toBe('INVALID_API_KEY');
  });
});
