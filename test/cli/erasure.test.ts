import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { sql } from 'kysely';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeTwilio, startFakeTwilio } from '../../cli/demo/twilio.ts';
import type { DevFile } from '../../cli/start/dev-file.ts';
import { findFreePort } from '../../cli/start/ports.ts';
import { connect, type Db } from '../../db/connection.ts';
import { removeErasedAttachments } from '../../db/contents/erased-attachments.ts';
import { removeErasedContents } from '../../db/contents/removal.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { createVerpAddress } from '../../rules/emails/verp.ts';
import { computeTwilioSignature } from '../../rules/sms/twilio-signature.ts';
import { createCampaignBody } from '../build/campaigns.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { type CallOptions, callHttp } from '../support/http.ts';
import { formatArf, formatDsn } from '../support/smtp/email-reports.ts';
import { createHomePath, removeHome, type StartedService, startService } from '../support/start.ts';
import { readAllTemporalData } from '../support/temporal-data.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

/** This text is part of every address, name and text of the person. */
const MARK = 'quillfeather';
const ADDRESS = `${MARK}@person.example`;
/** The contact's first address. */
const FORMER = `${MARK}.former@person.example`;
const PHONE = '+4915199887766';
/** A row or file that matches this pattern still has data of the person. */
const MARKS = new RegExp(`${MARK}|${PHONE.slice(1)}`, 'i');
const OTHER = 'other@reader.example';
const SECRET_KEY = 'the secret key of the erasure test';
const TWILIO_TOKEN = 'the token of the erasure test';

const home = createHomePath();
let service: StartedService;
let dev: DevFile;
let db: Db;
let twilio: FakeTwilio;
let receiver: WebhookReceiver;
/** The number from which the first project sends SMS. */
let smsSender: string;
let relayPort: number;
let inboundPort: number;

beforeAll(async () => {
  twilio = await startFakeTwilio();
  receiver = await startWebhookReceiver(({ body }, response) =>
    // The endpoint repeats the request in its error, as real endpoints may.
    response.writeHead(503).end(body.includes(MARK) ? `not now, ${MARK}` : 'not now'),
  );
  relayPort = await findFreePort();
  inboundPort = await findFreePort();
  service = await startService({
    home,
    env: {
      SECRET_KEY,
      WEBHOOK_ALLOW_PRIVATE: 'true',
      LOG_LEVEL: 'debug',
      SMTP_RELAY_PORT: String(relayPort),
      INBOUND_SMTP_PORT: String(inboundPort),
      SMS_PROVIDER: 'twilio',
      TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
      TWILIO_AUTH_TOKEN: TWILIO_TOKEN,
      TWILIO_BASE_URL: twilio.url,
    },
  });
  dev = service.dev();
  db = connect({ connectionString: dev.databaseUrl, max: 2, applicationName: 'test', onError: () => {} }).db;
  smsSender = (await db.selectFrom('sms_senders').select('from_phone').executeTakeFirstOrThrow()).from_phone;
});
afterAll(async () => {
  await db?.destroy();
  service?.signal('SIGTERM');
  await service?.exited;
  await Promise.all([twilio?.close(), receiver?.close()]);
  await removeHome(home);
});

const caller = {
  call: (method: string, path: string, { key = dev.secretKey, ...options }: CallOptions = {}) =>
    callHttp(dev.baseUrl, method, path, { key, ...options }),
};
const post = (path: string, body: object, options: CallOptions = {}) =>
  expectOk(caller.call('POST', path, { body, ...options }));
const getSenderAddress = () => `shop@${dev.domain}`;
const marked = { name: MARK, city: `${MARK}town`, phone: PHONE, nested: { note: [MARK] } };

async function findContactId(email: string): Promise<string> {
  const { data } = await expectOk(caller.call('GET', `/contacts?search=${encodeURIComponent(email)}`));
  return data[0].id;
}

function submit(port: number, p: { from: string; to: string | string[]; raw: string; pass?: string }): Promise<string> {
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    ignoreTLS: true,
    ...(p.pass !== undefined && { auth: { user: ADDRESS, pass: p.pass } }),
  });
  const envelope = { from: p.from, to: p.to };
  return transport.sendMail({ envelope, raw: p.raw.replaceAll('\n', '\r\n') }).then(({ response }) => response);
}

async function receiveSms(text: string): Promise<void> {
  const params = { From: PHONE, To: smsSender, Body: text };
  const url = `${dev.baseUrl}/webhooks/twilio/inbound`;
  const headers = { 'x-twilio-signature': computeTwilioSignature(TWILIO_TOKEN, url, params) };
  expect((await fetch(url, { method: 'POST', headers, body: new URLSearchParams(params) })).status).toBe(200);
}

