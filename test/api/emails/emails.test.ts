import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertCapturedEmail, insertCapturedSms } from '../../../db/sending/captured.ts';
import { buildContact, buildEmail } from '../../build/emails.ts';
import { buildDomain } from '../../build/senders.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id });
});
afterAll(() => api.close());

const createEmailBody = (to: string, more: object = {}) => ({
  to: { email: to, name: 'Ada' },
  from: { email: 'x@shop.example.com', name: 'Shop' },
  subject: 'Hi {{name}}',
  body: '<p>Hello {{name}}, <a href="https://example.com/{{name}}">look</a> <a href="{{unsubscribeUrl}}">leave</a></p>',
  data: { name: 'Ada' },
  ...more,
});

async function send(to: string, more: object = {}, key?: string): Promise<string> {
  const r = await api.call('POST', '/v1/send', { body: createEmailBody(to, more), ...(key && { key }) });
  expect(r.status).toBe(200);
  return r.body.data.emails[0].email;
}
const listEmails = async (query = '') => (await api.call('GET', `/v1/emails${query}`)).body;

it('an email is shown as it was sent, whatever has happened to the contact since', async () => {
  const attachments = [{ filename: 'a.txt', content: 'aGVsbG8=', contentType: 'text/plain' }];
  const id = await send('read@example.com', { headers: { 'X-Order': '7' }, reply: 'r@example.com', attachments });
  await send('read@example.com', { data: { name: 'Bob' } });
  const { status, body } = await api.call('GET', `/v1/emails/${id}`);
  expect(status).toBe(200);
  expect(body.data).toMatchObject({
    id,
    to: 'read@example.com',
    from: 'x@shop.example.com',
    fromName: 'Shop',
    subject: 'Hi Ada',
    status: 'PENDING',
    mode: 'live',
    sourceType: 'TRANSACTIONAL',
    replyTo: 'r@example.com',
    attachments: [{ name: 'a.txt', type: 'text/plain', size: 5 }],
    events: [],
    sentAt: null,
  });
  expect(body.data.body).toContain('Hello Ada');
  expect(body.data.body).toContain('https://example.com/Ada');
  expect(body.data.text).toContain('Hello Ada');
  expect(body.data.headers).toMatchObject({ 'x-order': '7', subject: 'Hi Ada', to: 'Ada <read@example.com>' });
  expect(body.data.headers['list-unsubscribe']).toContain('/u/');
});

it('the list of emails can be filtered, and its pages have no duplicates or gaps', async () => {
  const live = [await send('p1@example.com'), await send('p2@example.com'), await send('p1@example.com')];
  const tested = await send('p1@example.com', {}, api.one.testKey);
  const listIds = (page: { data: { id: string }[] }) => page.data.map((item) => item.id);
  expect(listIds(await listEmails('?to=P1@example.com'))).toEqual([live[2], live[0]]);
  expect(listIds(await listEmails('?to=p1@example.com&mode=test'))).toEqual([tested]);
  expect(listIds(await listEmails('?to=p1@example.com&mode=all'))).toEqual([tested, live[2], live[0]]);
  expect(listIds(await listEmails('?to=nobody@example.com'))).toEqual([]);
  expect(listIds(await listEmails('?status=SENT'))).toEqual([]);
  expect(listIds(await listEmails(`?since=${new Date(Date.now() + 60_000).toISOString()}`))).toEqual([]);
  const first = await listEmails('?to=p1@example.com&mode=all&limit=2');
  const second = await listEmails(`?to=p1@example.com&mode=all&limit=2&cursor=${first.nextCursor}`);
  expect([...listIds(first), ...listIds(second)]).toEqual([tested, live[2], live[0]]);
  expect(second.nextCursor).toBeNull();
  expect(first.data[0]).not.toHaveProperty('body');
});

it('the list of emails can be filtered by template', async () => {
  const template = { name: 'T', subject: 'S', body: '<p>B</p>', type: 'TRANSACTIONAL', from: 'x@shop.example.com' };
  const { body } = await api.call('POST', '/templates', { body: template });
  const sent = await api.call('POST', '/v1/send', { body: { to: 't@example.com', template: body.id } });
  await send('t@example.com');
  const { data } = await listEmails(`?templateId=${body.id}`);
  expect(data).toMatchObject([{ id: sent.body.data.emails[0].email, templateId: body.id }]);
  const asTwo = await api.call('GET', `/v1/emails?templateId=${body.id}`, { key: api.two.secretKey });
  expect(asTwo.body.data).toEqual([]);
});

