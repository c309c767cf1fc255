import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMailer, type Mailer } from '../../activities/emails/mailer.ts';
import { createSmsAttempts } from '../../activities/sms/attempts.ts';
import { createSmtpProvider } from '../../channels/email/smtp/provider.ts';
import type { SmsProvider } from '../../channels/sms/provider.ts';
import { createCompute } from '../../compute/compute.ts';
import { requeueDeferredEmails } from '../../db/campaigns/completions.ts';
import { createSuppressionPads, findSuppressions } from '../../db/contacts/suppressions.ts';
import { removeErasedContents } from '../../db/contents/removal.ts';
import { listEmailsById } from '../../db/emails/emails.ts';
import { claimEmails } from '../../db/sending/email-ledger.ts';
import { inTransaction } from '../../db/transaction.ts';
import { recordManualEvent } from '../../engine/events/manual-event.ts';
import { recordFeedback } from '../../engine/feedback/email-feedback.ts';
import { recordEngagements } from '../../engine/feedback/engagements.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { parseConfig } from '../../rules/config.ts';
import { computePhoneHash } from '../../rules/emails/suppression.ts';
import { computeTwilioSignature } from '../../rules/sms/twilio-signature.ts';
import { buildContact, buildEmail } from '../build/emails.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { type BuiltWorkflow, buildWorkflow, expectOk, listExecutions } from '../build/workflows.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { findRowsWith, runDuringErasure } from '../support/erasure.ts';
import { signIn } from '../support/session.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';

const TOKEN = 'the token of the tests';
const SENDER = '+15005550006';
const DELIVERY = '0190a000-0000-7000-8000-00000000d001';
const DEAD_MAILBOX = { about: 'recipient', why: 'dead_mailbox', bounceType: 'Permanent', retry: false } as const;
const suppressionKey = deriveKey(TEST_SECRET_KEY, 'suppression');
let api: TestApi;
let sink: SmtpSink;
let mailer: Mailer;
let provider: ReturnType<typeof createSmtpProvider>;
let projectId: string;
let workflows: BuiltWorkflow[];
let counter = 0;
let mark: string;

beforeAll(async () => {
  api = await startTestApi({ TWILIO_AUTH_TOKEN: TOKEN, PUBLIC_URL: 'https://mail.example.com' });
  projectId = api.one.id;
  sink = await startSmtpSink();
  provider = createSmtpProvider({ url: sink.url });
  const config = parseConfig({
    DATABASE_URL: 'postgres://127.0.0.1:1/unused',
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    SECRET_KEY: TEST_SECRET_KEY,
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: sink.url,
    PUBLIC_URL: 'https://mail.example.com',
  });
  const log = { warn: () => {} };
  const outbox = { wake: () => {} };
  const compute = createCompute({ cpuMsPerSecond: 0 });
  mailer = createMailer({ config, compute, db: api.db, provider, outbox, endLog: () => {}, log });
  await buildDomain(api.db, { projectId, signing: false });
  await api.db.insertInto('sms_senders').values({ project_id: projectId, country: null, from_phone: SENDER }).execute();
  const headers = await signIn(api, api.one, 'OWNER');
  const endpoint = { url: 'https://hooks.example.com/x', events: ['*'] };
  await expectOk(api.call('POST', '/webhooks', { key: null, headers, body: endpoint }));
  const steps = { pause: { type: 'DELAY', config: { amount: 1, unit: 'days' } } } as const;
  workflows = [];
  for (const eventName of ['email.sent', 'email.bounce', 'email.open', 'email.complaint'])
    workflows.push(await buildWorkflow(api, { eventName, steps }));
});
afterAll(async () => {
  await provider?.close();
  await sink?.close();
  await api?.close();
});
beforeEach(async () => {
  counter += 1;
  mark = `zyxmark${counter}zyx`;
  await api.db.deleteFrom('executions').execute();
  await api.db.deleteFrom('webhook_deliveries').execute();
});