async function importCsv(csv: string): Promise<void> {
  const form = new FormData();
  form.append('file', new File([csv], `${MARK}.csv`));
  const headers = { authorization: `Bearer ${dev.secretKey}` };
  const response = await fetch(`${dev.baseUrl}/contacts/import`, { method: 'POST', body: form, headers });
  expect(response.status).toBe(202);
  const { jobId } = (await response.json()) as { jobId: string };
  await waitForJob(`/contacts/import/${jobId}`);
}

const waitForJob = (path: string) =>
  until(async () => (await expectOk(caller.call('GET', path))).completedAt, `the end of ${path}`);

/** Waits for an email to the address whose subject starts with `subject`, and returns the email's id. */
const waitForEmail = (subject: string, to: string) =>
  until(async () => {
    const { rows } = await sql<{ id: string }>`
      SELECT e.id FROM emails e JOIN contents k ON k.id = e.content_id LEFT JOIN contacts c ON c.id = e.contact_id
      WHERE k.subject LIKE ${`${subject}%`} AND coalesce(e.to_email, c.email) = ${to}
        AND e.status NOT IN ('PENDING', 'SENDING')`.execute(db);
    return rows[0]?.id;
  }, `the email ${subject}`);

/** Returns the first tracked link of an email in the development mailbox. */
async function findMailboxLink(subject: string): Promise<string> {
  return (await findLink(subject, 'c')) ?? '';
}

/** Waits for an email in the development mailbox, and returns its link to a page of the service. */
const waitForPageLink = (subject: string, page: string) =>
  until(() => findLink(subject, page), `the link of ${subject}`);

async function findLink(subject: string, page: string): Promise<string | undefined> {
  const { data } = (await (await fetch(`${dev.baseUrl}/mailbox.json?to=${FORMER}`)).json()) as {
    data: { subject: string; html: string }[];
  };
  const html = data.find((email) => email.subject === subject)?.html ?? '';
  return new RegExp(`href="(http[^"]*/${page}/[^"]+)"`).exec(html)?.[1];
}

async function click(link: string): Promise<void> {
  expect((await fetch(link.replaceAll('&amp;', '&'), { redirect: 'manual' })).headers.get('location')).toContain(MARK);
}