it('the list of emails can be filtered by campaign', async () => {
  const created = await api.call('POST', '/campaigns', {
    body: { name: 'N', subject: 'S', body: '<p>b</p>', from: 'x@shop.example.com', audienceType: 'ALL' },
  });
  const campaignId = created.body.data.id;
  await send('other@example.com');
  const contactId = await buildContact(api.db, { projectId: api.one.id, email: 'of-campaign@example.com' });
  const id = await buildEmail(api.db, { projectId: api.one.id, contactId, to: null, sourceType: 'CAMPAIGN' });
  await api.db.updateTable('emails').set({ campaign_id: campaignId }).where('id', '=', id).execute();
  expect((await listEmails(`?campaignId=${campaignId}`)).data).toMatchObject([{ id, campaignId }]);
  const asTwo = await api.call('GET', `/v1/emails?campaignId=${campaignId}`, { key: api.two.secretKey });
  expect(asTwo.body.data).toEqual([]);
});

it.each(['PENDING', 'HELD'] as const)(
  'a %s email of a campaign shows the address of its contact, and is found by that address',
  async (status) => {
    const projectId = api.one.id;
    const email = `${status.toLowerCase()}@example.com`;
    const contactId = await buildContact(api.db, { projectId, email });
    const id = await buildEmail(api.db, { projectId, contactId, to: null, sourceType: 'CAMPAIGN', status });
    expect((await listEmails(`?to=${email}`)).data).toMatchObject([{ id, to: email }]);
    expect((await api.call('GET', `/v1/emails/${id}`)).body.data).toMatchObject({ id, to: email });
  },
);

it('another project and a key without the scope see no emails', async () => {
  const id = await send('mine@example.com');
  const get = (key: string) => api.call('GET', `/v1/emails/${id}`, { key });
  expect((await get(api.two.secretKey)).status).toBe(404);
  expect((await get(api.one.bareKey)).body.error.details.requiredScope).toBe('emails:view');
  expect((await api.call('GET', '/v1/emails', { key: api.two.secretKey })).body.data).toEqual([]);
});

it.each([['limit=0'], ['limit=101'], ['limit=x'], ['status=NONE'], ['mode=both'], ['since=yesterday']])(
  'an invalid query value returns 400 VALIDATION_ERROR: %s',
  async (query) => {
    const r = await api.call('GET', `/v1/emails?${query}`);
    expect([r.status, r.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  },
);

it('an invalid cursor returns 400', async () => {
  const r = await api.call('GET', '/v1/emails?cursor=x');
  expect([r.status, r.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
});

it('the mailbox shows captured email as JSON and as pages without scripts', async () => {
  const id = '0190a000-0000-7000-8000-0000000000aa';
  const raw = [
    'From: Shop <x@shop.example.com>',
    'To: ada@example.com',
    'Subject: <b>Hi</b>',
    'MIME-Version: 1.0',
    'Content-Type: text/html; charset=utf-8',
    '',
    '<p>Hello <script>alert(1)</script></p>',
  ].join('\r\n');
  await insertCapturedEmail(api.db, { id, from: 'bounce+x@shop.example.com', to: 'Ada@example.com', raw });
  const open = (path: string) => api.call('GET', path, { key: null });
  const { body } = await open('/mailbox.json?to=ada@example.com');
  expect(body.data).toHaveLength(1);
  expect(body.data[0]).toMatchObject({ id, from: 'x@shop.example.com', to: 'ada@example.com', subject: '<b>Hi</b>' });
  expect(body.data[0].headers.subject).toBe('<b>Hi</b>');
  const page = await open('/mailbox');
  expect(page.body).toContain('&lt;b&gt;Hi&lt;/b&gt;');
  expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect((await open(`/mailbox/${id}`)).body).toContain(`src="/mailbox/${id}/html"`);
  const html = await open(`/mailbox/${id}/html`);
  expect(html.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(html.headers.get('x-frame-options')).toBeNull();
  expect((await open('/mailbox/nonsense')).status).toBe(404);
  expect((await open('/mailbox.json?to=%00')).status).toBe(400);
});

it('the mailbox shows captured SMS', async () => {
  await insertCapturedSms(api.db, {
    id: '0190a000-0000-7000-8000-0000000000ab',
    from: '+15550001',
    to: '+4915112345678',
    body: 'Hi',
  });
  const { body } = await api.call('GET', '/mailbox/sms.json?to=%2B4915112345678', { key: null });
  expect(body.data).toMatchObject([{ from: '+15550001', to: '+4915112345678', body: 'Hi' }]);
});

it('the filter of the SMS mailbox stays in the list of SMS', async () => {
  const { body: page } = await api.call('GET', '/mailbox/sms?to=%2B4900', { key: null });
  expect(page).toContain('<form action="/mailbox/sms">');
  expect(page).toContain('value="+4900"');
  expect(page).toContain('No SMS to +4900 yet.');
});

it('without the capture providers, the mailbox shows emails to the simulator, and the SMS mailbox returns 404', async () => {
  const other = await startTestApi({ EMAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://127.0.0.1:1', SMS_PROVIDER: 'none' });
  try {
    const emails = await other.call('GET', '/mailbox.json', { key: null });
    expect([emails.status, emails.headers.get('x-mailbox-of')]).toEqual([200, 'simulator']);
    expect((await other.call('GET', '/mailbox/sms.json', { key: null })).status).toBe(404);
  } finally {
    await other.close();
  }
});
