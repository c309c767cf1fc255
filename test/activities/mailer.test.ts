import { sql } from 'kysely';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMailer, type Mailer } from '../../activities/emails/mailer.ts';
import { createSmtpProvider } from '../../channels/email/smtp/provider.ts';
import { createCompute } from '../../compute/compute.ts';
import { addSuppressions, createSuppressionPads } from '../../db/contacts/suppressions.ts';
import { insertAttachments } from '../../db/contents/attachments.ts';
import { queueInvitationEmail } from '../../db/projects/invitation-email.ts';
import { claimEmails } from '../../db/sending/email-ledger.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { parseConfig } from '../../rules/config.ts';
import { parseVerpAddress } from '../../rules/emails/verp.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { ALL_DAYS } from '../../rules/time/sending-window.ts';
import { type BuildEmail, buildContact, buildEmail } from '../build/emails.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';

const DELIVERY = '0190a000-0000-7000-8000-00000000d001';
const suppressionKey = deriveKey(TEST_SECRET_KEY, 'suppression');
let database: TestDatabase;
let sink: SmtpSink;
let mailer: Mailer;
let provider: ReturnType<typeof createSmtpProvider>;
let projectId: string;
let domain: Awaited<ReturnType<typeof buildDomain>>;
const dispatched: OutboxRow[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  sink = await startSmtpSink({ keepBodies: true });
  const config = parseConfig({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    SECRET_KEY: TEST_SECRET_KEY,
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: sink.url,
    PUBLIC_URL: 'https://mail.example.com',
  });
  provider = createSmtpProvider({ url: sink.url });
  const outbox = { wake: (rows: OutboxRow[]) => void dispatched.push(...rows) };
  mailer = createMailer({
    config,
    compute: createCompute({ cpuMsPerSecond: 0 }),
    db: database.db,
    provider,
    outbox,
    endLog: () => {},
    log: { warn: () => {} },
  });
});
afterAll(async () => {
  await provider.close();
  await sink.close();
  await database.drop();
});
beforeEach(async () => {
  projectId = (await buildProject(database.db, 'Mail')).id;
  domain = await buildDomain(database.db, { projectId });
  sink.reset();
});

async function claimEmail(id: string, deliveryId = DELIVERY) {
  const [email] = await claimEmails(database.db, {
    projectId,
    emails: [{ id, deliveryId }],
    suppressionPads: createSuppressionPads(suppressionKey),
  });
  return email;
}

async function deliver(mail: Partial<BuildEmail> = {}) {
  const id = await buildEmail(database.db, { projectId, ...mail });
  const email = await claimEmail(id);
  if (!email) throw new Error('not claimed');
  const delivery = await mailer.deliver(email);
  return { id, delivery, row: await readEmail(id) };
}

const readEmail = (id: string) =>
  database.db.selectFrom('emails').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const listEvents = (id: string) =>
  database.db.selectFrom('events').selectAll().where('email_id', '=', id).orderBy('id').execute();

it('only the email of a workflow is marked as automatic', async () => {
  for (const sourceType of ['WORKFLOW', 'CAMPAIGN', 'TRANSACTIONAL'] as const) await deliver({ sourceType });
  await deliver({ sourceType: 'WORKFLOW', options: { text: 'Hello' } });
  const parsed = await Promise.all(sink.bodies.map((raw) => PostalMime.parse(raw)));
  const marks = parsed.map(({ headers }) => headers.filter(({ key }) => key === 'auto-submitted').map((h) => h.value));
  expect(marks).toEqual([['auto-generated'], [], [], ['auto-generated']]);
});