describe('data of one person is created in every part of the service', () => {
  it('as a contact: by sign-up, events, import, segment, topic and public key', async () => {
    await post('/webhooks', { url: receiver.url, events: ['*'] });
    await post('/campaigns', createCampaignBody({ name: 'Early', subject: 'Early', from: getSenderAddress() })).then(
      ({ data }) =>
        // No contact has this address yet.
        post(`/campaigns/${data.id}/test`, { email: FORMER }),
    );
    await post('/v1/sms/send', { to: PHONE, body: `Welcome ${MARK}` });
    await receiveSms(`I am ${MARK}`);
    await post(
      '/contacts',
      { email: FORMER, subscribed: true, data: marked },
      { headers: { 'idempotency-key': `sign-up-${FORMER}` } },
    );
    await post(
      '/v1/track',
      { email: FORMER, event: 'ordered', data: marked },
      { headers: { 'idempotency-key': `order-${FORMER}`, 'x-request-id': `request-of-${FORMER}` } },
    );
    await post('/v1/track', { email: FORMER, event: 'seen', data: marked }, { key: dev.publicKey });
    await importCsv(`email,name,subscribed\n${FORMER},${MARK},yes\nMs ${MARK} <${FORMER},${MARK},maybe\n`);
    const segment = await post('/segments', { name: 'Friends', type: 'STATIC' });
    await post(`/segments/${segment.id}/members`, { emails: [FORMER] });
    const topic = await post('/topics', { name: 'News', defaultSubscribed: true });
    const id = await findContactId(FORMER);
    await expectOk(caller.call('PATCH', `/contacts/${id}`, { body: { topics: { [topic.id]: false } } }));
    await post('/events/track', { name: 'noted', contactId: id, data: marked });
    await expectOk(
      caller.call('PUT', '/storefront/variants', {
        body: { variants: [{ variantId: '4711', productTitle: 'Jumper', title: 'Blue', available: false }] },
      }),
    );
    await post('/v1/back-in-stock', { email: FORMER, storefrontVariantId: '4711' }, { key: dev.publicKey });
    await post(
      '/v1/pixel',
      { name: 'product_viewed', clientId: MARK, email: FORMER, data: { query: MARK } },
      { key: dev.publicKey },
    );
    await post('/contacts/lookup', { emails: [FORMER] });
    await post('/v1/verify', { email: FORMER });
    const job = await post('/contacts/bulk-unsubscribe', { where: { search: FORMER } });
    await waitForJob(`/contacts/bulk/${job.jobId}`);
    await expectOk(caller.call('PATCH', `/contacts/${id}`, { body: { subscribed: true } }));
  });

  it('by double opt-in, the pages of its emails, an A/B test, and an execution that failed', async () => {
    const login = await fetch(`${dev.baseUrl}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(dev.owner),
    });
    const session = { cookie: login.headers.getSetCookie()[0]?.split(';')[0] ?? '', origin: dev.baseUrl };
    const setOptIn = (doubleOptIn: object) =>
      expectOk(caller.call('PATCH', '/project', { key: null, headers: session, body: { doubleOptIn } }));
    const body = '<p>{{name}} <a href="{{confirmUrl}}">yes</a></p>';
    const confirm = await post('/templates', {
      name: 'Confirm',
      subject: 'Confirm {{name}}',
      body,
      type: 'TRANSACTIONAL',
      from: getSenderAddress(),
    });
    await setOptIn({ enabled: true, templateId: confirm.id });
    const id = await findContactId(FORMER);
    await expectOk(caller.call('PATCH', `/contacts/${id}`, { body: { subscribed: false } }));
    await post('/v1/track', { email: FORMER, event: 'signed-up', subscribed: true }, { key: dev.publicKey });
    const openLink = async (link: string, form?: string) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': MARK };
      const response = await fetch(link, { headers, ...(form !== undefined && { method: 'POST', body: form }) });
      expect(response.status).toBe(200);
    };
    await openLink(await waitForPageLink(`Confirm ${MARK}`, 'confirm'), 'confirm=yes');
    await setOptIn({ enabled: false });
    const { data: campaign } = await post(
      '/campaigns',
      createCampaignBody({
        subject: 'Variants',
        body: '<p>{{name}} <a href="{{unsubscribeUrl}}">leave</a> <a href="{{manageUrl}}">choose</a></p>',
        from: getSenderAddress(),
        variants: [
          { name: 'A', subject: 'Variant {{name}}' },
          { name: 'B', subject: 'Variant {{name}}' },
        ],
        test: { share: 1, metric: 'opens', waitMinutes: 0 },
      }),
    );
    await post(`/campaigns/${campaign.id}/send`, {});
    await openLink(await waitForPageLink(`Variant ${MARK}`, 'm'));
    await openLink(await waitForPageLink(`Variant ${MARK}`, 'u'), 'List-Unsubscribe=One-Click');
    expect((await post('/contacts', { email: FORMER, subscribed: true }))._meta).toMatchObject({ resubscribed: true });
    const workflow = await buildWorkflow(caller, {
      eventName: 'reminder',
      steps: { pause: { type: 'DELAY', config: { until: '{{event.at}}' }, to: 'end' }, end: { type: 'EXIT' } },
    });
    await post('/v1/track', { email: FORMER, event: 'reminder', data: { at: `${MARK} at nine` } });
    const executions = `/workflows/${workflow.id}/executions`;
    const failed = await until(async () => {
      const { data } = await expectOk(caller.call('GET', `${executions}?status=FAILED`));
      return data[0]?.id as string | undefined;
    }, 'the failed execution');
    await post(`${executions}/${failed}/retry`, {});
  });

  it('in email: sent, copied, by template and campaign, relayed, received, bounced, complained about', async () => {
    const body = {
      from: getSenderAddress(),
      subject: `Single for ${MARK}`,
      body: `<p>${MARK}</p><a href="https://example.com/${MARK}">here</a>`,
      data: { secret: { value: `${MARK} once`, persistent: false } },
      headers: { 'X-Person': MARK },
      attachments: [
        { filename: `${MARK}.txt`, content: Buffer.from(MARK).toString('base64'), contentType: 'text/plain' },
      ],
    };
    await post('/v1/send', { ...body, to: { name: MARK, email: FORMER } }, { headers: { 'idempotency-key': ADDRESS } });
    const copied = { from: getSenderAddress(), subject: 'Copied', body: 'Hi', to: OTHER, cc: `${MARK} <${FORMER}>` };
    await post('/v1/send', copied);
    await post('/v1/send', {
      ...body,
      subject: `Shared by ${MARK}`,
      to: FORMER,
      cc: OTHER,
      bcc: 'third@reader.example',
    });
    await waitForEmail('Shared', 'third@reader.example');
    const failed = { ...body, to: FORMER, from: `${MARK}@not-verified.example` };
    expect((await caller.call('POST', '/v1/send', { body: failed })).status).toBeGreaterThan(399);
    const template = await post('/templates', {
      name: 'Letter',
      subject: 'Letter',
      body: '<p>{{name}} {{city}}</p>',
      type: 'TRANSACTIONAL',
      from: getSenderAddress(),
    });
    await post('/v1/send', { to: FORMER, template: template.id, data: { order: `${MARK}-1` } });
    await post('/templates/test', { subject: MARK, body: `<p>${MARK}</p>`, from: getSenderAddress(), email: FORMER });
    const campaign = await post(
      '/campaigns',
      createCampaignBody({
        subject: 'Issue 1',
        body: '<p>{{name}} <a href="https://example.com/{{city}}">x</a></p>',
        from: getSenderAddress(),
      }),
    );
    await post(`/campaigns/${campaign.data.id}/send`, {});
    const relayed = `From: ${getSenderAddress()}\nTo: ${MARK} <${FORMER}>\nSubject: Relayed\nMessage-ID: <${MARK}@app.example>\n\n${MARK}\n`;
    expect(
      await submit(relayPort, { from: getSenderAddress(), to: FORMER, raw: relayed, pass: dev.secretKey }),
    ).toMatch(/^250/);
    const received =
      `From: ${MARK} <${FORMER}>\nTo: help@${dev.domain}\nSubject: ${MARK} asks\nMessage-ID: <1@${MARK}>\nMIME-Version: 1.0\n` +
      `Content-Type: multipart/mixed; boundary=x\n\n--x\n\nI am ${MARK}\n--x\nContent-Type: text/plain; name=${MARK}.txt\n` +
      `Content-Disposition: attachment; filename=${MARK}.txt\n\n${MARK}\n--x--\n`;
    expect(await submit(inboundPort, { from: FORMER, to: `help@${dev.domain}`, raw: received })).toMatch(/^250/);
    await waitForEmail('Issue 1', FORMER);
    await click(await findMailboxLink('Issue 1'));
    const key = deriveKey(SECRET_KEY, 'verp');
    const deliverReport = async (subject: string, raw: string) => {
      const to = createVerpAddress(key, await waitForEmail(subject, FORMER), dev.domain);
      expect(await submit(inboundPort, { from: '', to, raw })).toMatch(/^250/);
    };
    await deliverReport(
      'Letter',
      formatDsn({
        status: '4.2.1',
        action: 'failed',
        recipient: FORMER,
        diagnostic: `smtp; 450 4.2.1 Ms ${MARK} is away`,
      }),
    );
    await deliverReport(
      'Single',
      formatDsn({ status: '5.1.1', recipient: FORMER, diagnostic: `smtp; 550 5.1.1 <${FORMER}>: Ms ${MARK} has left` }),
    );
    await until(async () => {
      const { rows } = await sql<{ error: string | null }>`SELECT error FROM emails WHERE to_email = ${FORMER}`.execute(
        db,
      );
      return rows.some(({ error }) => error?.includes('has left'));
    }, 'the bounce');
    await deliverReport('Issue 1', formatArf({ headers: `From: ${getSenderAddress()}\nTo: ${MARK} <${FORMER}>` }));
  });

  it('with another address, in workflows, in SMS, and in requests that fail', async () => {
    const id = await findContactId(FORMER);
    await expectOk(caller.call('PATCH', `/contacts/${id}`, { body: { email: ADDRESS, subscribed: true } }));
    const template = await post('/templates', {
      name: 'Step',
      subject: 'Step for {{name}}',
      body: '<p>{{name}}</p>',
      type: 'TRANSACTIONAL',
      from: getSenderAddress(),
    });
    const workflow = await buildWorkflow(caller, {
      eventName: 'walk',
      allowReentry: true,
      steps: {
        update: { type: 'UPDATE_CONTACT', config: { updates: { last: '{{event.note}}' } }, to: 'mail' },
        mail: { type: 'SEND_EMAIL', config: { templateId: template.id }, to: 'custom' },
        custom: {
          type: 'SEND_EMAIL',
          config: {
            templateId: template.id,
            recipient: { type: 'CUSTOM', customEmail: `${MARK}.second@person.example` },
          },
          to: 'sms',
        },
        sms: { type: 'SEND_SMS', config: { body: 'Hi {{name}}', transactional: true }, to: 'hook' },
        hook: { type: 'WEBHOOK', config: { url: `${receiver.url}/{{name}}`, body: { of: '{{email}}' } }, to: 'wait' },
        wait: {
          type: 'WAIT_FOR_EVENT',
          config: { eventName: 'never', timeout: 86_400 },
          to: { event: 'end', timeout: 'end' },
        },
        end: { type: 'EXIT' },
      },
    });
    await post('/v1/track', { email: ADDRESS, event: 'walk', data: { note: `${MARK} walks` } });
    const step = await waitForEmail('Step', ADDRESS);
    const context = { note: MARK, nested: { list: [ADDRESS] } };
    await post(`/workflows/${workflow.id}/executions`, {
      contactId: id,
      context,
      sandbox: true,
      skipDelays: true,
      events: [{ name: 'never', data: context }],
    });
    await post(`/workflows/${workflow.id}/preview`, { contactId: id, event: context });
    await post(`/v1/emails/${step}/resend`, {});
    await post('/v1/send/batch', {
      emails: [
        {
          to: `${MARK} <${ADDRESS}>`,
          from: getSenderAddress(),
          subject: MARK,
          body: MARK,
          data: { note: { value: MARK, persistent: false } },
        },
        { to: ADDRESS, from: `shop@${MARK}.example`, subject: 'Refused', body: 'x' },
      ],
    });
    await post('/v1/sms/stops', { phone: `+49 (1519) 988-7766`, from: smsSender });
    await expectOk(caller.call('DELETE', `/v1/sms/stops/${encodeURIComponent(PHONE)}`));
    await receiveSms(`Bye, ${MARK}`);
    await receiveSms('STOP');
    await post('/suppressions', { email: ADDRESS, reason: 'manual' });
    await post('/contacts', { email: ADDRESS, subscribed: true });
    expect((await caller.call('POST', '/contacts', { body: { email: ADDRESS, subscribed: ADDRESS } })).status).toBe(
      422,
    );
    expect((await caller.call('GET', `/contacts/${ADDRESS}`)).status).toBeGreaterThan(399);
    await until(async () => {
      const { rows } = await sql<{
        status: number;
      }>`SELECT response_status AS status FROM webhook_deliveries WHERE response_status = 503`.execute(db);
      return rows.length > 3;
    }, 'refused deliveries');
  });
});

it('after the erasure, Postgres, Temporal and the files of the home have no data of the person', async () => {
  expect(await findRowsOfPerson()).not.toEqual([]);
  const id = await findContactId(ADDRESS);
  expect((await caller.call('DELETE', `/contacts/${id}`, {})).status).toBe(204);
  // Pruning deletes attachments and contents that no email uses. It runs every hour, so the test does it now.
  await removeErasedAttachments(db);
  await removeErasedContents(db);
  await until(async () => (await countRunning(id)) === 0, 'the end of the workflows');
  expect(await findRowsOfPerson()).toEqual([]);
  expect(await findWorkflowsOfPerson()).toEqual([]);
  expect(findFilesOfPerson(home)).toEqual([]);
});

/** Searches every column of every table except `workflow_steps`, which has the tenant's settings. Bytes are read as text. */
async function findRowsOfPerson(): Promise<string[]> {
  const { rows: columns } = await sql<{ table: string; column: string; type: string }>`
    SELECT table_name AS "table", column_name AS "column", data_type AS "type" FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name <> 'workflow_steps'`.execute(db);
  const found: string[] = [];
  for (const { table, column, type } of columns) {
    const text = type === 'bytea' ? sql`encode(${sql.ref(column)}, 'escape')` : sql`${sql.ref(column)}::text`;
    const { rows } = await sql<{ text: string }>`
      SELECT ${text} AS text FROM ${sql.table(table)} WHERE ${text} ~* ${MARKS.source}`.execute(db);
    found.push(...rows.map((row) => `${table}.${column}: ${row.text.slice(0, 200)}`));
  }
  return found;
}

async function connectTemporal(): Promise<Client> {
  const { address, namespace } = dev.temporal;
  return new Client({ connection: await Connection.connect({ address }), namespace });
}

async function countRunning(contactId: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*)::int AS n FROM executions WHERE contact_id = ${contactId} AND status IN ('RUNNING', 'WAITING')`.execute(
    db,
  );
  return rows[0]?.n ?? 0;
}

async function findWorkflowsOfPerson(): Promise<string[]> {
  const client = await connectTemporal();
  const runs = await readAllTemporalData(client);
  const found = runs.filter(({ text }) => MARKS.test(text)).map(({ workflowId }) => workflowId);
  await client.connection.close();
  return found;
}

/** Reads every file except the data files of Postgres, whose rows are searched by query. */
function findFilesOfPerson(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes(join(home, 'postgres', 'data')))
    .filter((path) => MARKS.test(readFileSync(path, 'latin1')));
}
