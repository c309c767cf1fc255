import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildContact, buildEmail } from '../../build/emails.ts';
import { buildDomain } from '../../build/senders.ts';
import { expectOk } from '../../build/workflows.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id });
});
afterAll(() => api?.close());

const resend = (id: string, options = {}) => api.call('POST', `/v1/emails/${id}/resend`, options);
const readEmail = (id: string) =>
  api.db.selectFrom('emails').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

describe('POST /v1/emails/{id}/resend', () => {
  it('accepts a new email with the content, variables, headers, text and attachments of the first email', async () => {
    const file = { filename: 'a.txt', content: 'QQ==', contentType: 'text/plain' };
    const body = {
      to: { name: 'Ada', email: 'ada@example.com' },
      from: 'hello@shop.example.com',
      subject: 'Order {{no}}',
      body: '<p>{{no}}</p>',
      data: { no: { value: 7, persistent: false } },
      headers: { 'X-Shop': '1' },
      attachments: [file],
    };
    const sent = await expectOk(api.call('POST', '/v1/send', { body }));
    const old = sent.data.emails[0].email;
    expect((await resend(old)).body.error).toMatchObject({ code: 'CONFLICT', details: { status: 'PENDING' } });
    await sql`UPDATE emails SET status = 'SENT', sent_at = now() WHERE id = ${old}`.execute(api.db);

    const response = await expectOk(resend(old));
    const id = response.data.emails[0].email;
    expect(response.data.emails).toEqual([{ contact: sent.data.emails[0].contact, email: id }]);
    expect(id).not.toBe(old);
    const [before, after] = [await readEmail(old), await readEmail(id)];
    const same = ['content_id', 'contact_id', 'to_email', 'to_name', 'variables', 'mode'] as const;
    for (const column of same) expect(after[column], column).toEqual(before[column]);
    expect(after).toMatchObject({ status: 'PENDING', source_type: 'TRANSACTIONAL' });
    expect(api.dispatched.at(-1)).toMatchObject({ kind: 'email.deliver', refId: id });
    const { data } = await expectOk(api.call('GET', `/v1/emails/${id}`));
    expect(data).toMatchObject({
      subject: 'Order 7',
      resentFrom: old,
      attempts: 0,
      attachments: [{ name: 'a.txt', size: 1 }],
    });
    expect(data.headers['x-shop']).toBe('1');
  });

  it('resends once for requests with the same Idempotency-Key', async () => {
    const id = await buildEmail(api.db, { projectId: api.one.id, status: 'FAILED' });
    const headers = { 'idempotency-key': 'again' };
    const first = await expectOk(resend(id, { headers }));
    const second = await resend(id, { headers });
    expect(second.body.error).toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
      details: { originalRequest: 'POST /v1/emails/{id}/resend', originalResponse: first },
    });
  });

  it('checks the consent that MARKETING email needs, and keeps untrusted data separate', async () => {
    const { id: projectId } = api.one;
    const email = { projectId, type: 'MARKETING', status: 'SENT' } as const;
    await buildContact(api.db, { projectId, email: 'out@example.com', subscribed: false });
    const refused = await resend(await buildEmail(api.db, { ...email, to: 'out@example.com' }));
    expect([refused.status, refused.body.error.code]).toEqual([400, 'CONTACT_UNSUBSCRIBED']);
    await buildContact(api.db, { projectId, email: 'in@example.com' });
    const old = await buildEmail(api.db, { ...email, to: 'in@example.com', options: { untrustedKeys: ['name'] } });
    const response = await expectOk(resend(old));
    const again = await readEmail(response.data.emails[0].email);
    expect(again.options).toEqual({ untrustedKeys: ['name'], resentFrom: old });
    const content = await api.db
      .selectFrom('contents')
      .select('type')
      .where('id', '=', again.content_id)
      .executeTakeFirstOrThrow();
    expect(content.type).toBe('MARKETING');
  });

  it('resends a test email as a test email, and any email as a test email with a test key', async () => {
    const { id: projectId } = api.one;
    const test = await buildEmail(api.db, { projectId, mode: 'test', status: 'SENT' });
    const live = await buildEmail(api.db, { projectId, status: 'SENT' });
    for (const response of [resend(test), resend(live, { key: api.one.testKey })]) {
      const { data } = await expectOk(response);
      expect((await readEmail(data.emails[0].email)).mode).toBe('test');
    }
  });

  it('refuses inbound email, email of erased contacts, and email whose attachments were deleted', async () => {
    const { id: projectId } = api.one;
    const attachment = await api.db
      .insertInto('attachments')
      .values({ project_id: projectId, filename: 'a', content_type: 'text/plain', content: Buffer.from(''), size: 5 })
      .returning('id')
      .executeTakeFirstOrThrow();
    for (const email of [
      { sourceType: 'INBOUND' as const },
      { to: null },
      { options: { attachmentIds: [attachment.id] } },
      { options: { sandbox: { contact: null } } },
    ]) {
      const { status, body } = await resend(await buildEmail(api.db, { projectId, status: 'SENT', ...email }));
      expect([status, body.error.code], JSON.stringify(email)).toEqual([409, 'CONFLICT']);
    }
  });
});

describe('GET /v1/emails', () => {
  it('filters emails by source, reason, feedback, contact and execution', async () => {
    const { id: projectId } = api.one;
    const contactId = await buildContact(api.db, { projectId });
    const id = await buildEmail(api.db, { projectId, contactId, sourceType: 'WORKFLOW', status: 'FAILED' });
    const executionId = (await readEmail(id)).content_id;
    await sql`UPDATE emails SET reason = 'expired', bounced_at = now(), execution_id = ${executionId}, visit = 1 WHERE id = ${id}`.execute(
      api.db,
    );
    const since = new Date(Date.now() - 60_000).toISOString();
    const until = new Date(Date.now() + 60_000).toISOString();
    for (const query of [
      ...[
        'sourceType=WORKFLOW',
        'reason=expired',
        'happened=bounced',
        `contactId=${contactId}`,
        `workflowExecutionId=${executionId}`,
      ],
      `reason=expired&since=${since}&until=${until}`,
    ]) {
      const { data } = await expectOk(api.call('GET', `/v1/emails?${query}`));
      expect(
        data.map((email: { id: string }) => email.id),
        query,
      ).toEqual([id]);
      const other = await expectOk(api.call('GET', `/v1/emails?${query}`, { key: api.two.secretKey }));
      expect(other.data, query).toEqual([]);
    }
    expect((await api.call('GET', '/v1/emails?reason=bored')).status).toBe(400);
    expect((await expectOk(api.call('GET', `/v1/emails?reason=expired&until=${since}`))).data).toEqual([]);
  });
});

describe('GET /auth/signup', () => {
  it('reports whether a new account can be created', async () => {
    expect(await expectOk(api.call('GET', '/auth/signup', { key: null }))).toEqual({ open: true });
  });
});
