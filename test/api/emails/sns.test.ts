import { createSign } from 'node:crypto';
import { sql } from 'kysely';
import { getGlobalDispatcher, MockAgent, setGlobalDispatcher } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMailer } from '../../../activities/emails/mailer.ts';
import { createCaptureProvider } from '../../../channels/email/capture.ts';
import type { EmailProvider } from '../../../channels/email/provider.ts';
import { createSesProvider } from '../../../channels/email/ses/provider.ts';
import { createCompute } from '../../../compute/compute.ts';
import { createSuppressionPads } from '../../../db/contacts/suppressions.ts';
import { listSnsSubscriptions, recordSnsMessage } from '../../../db/operator/sns-subscriptions.ts';
import { claimEmails } from '../../../db/sending/email-ledger.ts';
import type { KeyMode } from '../../../rules/access/api-keys.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { buildTextToSign, SnsMessage } from '../../../rules/emails/sns-message.ts';
import { createVerpAddress } from '../../../rules/emails/verp.ts';
import { buildContact, buildEmail } from '../../build/emails.ts';
import { buildDomain, TEST_SECRET_KEY } from '../../build/senders.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { buildSendingCampaign, createCampaignWorker } from '../../support/campaign-worker.ts';
import { type Certificate, createCertificate } from '../../support/certificate.ts';
import { buildSentEmail, readEmailState, type SentEmail } from '../../support/email-state.ts';
import { type FakeSes, startFakeSes } from '../../support/fake-ses.ts';
import { pruneTables } from '../../support/periodic.ts';

const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:ses-feedback';
const HOST = 'https://sns.eu-west-1.amazonaws.com';
const PEM = '/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem';
const suppressionKey = deriveKey(TEST_SECRET_KEY, 'suppression');

let api: TestApi;
let certificate: Certificate;
let other: Certificate;
const network = new MockAgent();
const before = getGlobalDispatcher();
const fetched: string[] = [];

beforeAll(async () => {
  [certificate, other] = await Promise.all([createCertificate(), createCertificate()]);
  setGlobalDispatcher(network);
  // Every fetch of the service is recorded, and no request reaches the network.
  network.disableNetConnect();
  const sns = network.get(HOST);
  const respondWith = (text: string) => (request: { path: string }) => {
    fetched.push(request.path);
    return { statusCode: 200, data: text };
  };
  sns.intercept({ path: PEM }).reply(respondWith(certificate.cert)).persist();
  sns
    .intercept({ path: (path) => path.startsWith('/?Action=ConfirmSubscription') })
    .reply(respondWith('<ok/>'))
    .persist();
  api = await startTestApi({ SNS_TOPIC_ARNS: TOPIC });
});
beforeEach(() => {
  fetched.length = 0;
});
afterAll(async () => {
  await api.close();
  setGlobalDispatcher(before);
  await network.close();
});

type MessageFields = Partial<Record<keyof SnsMessage, string>>;

/** Sends a message as SNS does, signed by default. */
async function postMessage(given: MessageFields, p: { key?: string; tamper?: MessageFields } = {}) {
  const { SignatureVersion = '2', ...rest } = given;
  const unsigned = {
    Type: 'Notification',
    MessageId: 'f0b1',
    TopicArn: TOPIC,
    Message: '{}',
    Timestamp: '2026-11-21T10:00:00.000Z',
    SignatureVersion,
    SigningCertURL: HOST + PEM,
    Signature: '',
    ...rest,
  };
  const text = buildTextToSign(SnsMessage.parse(unsigned));
  const algorithm = SignatureVersion === '1' ? 'RSA-SHA1' : 'RSA-SHA256';
  const Signature = createSign(algorithm)
    .update(text)
    .sign(p.key ?? certificate.key, 'base64');
  const body = JSON.stringify({ ...unsigned, Signature, ...p.tamper });
  return api.app.request('/webhooks/sns', {
    method: 'POST',
    headers: { 'content-type': 'text/plain; charset=UTF-8' },
    body,
  });
}