/** Returns the executions and webhook deliveries that the test has caused. */
async function listReactions() {
  const executions = await Promise.all(workflows.map(({ id }) => listExecutions(api, id)));
  const { rows } = await sql`SELECT event_name FROM webhook_deliveries WHERE status <> 'FAILED'`.execute(api.db);
  return { executions: executions.flat(), deliveries: rows };
}
const NO_REACTIONS = { executions: [], deliveries: [] };

async function buildPerson(local = '') {
  const address = `${local}${mark}@example.com`;
  const contactId = await buildContact(api.db, { projectId, email: address, data: { firstName: mark } });
  return { address, contactId };
}

async function claimEmail(id: string) {
  const emails = [{ id, deliveryId: DELIVERY }];
  const suppressionPads = createSuppressionPads(suppressionKey);
  const [email] = await claimEmails(api.db, { projectId, emails, suppressionPads });
  if (!email) throw new Error('the email was not claimed');
  return email;
}

const readEmail = (id: string) =>
  api.db.selectFrom('emails').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const listEvents = async (emailId: string) =>
  (await sql`SELECT contact_id, name, data FROM events WHERE email_id = ${emailId} ORDER BY id`.execute(api.db)).rows;

describe('an email is being sent while its contact is erased', () => {
  it.each([
    { local: 'ok-', status: 'SENT', events: ['email.sent'] },
    { local: 'reject550-5.1.1-', status: 'BOUNCED', events: ['email.bounce'] },
    { local: 'defer450-4.2.1-', status: 'SENDING', events: [] },
  ])('its result $status keeps no personal data and starts nothing', async ({ local, status, events }) => {
    const { address, contactId } = await buildPerson(local);
    const options = { messageId: `<${mark}@app.example>` };
    const subject = 'Hi {{firstName}}';
    const id = await buildEmail(api.db, { projectId, contactId, to: address, subject, variables: null, options });
    const email = await claimEmail(id);
    await runDuringErasure(api.db, { projectId, ids: [contactId] }, () => mailer.deliver(email));
    expect(await readEmail(id)).toMatchObject({ status, contact_id: null, to_email: null, error: null });
    expect(await listEvents(id)).toEqual(events.map((name) => ({ contact_id: null, name, data: {} })));
    expect(await findRowsWith(api.db, [mark])).toEqual([]);
    expect(await listReactions()).toEqual(NO_REACTIONS);
    const reasons = await findSuppressions(api.db, suppressionKey, { projectId, emails: [address] });
    expect(reasons.get(address)).toEqual(status === 'BOUNCED' ? ['hard_bounce'] : undefined);
  });

  it.each([
    { local: 'ok-cc', events: [{ name: 'email.sent', data: {} }] },
    { local: 'defer450-4.2.1-cc', events: [] },
  ])('the result of a cc copy to $local has no text about the contact', async ({ local, events }) => {
    const { address, contactId } = await buildPerson();
    const cc = `${local}${counter}@example.com`;
    const data = { name: { value: mark, persistent: false } };
    const body = { from: 'a@shop.example.com', to: address, cc, subject: 'Hi {{name}}', body: 'B', data };
    const { emails } = (await expectOk(api.call('POST', '/v1/send', { body }))).data;
    const copyId = emails[1].email;
    const copy = await claimEmail(copyId);
    await runDuringErasure(api.db, { projectId, ids: [contactId] }, () => mailer.deliver(copy));
    expect(await listEvents(copyId)).toMatchObject(events);
    await removeErasedContents(api.db);
    expect(await findRowsWith(api.db, [mark])).toEqual([]);
    const { status } = await readEmail(copyId);
    if (status !== 'SENDING') return;
    // The text of the copy is gone, so its next attempt must not send it.
    const { outcome } = await mailer.deliver(await claimEmail(copyId));
    expect(outcome).toMatchObject({ kind: 'failed', reason: 'contact_deleted' });
  });

  it('the reply to a deferred campaign email is not stored', async () => {
    const { address, contactId } = await buildPerson();
    const id = await buildEmail(api.db, { projectId, contactId, to: address, sourceType: 'CAMPAIGN' });
    const { claim } = await claimEmail(id);
    const error = `450 4.2.1 <${address}>: later`;
    await runDuringErasure(api.db, { projectId, ids: [contactId] }, () =>
      requeueDeferredEmails(api.db, [{ id, claim, error }]),
    );
    expect(await readEmail(id)).toMatchObject({ status: 'PENDING', error: null });
  });

  it('a hard bounce of an email to another contact that is erased meanwhile stores only the hash', async () => {
    const { address, contactId } = await buildPerson('reject550-5.1.1-');
    const other = await buildContact(api.db, { projectId });
    const id = await buildEmail(api.db, { projectId, contactId: other, to: address, sourceType: 'WORKFLOW' });
    const email = await claimEmail(id);
    await runDuringErasure(api.db, { projectId, ids: [contactId] }, () => mailer.deliver(email));
    const { rows } = await sql`SELECT email, reason FROM suppressions ORDER BY id DESC LIMIT 1`.execute(api.db);
    expect(rows).toEqual([{ email: null, reason: 'hard_bounce' }]);
  });
});