it('an email is rendered, signed by its domain, sent, and recorded with its event', async () => {
  const contactId = await buildContact(database.db, { projectId, email: 'ada@example.com' });
  const { id, row } = await deliver({
    contactId,
    replyTo: 'reply@shop.example.com',
    variables: { name: 'Ada & Co' },
    options: { headers: { 'X-Order': '7' } },
  });
  expect(row).toMatchObject({ status: 'SENT', attempts: 1, claim: null });
  expect(row.sent_at).toBeInstanceOf(Date);
  const raw = sink.bodies[0] ?? '';
  const parsed = await PostalMime.parse(raw);
  expect(parsed.subject).toBe('Hello Ada & Co');
  expect(parsed.html).toContain('Hello Ada &amp; Co');
  expect(parsed.text).toContain('Hello Ada & Co');
  expect(parsed.messageId).toBe(`<${id}@shop.example.com>`);
  expect(parsed.replyTo?.[0]?.address).toBe('reply@shop.example.com');
  expect(parsed.headers.find((h) => h.key === 'x-order')?.value).toBe('7');
  const { results } = await dkimVerify(Buffer.from(raw, 'latin1'), { resolver: resolveDkimKey });
  expect(results.map((r) => [r.status.result, r.signingDomain])).toEqual([['pass', 'shop.example.com']]);
  const [event] = await listEvents(id);
  expect(event).toMatchObject({ name: 'email.sent', contact_id: contactId });
  expect(event?.data).toMatchObject({ subject: 'Hello Ada & Co', emailId: id, sourceType: 'TRANSACTIONAL' });
});

it('the link of an invitation is for its recipient alone: it is not rewritten or tracked, and it is stored encrypted', async () => {
  const url = 'https://mail.example.com/app/join#the-token';
  const at = { createdAt: new Date(), expiresAt: new Date() };
  const invitation = {
    id: DELIVERY,
    email: 'grace@example.com',
    role: 'OWNER' as const,
    invitedBy: 'ada@x.test',
    ...at,
  };
  const atRest = deriveKey(TEST_SECRET_KEY, 'at-rest');
  const [row] = await database.db
    .transaction()
    .execute((trx) => queueInvitationEmail(trx, { projectId, projectName: 'A <b>', invitation, url, atRest }));
  const email = await claimEmail(row?.refId ?? '');
  if (!email) throw new Error('not claimed');
  expect(JSON.stringify(email)).not.toContain('the-token');
  await mailer.deliver(email);
  const parsed = await PostalMime.parse(sink.bodies[0] ?? '');
  expect(parsed.to?.[0]?.address).toBe('grace@example.com');
  expect(parsed.subject).toBe('ada@x.test invited you to A <b>');
  expect(parsed.html).toContain(`href="${url}"`);
  expect(parsed.html).toContain('A &lt;b&gt;');
});

const resolveDkimKey = async () => [[`v=DKIM1; k=rsa; p=${domain.publicKey}`]];

it('the return path contains the id of the email', async () => {
  const { id } = await deliver();
  const from = sink.commands.find((line) => line.startsWith('MAIL FROM:')) ?? '';
  expect(parseVerpAddress(deriveKey(TEST_SECRET_KEY, 'verp'), from.slice('MAIL FROM:<'.length))).toBe(id);
});