const buildEmailOfReader = () => buildSentEmail(api);

const AT = '2026-11-21T09:59:00.000Z';
const createMailObject = (id: string) => ({ headers: [{ name: 'Message-ID', value: `<${id}@shop.example.com>` }] });
const createDelivery = (id: string) => ({
  notificationType: 'Delivery',
  mail: createMailObject(id),
  delivery: { timestamp: AT, recipients: [] },
});
const createBounce = (id: string, diagnosticCode?: string, bounceType = 'Permanent') => ({
  eventType: 'Bounce',
  mail: createMailObject(id),
  bounce: {
    bounceType,
    bounceSubType: 'General',
    timestamp: AT,
    bouncedRecipients: [{ emailAddress: 'x@y.z', diagnosticCode }],
  },
});
const createComplaint = (id: string, complaintFeedbackType = 'abuse') => ({
  notificationType: 'Complaint',
  mail: createMailObject(id),
  complaint: { timestamp: AT, complaintFeedbackType },
});

async function postNotification(message: object): Promise<number> {
  return (await postMessage({ Message: JSON.stringify(message) })).status;
}

const readState = (email: SentEmail) => readEmailState(api, email);

describe('a notification of SES through SNS', () => {
  it('finds the email by its tags if headers are omitted', async () => {
    const email = await buildEmailOfReader();
    const createDeliveryWithTags = (tags: object) => ({ ...createDelivery(''), mail: { tags } });
    for (const email_id of [['no id'], [], 'x', [email.id.toUpperCase()]])
      expect(await postNotification(createDeliveryWithTags({ email_id }))).toBe(200);
    expect((await readState(email)).names).toEqual(['email.delivery']);
  });

  it('records a delivery', async () => {
    const email = await buildEmailOfReader();
    expect(await postNotification(createDelivery(email.id))).toBe(200);
    const { mail: row, names, events } = await readState(email);
    expect([row.status, row.delivered_at?.toISOString(), names]).toEqual(['DELIVERED', AT, ['email.delivery']]);
    expect(events[0]?.data).toMatchObject({
      emailId: email.id,
      subject: 'Hello Ada',
      fromName: 'Shop',
      deliveredAt: AT,
    });
  });

  it('records a hard bounce: it unsubscribes and suppresses the contact once, with its reason', async () => {
    const email = await buildEmailOfReader();
    for (let n = 0; n < 3; n++)
      expect(await postNotification(createBounce(email.id, 'smtp; 550 5.1.1 user unknown'))).toBe(200);
    const { mail: row, ...state } = await readState(email);
    expect(row).toMatchObject({ status: 'BOUNCED', bounce_type: 'Permanent', reason: 'bounced:dead_mailbox' });
    expect(state).toMatchObject({
      subscribed: false,
      entries: ['hard_bounce'],
      names: ['email.bounce', 'contact.unsubscribed'],
    });
    expect(state.events[0]?.data).toMatchObject({ bounceType: 'Permanent', bouncedAt: AT });
    expect(state.events[1]?.data).toEqual({ reason: 'bounce' });
  });

  it('unsubscribes no contact for a refusal because of the sender, although SES calls it a Permanent bounce', async () => {
    const email = await buildEmailOfReader();
    await postNotification(createBounce(email.id, 'smtp; 550 5.7.1 rejected by spamhaus'));
    const { mail: row, ...state } = await readState(email);
    expect(row).toMatchObject({ status: 'FAILED', bounce_type: null, reason: 'provider_rejected' });
    expect(state).toMatchObject({ subscribed: true, entries: [], names: [] });
  });

  it.each([
    ['OnAccountSuppressionList', 'Amazon SES did not send the message: it is on the suppression list', '5.1.1'],
    ['General', 'smtp; 554 Transaction failed', '5.0.0'],
  ])(
    'suppresses no address for a Permanent bounce of the kind %s, which proves nothing about the mailbox',
    async (kind, diagnosticCode, status) => {
      const email = await buildEmailOfReader();
      const bounceMessage = createBounce(email.id, diagnosticCode);
      const bouncedRecipients = [{ emailAddress: 'x@y.z', diagnosticCode, status }];
      await postNotification({
        ...bounceMessage,
        bounce: { ...bounceMessage.bounce, bounceSubType: kind, bouncedRecipients },
      });
      expect(await readState(email)).toMatchObject({ subscribed: true, entries: [] });
    },
  );

  it('records a full mailbox as Transient, and without a diagnostic text uses SES’s own type', async () => {
    const full = await buildEmailOfReader();
    await postNotification(createBounce(full.id, 'smtp; 452 4.2.2 mailbox full', 'Transient'));
    const state = await readState(full);
    expect(state.mail).toMatchObject({ status: 'BOUNCED', bounce_type: 'Transient' });
    expect(state.events[0]?.data).toMatchObject({ bounceType: 'Transient', transientBounce: true });
    expect(state.subscribed).toBe(true);
    const silent = await buildEmailOfReader();
    await postNotification(createBounce(silent.id));
    expect((await readState(silent)).entries).toEqual(['hard_bounce']);
  });

  it('unsubscribes and suppresses for a complaint, but not for a "not spam" report', async () => {
    const email = await buildEmailOfReader();
    await postNotification(createComplaint(email.id, 'not-spam'));
    expect((await readState(email)).mail.status).toBe('SENT');
    await postNotification(createComplaint(email.id));
    const { mail: row, ...state } = await readState(email);
    expect([row.status, row.complained_at?.toISOString()]).toEqual(['COMPLAINED', AT]);
    expect(state).toMatchObject({
      subscribed: false,
      entries: ['complaint'],
      names: ['email.complaint', 'contact.unsubscribed'],
    });
    expect(state.events[1]?.data).toEqual({ reason: 'complaint' });
  });

  it('can arrive late: a delivery then changes neither a complaint nor an open', async () => {
    const complained = await buildEmailOfReader();
    for (const message of [
      createComplaint(complained.id),
      createDelivery(complained.id),
      createDelivery(complained.id),
    ])
      await postNotification(message);
    const { mail: row, names } = await readState(complained);
    expect(row.status).toBe('COMPLAINED');
    expect(names).toEqual(['email.complaint', 'contact.unsubscribed', 'email.delivery']);
    const opened = await buildEmailOfReader();
    await api.db.updateTable('emails').set({ status: 'OPENED' }).where('id', '=', opened.id).execute();
    await postNotification(createDelivery(opened.id));
    expect((await readState(opened)).mail.status).toBe('OPENED');
  });

  it('finds the email by its return path if the email was given to SES by SMTP, without headers', async () => {
    const email = await buildEmailOfReader();
    const source = createVerpAddress(deriveKey(TEST_SECRET_KEY, 'verp'), email.id, 'bounces.example.com');
    await postNotification({ ...createDelivery(email.id), mail: { source, messageId: '0100-ses' } });
    expect((await readState(email)).mail.status).toBe('DELIVERED');
  });

  it.each([
    ['about an unknown email', createDelivery('01a00000-0000-7000-8000-000000000000')],
    [
      'about an email of another sender',
      { notificationType: 'Delivery', mail: { source: 'x@y.z' }, delivery: { timestamp: AT } },
    ],
    ['of another kind', { eventType: 'Open', mail: {} }],
    ['not a notification of SES', { hello: 'world' }],
  ])('is accepted without effect if it is %s', async (_, message) => {
    expect(await postNotification(message)).toBe(200);
  });

  it('is accepted with signature version 1 too', async () => {
    const email = await buildEmailOfReader();
    expect(
      (await postMessage({ Message: JSON.stringify(createDelivery(email.id)), SignatureVersion: '1' })).status,
    ).toBe(200);
    expect((await readState(email)).mail.status).toBe('DELIVERED');
  });
});