describe('feedback about an email arrives while its contact is erased', () => {
  const at = new Date();
  const bounce = (words: string) => ({ kind: 'bounce' as const, at, refusal: DEAD_MAILBOX, words });
  const record = (emailId: string, feedback: ReturnType<typeof bounce> | { kind: 'complaint'; at: Date }) =>
    inTransaction(api.db, (trx) => recordFeedback(trx, { emailId, feedback, suppressionKey, source: 'dsn' }));

  /** Builds a sent email whose subject contains data of its contact. */
  async function buildSentEmail() {
    const person = await buildPerson();
    const { address: to, contactId } = person;
    const subject = 'Hi {{firstName}}';
    const id = await buildEmail(api.db, { projectId, contactId, to, subject, variables: null, status: 'SENT' });
    return { ...person, id };
  }

  it.each(['bounce', 'complaint'] as const)('a %s keeps no personal data and suppresses the address', async (kind) => {
    const { address, contactId, id } = await buildSentEmail();
    const feedback = kind === 'bounce' ? bounce(`550 <${address}>`) : { kind, at };
    await runDuringErasure(api.db, { projectId, ids: [contactId] }, () => record(id, feedback));
    expect(await listEvents(id)).toMatchObject([{ name: `email.${kind}`, contact_id: null }]);
    expect(await findRowsWith(api.db, [mark])).toEqual([]);
    expect((await listReactions()).executions).toEqual([]);
    const reasons = await findSuppressions(api.db, suppressionKey, { projectId, emails: [address] });
    expect(reasons.get(address)).toEqual([kind === 'bounce' ? 'hard_bounce' : 'complaint']);
  });

  it('a bounce that arrives after the erasure stores no reply', async () => {
    const { address, contactId } = await buildPerson();
    const id = await buildEmail(api.db, { projectId, contactId, to: address, status: 'SENT' });
    await expectOk(api.call('DELETE', `/contacts/${contactId}`));
    expect(await record(id, bounce(`550 <${address}>`))).toMatchObject({ outcome: 'recorded' });
    expect(await readEmail(id)).toMatchObject({ status: 'BOUNCED', error: null });
  });

  it('an open and a click keep no personal data and start nothing', async () => {
    const { contactId, id } = await buildSentEmail();
    const [email] = await listEmailsById(api.db, { projectId, ids: [id] });
    if (!email) throw new Error('the email was not found');
    const machine = { machineOpens: 0, machineClicks: 0 };
    const human = { opens: 1, openedAt: at, clicks: 1, clickedAt: at, link: `https://x.example/${mark}` };
    await runDuringErasure(api.db, { projectId, ids: [contactId] }, () =>
      inTransaction(api.db, (trx) =>
        recordEngagements(trx, { projectId, engagements: [{ email, ...human, ...machine }] }),
      ),
    );
    expect(await readEmail(id)).toMatchObject({ status: 'CLICKED', opens: 1, clicks: 1 });
    expect(await listEvents(id)).toMatchObject([
      { name: 'email.open', contact_id: null, data: {} },
      { name: 'email.click', contact_id: null, data: {} },
    ]);
    expect(await findRowsWith(api.db, [mark])).toEqual([]);
    expect(await listReactions()).toEqual(NO_REACTIONS);
  });
});