it('marketing email has the unsubscribe headers and a footer; transactional email without the link does not', async () => {
  const contactId = await buildContact(database.db, { projectId });
  await deliver({ contactId, type: 'MARKETING' });
  await deliver({ contactId });
  const [marketing, transactional] = await Promise.all(sink.bodies.map((raw) => PostalMime.parse(raw)));
  const getHeader = (email: typeof marketing, name: string) => email?.headers.find((h) => h.key === name)?.value;
  expect(getHeader(marketing, 'list-unsubscribe')).toMatch(/^<https:\/\/mail\.example\.com\/u\/[\w-]{43}>/);
  expect(getHeader(marketing, 'list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
  expect(marketing?.html).toContain('/u/');
  expect(getHeader(transactional, 'list-unsubscribe')).toBeUndefined();
});

it('attachments and inline images arrive unchanged', async () => {
  const files = [
    {
      id: '0190a000-0000-7000-8000-0000000000f1',
      filename: 'a.txt',
      contentType: 'text/plain',
      disposition: 'attachment' as const,
      contentId: null,
      content: Buffer.from('hello'),
    },
    {
      id: '0190a000-0000-7000-8000-0000000000f2',
      filename: 'logo.png',
      contentType: 'image/png',
      disposition: 'inline' as const,
      contentId: 'logo',
      content: Buffer.from([1, 2, 3]),
    },
  ];
  await insertAttachments(
    database.db,
    files.map((file) => ({ ...file, projectId })),
  );
  await deliver({ body: '<img src="cid:logo">', options: { attachmentIds: files.map((file) => file.id) } });
  const raw = sink.bodies[0] ?? '';
  const { attachments } = await PostalMime.parse(Buffer.from(raw, 'latin1'));
  expect(attachments.map((a) => [a.filename, a.disposition, a.contentId ?? null])).toEqual(
    expect.arrayContaining([
      ['a.txt', 'attachment', null],
      ['logo.png', 'inline', '<logo>'],
    ]),
  );
  const { results } = await dkimVerify(Buffer.from(raw, 'latin1'), { resolver: resolveDkimKey });
  expect(results[0]?.status.result).toBe('pass');
});

it('an email of a test key ends SENT without reaching a provider', async () => {
  const { row } = await deliver({ mode: 'test' });
  expect(row.status).toBe('SENT');
  expect(sink.messages).toHaveLength(0);
});

it('the reason is recorded when an email is withheld', async () => {
  const out = await buildContact(database.db, { projectId, email: 'out@example.com', subscribed: false });
  const inn = await buildContact(database.db, { projectId, email: 'in@example.com' });
  await addSuppressions(database.db, suppressionKey, {
    projectId,
    entries: [
      { email: 'dead@example.com', reason: 'hard_bounce', source: 'test' },
      { email: 'angry@example.com', reason: 'complaint', source: 'test' },
    ],
  });
  const deliverAndReadReason = async (mail: Partial<BuildEmail>) => {
    const { row } = await deliver(mail);
    expect(row.failed_at === null).toBe(row.status !== 'FAILED');
    return row.reason;
  };
  expect(await deliverAndReadReason({ type: 'MARKETING', contactId: out, to: 'out@example.com' })).toBe('unsubscribed');
  expect(await deliverAndReadReason({ to: 'Dead@example.com'.toLowerCase() })).toBe('suppressed:hard_bounce');
  expect(await deliverAndReadReason({ type: 'MARKETING', contactId: inn, to: 'angry@example.com' })).toBe(
    'suppressed:complaint',
  );
  expect(await deliverAndReadReason({ to: 'angry@example.com' })).toBeNull();
  expect(await deliverAndReadReason({ from: 'x@elsewhere.com' })).toBe('sender_not_verified');
  expect(await deliverAndReadReason({ to: null })).toBe('contact_deleted');
  expect(
    await deliverAndReadReason({
      body: '{% for a in (1..100000) %}{% for b in (1..100000) %}x{% endfor %}{% endfor %}',
    }),
  ).toBe('template_error');
  expect(sink.messages.map((m) => m.to)).toEqual(['angry@example.com']);
});

it('while the project is on hold, marketing and automation emails are HELD and transactional email is sent', async () => {
  await database.db.updateTable('projects').set({ held_at: new Date() }).where('id', '=', projectId).execute();
  const contactId = await buildContact(database.db, { projectId });
  expect((await deliver({ contactId, sourceType: 'WORKFLOW' })).row.status).toBe('HELD');
  expect((await deliver({ contactId, type: 'MARKETING' })).row.status).toBe('HELD');
  expect((await deliver({ contactId })).row.status).toBe('SENT');
});

it('a hard bounce makes the email BOUNCED, suppresses and unsubscribes its contact, and records both events', async () => {
  const email = 'reject550-5.1.1@example.com';
  const contactId = await buildContact(database.db, { projectId, email });
  const { id, row } = await deliver({ contactId, to: email });
  expect(row).toMatchObject({ status: 'BOUNCED', reason: 'bounced:dead_mailbox', bounce_type: 'Permanent' });
  const contact = await database.db
    .selectFrom('contacts')
    .selectAll()
    .where('id', '=', contactId)
    .executeTakeFirstOrThrow();
  expect(contact.subscribed).toBe(false);
  const events = await database.db.selectFrom('events').selectAll().where('contact_id', '=', contactId).execute();
  expect(events.map((e) => [e.name, e.email_id])).toEqual([
    ['email.bounce', id],
    ['contact.unsubscribed', null],
  ]);
  expect(events[1]?.data).toEqual({ reason: 'bounce' });
  expect((await deliver({ contactId, to: email })).row.reason).toBe('suppressed:hard_bounce');
});

it('a deferred email stays SENDING, is due in 30 to 60 s, and can be claimed again by its delivery', async () => {
  const before = Date.now();
  const { id, delivery, row } = await deliver({ to: 'defer450-4.2.1@example.com' });
  expect(delivery.outcome.kind).toBe('deferred');
  const dueAt = delivery.outcome.kind === 'deferred' ? delivery.outcome.dueAt.getTime() : 0;
  expect(dueAt - before).toBeGreaterThan(29_000);
  expect(dueAt - Date.now()).toBeLessThan(61_000);
  expect(row.status).toBe('SENDING');
  expect(await claimEmail(id, '0190a000-0000-7000-8000-00000000d002')).toBeUndefined();
  expect((await claimEmail(id))?.attempts).toBe(2);
});

it('an email that was not sent within a day is FAILED as expired', async () => {
  const id = await buildEmail(database.db, { projectId, to: 'defer450-4.2.1@example.com' });
  const email = await claimEmail(id);
  if (!email) throw new Error('not claimed');
  await mailer.deliver(email, undefined, { expiresAt: new Date(Date.now() - 1) });
  expect(await readEmail(id)).toMatchObject({ status: 'FAILED', reason: 'expired' });
});

describe('the day of retries of a marketing email of a workflow', () => {
  const HOUR_MS = 3_600_000;
  const DAY_MS = 24 * HOUR_MS;

  /** Sets a sending window that opens on every day for two hours. Today it opens this long after now. */
  async function setWindow(opensInMs: number) {
    const getHour = (ms: number) => new Date(Date.now() + ms).toISOString().slice(11, 16);
    const window = { from: getHour(opensInMs), to: getHour(opensInMs + 2 * HOUR_MS), days: ALL_DAYS, timezone: 'UTC' };
    await database.db
      .updateTable('projects')
      .set({ sending_window: JSON.stringify(window) })
      .where('id', '=', projectId)
      .execute();
  }

  /** Attempts an email that was accepted this many days ago, and that the server defers. */
  async function deferAfterDays(
    days: number,
    p: { type?: 'MARKETING' | 'TRANSACTIONAL'; isReleased?: boolean; isAdvanced?: boolean } = {},
  ) {
    const contactId = await buildContact(database.db, { projectId });
    const { type = 'MARKETING' } = p;
    const to = 'defer450-4.2.1@example.com';
    const id = await buildEmail(database.db, { projectId, contactId, type, to, sourceType: 'WORKFLOW' });
    const since = new Date(Date.now() - days * DAY_MS);
    await sql`UPDATE emails SET created_at = ${since} WHERE id = ${id}`.execute(database.db);
    if (p.isAdvanced) await addAdvancedVisit(id);
    const email = await claimEmail(id);
    if (!email) throw new Error('not claimed');
    const options = p.isReleased ? { expiresAt: new Date(since.getTime() + DAY_MS) } : {};
    await mailer.deliver(email, undefined, options);
    return readEmail(id);
  }

  /** Adds the step of an email. A user has moved the step past the sending window. */
  const addAdvancedVisit = (emailId: string) =>
    sql`
      WITH w AS (INSERT INTO workflows (project_id, name) VALUES (${projectId}, 'Test') RETURNING id), e AS (
        INSERT INTO executions (project_id, workflow_id, contact_id, entry, visit)
        SELECT ${projectId}, id, uuidv7(), 1, 1 FROM w RETURNING id), s AS (
        INSERT INTO execution_steps (execution_id, visit, project_id, step_id, type, status, output)
        SELECT id, 1, ${projectId}, uuidv7(), 'SEND_EMAIL', 'RUNNING', '{"advanced": true}' FROM e)
      UPDATE emails SET execution_id = e.id, visit = 1 FROM e WHERE emails.id = ${emailId}
    `.execute(database.db);

  it('does not include the time during which its sending window was closed', async () => {
    await setWindow(-HOUR_MS);
    const deferred = { status: 'SENDING', attempts: 1 };
    const expired = { status: 'FAILED', reason: 'expired' };
    expect(await deferAfterDays(3)).toMatchObject(deferred);
    expect(await deferAfterDays(3, { isReleased: true })).toMatchObject(deferred);
    expect(await deferAfterDays(3, { type: 'TRANSACTIONAL' })).toMatchObject(expired);
    // The window was open for 26 hours.
    expect(await deferAfterDays(13)).toMatchObject(expired);
  });

  it('does not include this time if a user has moved the step past the window', async () => {
    await setWindow(HOUR_MS);
    expect(await deferAfterDays(3, { isAdvanced: true })).toMatchObject({ status: 'SENDING', attempts: 1 });
  });
});

it('an attempt whose email was claimed again records nothing, and its hook does not run', async () => {
  const id = await buildEmail(database.db, { projectId });
  const first = await claimEmail(id);
  const second = await claimEmail(id);
  if (!first || !second) throw new Error('not claimed');
  const hook = vi.fn(async () => ({ values: ['late'] }));
  const late = await mailer.deliver(first, hook);
  expect([late.recorded, late.settled, hook.mock.calls]).toEqual([false, undefined, []]);
  const now = await mailer.deliver(second, async () => ({ values: ['done'] }));
  expect([now.recorded, now.settled]).toEqual([true, 'done']);
  expect(await listEvents(id)).toHaveLength(1);
  // Both attempts have the same Message-ID, so that the receiver can detect the repetition.
  expect(new Set(sink.messages.map((m) => m.messageId)).size).toBe(1);
});

it('an email is not recorded if its hook fails, so a step and its email complete together', async () => {
  const id = await buildEmail(database.db, { projectId });
  const email = await claimEmail(id);
  if (!email) throw new Error('not claimed');
  await expect(mailer.deliver(email, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect((await readEmail(id)).status).toBe('SENDING');
});

it('200 concurrent emails are all recorded, each once', async () => {
  const ids = await Promise.all(
    Array.from({ length: 200 }, (_, i) => buildEmail(database.db, { projectId, to: `m${i}@example.com` })),
  );
  const claimed = await claimEmails(database.db, {
    projectId,
    emails: ids.map((id) => ({ id, deliveryId: DELIVERY })),
    suppressionPads: createSuppressionPads(suppressionKey),
  });
  await Promise.all(claimed.map((email) => mailer.deliver(email)));
  const rows = await database.db.selectFrom('emails').select('status').where('id', 'in', ids).execute();
  expect(new Set(rows.map((row) => row.status))).toEqual(new Set(['SENT']));
  expect([...sink.perRecipient().values()].every((n) => n === 1)).toBe(true);
});

it('an email that cannot be composed now is deferred, and delays no other email', async () => {
  await database.db
    .updateTable('domains')
    .set({ dkim_private_key: 'unreadable' })
    .where('id', '=', domain.id)
    .execute();
  const { delivery, row } = await deliver();
  expect([delivery.outcome.kind, row.status, row.error]).toEqual([
    'deferred',
    'SENDING',
    'the email could not be composed',
  ]);
});