describe('a notification of SES in the default settings, which identifies the email only by its SES id', () => {
  let fake: FakeSes;
  let provider: EmailProvider;

  beforeAll(async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    fake = await startFakeSes();
    provider = createSesProvider({ region: 'eu-west-1', endpoint: fake.endpoint });
    await buildDomain(api.db, { projectId: api.one.id, signing: false });
    await buildDomain(api.db, { projectId: api.two.id, domain: 'sender.test', signing: false });
  });
  afterAll(async () => {
    await provider.close();
    await fake.close();
    vi.unstubAllEnvs();
  });

  /** A classic notification of SES names an email only by the SES message id, without headers and tags. */
  const createMailNamedBySesId = (messageId: string, timestamp = AT) => ({
    mail: { timestamp, source: 'a@b.c', messageId },
  });
  const listSesMessages = () => api.db.selectFrom('ses_messages').selectAll().orderBy('message_id').execute();

  async function deliverEmail(p: { mode?: KeyMode; provider?: EmailProvider } = {}) {
    const email = `reader-${Math.random().toString(36).slice(2)}@example.com`;
    const { id: projectId } = api.one;
    const contactId = await buildContact(api.db, { projectId, email });
    const id = await buildEmail(api.db, { projectId, contactId, to: email, mode: p.mode ?? 'live' });
    const { config, outbox, log } = api.deps;
    const mailer = createMailer({
      config,
      compute: createCompute({ cpuMsPerSecond: 0 }),
      db: api.db,
      provider: p.provider ?? provider,
      outbox,
      endLog: () => {},
      log,
    });
    const deliveryId = '0190a000-0000-7000-8000-00000000d001';
    const pads = createSuppressionPads(suppressionKey);
    const [claimed] = await claimEmails(api.db, { projectId, emails: [{ id, deliveryId }], suppressionPads: pads });
    if (!claimed) throw new Error('not claimed');
    await mailer.deliver(claimed);
    return { id, email, contactId };
  }
  const readSesId = async (id: string) =>
    (await api.db.selectFrom('ses_messages').select('message_id').where('email_id', '=', id).executeTakeFirst())
      ?.message_id ?? '';

  it('finds the email by the message id that SendEmail returned, and counts once', async () => {
    const email = await deliverEmail();
    const messageId = await readSesId(email.id);
    expect(messageId).toBe(`ses-${fake.requests.length}`);
    for (let n = 0; n < 2; n++)
      expect(await postNotification({ ...createBounce(''), ...createMailNamedBySesId(messageId) })).toBe(200);
    expect(
      await postNotification({ ...createDelivery(''), ...createMailNamedBySesId(messageId, new Date().toISOString()) }),
    ).toBe(200);
    const { mail: row, ...state } = await readState(email);
    expect(row).toMatchObject({ status: 'BOUNCED', reason: 'bounced:dead_mailbox', provider_message_id: messageId });
    expect(state.names).toEqual(['email.sent', 'email.bounce', 'contact.unsubscribed', 'email.delivery']);
    expect(state.entries).toEqual(['hard_bounce']);
  });

  it('works for emails of a campaign too', async () => {
    const { id: projectId } = api.two;
    const worker = createCampaignWorker({ db: api.db, smtpUrl: 'smtp://127.0.0.1:1', provider });
    const start = await buildSendingCampaign(api.db, { projectId, count: 3, worker });
    expect(await worker.send(start)).toMatchObject({ outcome: 'done', sent: 3 });
    const emails = await api.db.selectFrom('emails').selectAll().where('project_id', '=', projectId).execute();
    for (const email of emails) {
      expect(await readSesId(email.id)).toBe(email.provider_message_id);
      expect(
        await postNotification({ ...createDelivery(''), ...createMailNamedBySesId(await readSesId(email.id)) }),
      ).toBe(200);
    }
    const after = await api.db.selectFrom('emails').select('status').where('project_id', '=', projectId).execute();
    expect(after.map((email) => email.status)).toEqual(['DELIVERED', 'DELIVERED', 'DELIVERED']);
    expect((await listSesMessages()).filter((row) => row.project_id === projectId)).toHaveLength(3);
  });

  it('returns 503 in the first minute, while the email may not be recorded yet, and is accepted later', async () => {
    const notifyOfUnknownEmail = (timestamp?: string) =>
      postNotification({ ...createDelivery(''), ...createMailNamedBySesId('ses-unknown', timestamp) });
    expect(await notifyOfUnknownEmail(new Date().toISOString())).toBe(503);
    expect(await notifyOfUnknownEmail(new Date(Date.now() - 61_000).toISOString())).toBe(200);
    expect(await notifyOfUnknownEmail('at noon')).toBe(200);
    // A notification with the email's id in a tag needs no SES message id.
    const email = await buildEmailOfReader();
    const about = {
      ...createMailNamedBySesId('ses-unknown', new Date().toISOString()).mail,
      ...createMailObject(email.id),
    };
    expect(await postNotification({ ...createDelivery(''), mail: about })).toBe(200);
    expect((await readState(email)).mail.status).toBe('DELIVERED');
  });

  it('needs an SES id, which is not stored for test email or other providers, and is deleted after 30 days', async () => {
    const before = (await listSesMessages()).length;
    await deliverEmail({ mode: 'test' });
    await deliverEmail({ provider: createCaptureProvider(async () => {}) });
    expect(await listSesMessages()).toHaveLength(before);
    const [old, young] = [await deliverEmail(), await deliverEmail()];
    for (const [{ id }, days] of [
      [old, 31],
      [young, 29],
    ] as const)
      await sql`UPDATE ses_messages SET created_at = now() - make_interval(days => ${days}) WHERE email_id = ${id}`.execute(
        api.db,
      );
    await pruneTables(api.db);
    expect([await readSesId(old.id), await readSesId(young.id)]).toEqual(['', expect.stringMatching(/^ses-/)]);
  });

  it('changes only the statistics, once the contact is erased', async () => {
    const email = await deliverEmail();
    expect((await api.call('DELETE', `/contacts/${email.contactId}`)).status).toBe(204);
    expect(
      await postNotification({ ...createComplaint(''), ...createMailNamedBySesId(await readSesId(email.id)) }),
    ).toBe(200);
    expect((await readState(email)).mail).toMatchObject({ status: 'COMPLAINED', contact_id: null, to_email: null });
    expect(JSON.stringify(await listSesMessages())).not.toContain(email.email);
  });
});