describe('an SMS is refused with a STOP while its contact is erased', () => {
  async function buildSms() {
    const phone = `+1555123${1000 + counter}`;
    const contactId = await buildContact(api.db, { projectId, data: { firstName: mark, phone } });
    const body = { to: phone, body: mark, contactId };
    const { id } = await expectOk(api.call('POST', '/v1/sms/send', { body }));
    return { id, phone, contactId };
  }
  const listStops = async (phone: string) => {
    const hash = computePhoneHash(suppressionKey, phone);
    return (await sql`SELECT phone, source FROM sms_stops WHERE phone_hash = ${hash}`.execute(api.db)).rows;
  };

  it('the result of the attempt stores the stop without the number', async () => {
    const { id, phone, contactId } = await buildSms();
    const refuseAfterErasure: SmsProvider['send'] = async ({ to }) => {
      await expectOk(api.call('DELETE', `/contacts/${contactId}`));
      return { outcome: 'refused', reason: 'sms_stopped', error: `Twilio 21610: ${to}` };
    };
    const attempts = createSmsAttempts({
      db: api.db,
      provider: { kind: 'twilio', send: refuseAfterErasure },
      outbox: { wake: () => {} },
      endLog: () => {},
      suppressionKey,
    });
    const expiresAt = new Date(Date.now() + 60_000);
    await attempts.attempt({ projectId, messages: [{ id, deliveryId: DELIVERY }], expiresAt });
    expect(await findRowsWith(api.db, [mark, phone])).toEqual([]);
    expect(await listStops(phone)).toEqual([{ phone: null, source: 'twilio' }]);
  });

  it('a callback after the erasure stores no error text', async () => {
    const { id, phone, contactId } = await buildSms();
    await sql`UPDATE sms_messages SET status = 'SENT', provider_message_id = 'SM1' WHERE id = ${id}`.execute(api.db);
    await expectOk(api.call('DELETE', `/contacts/${contactId}`));
    const ErrorMessage = `The number ${phone} is unreachable`;
    const params = { MessageStatus: 'undelivered', MessageSid: 'SM1', ErrorCode: '30003', ErrorMessage };
    const path = `/webhooks/twilio/status?id=${id}`;
    const signature = computeTwilioSignature(TOKEN, `https://mail.example.com${path}`, params);
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature };
    const body = new URLSearchParams(params).toString();
    expect((await api.app.request(path, { method: 'POST', headers, body })).status).toBe(204);
    const { rows } = await sql`SELECT status, error FROM sms_messages WHERE id = ${id}`.execute(api.db);
    expect(rows).toEqual([{ status: 'UNDELIVERED', error: null }]);
    expect(await findRowsWith(api.db, [mark, phone])).toEqual([]);
  });
});

describe('a request for a contact that is erased at the same moment', () => {
  it.each([{ sandbox: false }, { sandbox: true }])('starts no execution: %j', async ({ sandbox }) => {
    const { contactId } = await buildPerson();
    const [workflow] = workflows;
    const body = { contactId, context: { name: mark }, sandbox };
    const { status } = await runDuringErasure(api.db, { projectId, ids: [contactId] }, () =>
      api.call('POST', `/workflows/${workflow?.id}/executions`, { body }),
    );
    expect(status).toBe(404);
    const { rows } = await sql`SELECT id FROM executions WHERE contact_id = ${contactId}`.execute(api.db);
    expect(rows).toEqual([]);
  });

  it('records no event by a user', async () => {
    const { contactId } = await buildPerson();
    const event = { projectId, name: 'noted', contactId, emailId: null, data: { mark }, mode: 'live' as const };
    const recording = runDuringErasure(api.db, { projectId, ids: [contactId] }, () =>
      inTransaction(api.db, (trx) => recordManualEvent(trx, event)),
    );
    await expect(recording).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await findRowsWith(api.db, [mark])).toEqual([]);
  });
});