describe('the SNS subscription of our callback', () => {
  const confirm = { Type: 'SubscriptionConfirmation', Token: 't0k3n' };

  it('is confirmed at SNS', async () => {
    const SubscribeURL = `${HOST}/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=t0k3n`;
    expect((await postMessage({ ...confirm, SubscribeURL })).status).toBe(200);
    expect(fetched.at(-1)).toContain('/?Action=ConfirmSubscription');
  });

  it('is confirmed at no host except SNS', async () => {
    for (const SubscribeURL of [
      'https://evil.example/',
      'http://169.254.169.254/latest',
      `${HOST}/?Action=DeleteTopic`,
    ]) {
      expect((await postMessage({ ...confirm, SubscribeURL })).status).toBe(403);
    }
    expect(fetched.filter((path) => path !== PEM)).toEqual([]);
  });
});

describe('an SNS message that is not from our topic', () => {
  it('changes nothing and causes no request', async () => {
    const email = await buildEmailOfReader();
    const Message = JSON.stringify(createComplaint(email.id));
    const certificateUrls = [
      'https://evil.example/SimpleNotificationService-0123456789abcdef.pem',
      'http://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
      'https://sns.eu-west-1.amazonaws.com.evil.example/SimpleNotificationService-0123456789abcdef.pem',
      'https://sns.eu-west-1.amazonaws.com@evil.example/SimpleNotificationService-0123456789abcdef.pem',
      'https://sns.eu-west-1.amazonaws.com:8443/SimpleNotificationService-0123456789abcdef.pem',
      'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
      'https://bucket.s3.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
      'https://sns.eu-west-1.amazonaws.com/other.pem',
    ];
    for (const SigningCertURL of certificateUrls)
      expect((await postMessage({ Message, SigningCertURL })).status).toBe(403);
    const topic = 'arn:aws:sns:eu-west-1:999999999999:ses-feedback';
    expect((await postMessage({ Message, TopicArn: topic })).status).toBe(403);
    expect(fetched).toEqual([]);
    expect((await readState(email)).names).toEqual([]);
  });

  it('is shown to the operator as the state of the subscription', async () => {
    const service = await startTestApi({ SNS_TOPIC_ARNS: `${TOPIC},${TOPIC}-2`, OPERATORS: 'ops@example.com' });
    const listSubscriptionStates = async () =>
      (await listSnsSubscriptions(service.db, service.deps.config.email.ses.snsTopicArns)).map(({ state }) => state);
    const postUnsigned = (topic: string) =>
      service.app.request('/webhooks/sns', {
        method: 'POST',
        body: JSON.stringify({ notificationType: 'Bounce' }),
        headers: { 'x-amz-sns-rawdelivery': 'true', 'x-amz-sns-topic-arn': topic },
      });
    try {
      expect(await listSubscriptionStates()).toEqual(['waiting', 'waiting']);
      for (const topic of [TOPIC, `${TOPIC}-of-others`]) expect((await postUnsigned(topic)).status).toBe(403);
      expect(await listSubscriptionStates()).toEqual(['refused', 'waiting']);
      await recordSnsMessage(service.db, { topic: TOPIC, kind: 'confirmed' });
      expect(await listSubscriptionStates()).toEqual(['confirmed', 'waiting']);
      await recordSnsMessage(service.db, { topic: TOPIC, kind: 'notified' });
      expect(await listSubscriptionStates()).toEqual(['delivering', 'waiting']);
      const { rows } = await sql`SELECT topic FROM sns_subscriptions`.execute(service.db);
      expect(rows).toEqual([{ topic: TOPIC }]);
    } finally {
      await service.close();
    }
  });

  it('is refused with raw delivery, and the error and the log name the setting to switch off', async () => {
    const email = await buildSentEmail(api);
    const body = JSON.stringify(createDelivery(email.id));
    const warn = vi.spyOn(api.deps.log, 'warn');
    const marked: Record<string, string> = { 'x-amz-sns-rawdelivery': 'true', 'x-amz-sns-topic-arn': TOPIC };
    for (const headers of [marked, {}]) {
      const response = await api.app.request('/webhooks/sns', { method: 'POST', body, headers });
      expect(response.status).toBe(403);
      expect(await response.text()).toContain('Switch off \\"Enable raw message delivery\\"');
    }
    expect(warn.mock.calls.map(([, text]) => text)).toEqual([
      expect.stringContaining('raw message delivery'),
      expect.stringContaining('raw message delivery'),
    ]);
    warn.mockRestore();
    expect((await readEmailState(api, email)).mail.status).toBe('SENT');
  });

  it('is also refused if another certificate signed it or if it was changed', async () => {
    const email = await buildEmailOfReader();
    const Message = JSON.stringify(createComplaint(email.id));
    expect((await postMessage({ Message }, { key: other.key })).status).toBe(403);
    expect(
      (await postMessage({ Message: JSON.stringify(createDelivery(email.id)) }, { tamper: { Message } })).status,
    ).toBe(403);
    expect((await postMessage({ Message }, { tamper: { Signature: '' } })).status).toBe(403);
    expect((await postMessage({ Message }, { tamper: { SignatureVersion: '3' } })).status).toBe(403);
    for (const body of ['', 'x', '[]', '{}']) {
      expect((await api.app.request('/webhooks/sns', { method: 'POST', body })).status).toBe(403);
    }
    expect((await readState(email)).names).toEqual([]);
  });
});
