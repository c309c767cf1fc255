import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimSms, type SmsOutcome, settleSms } from '../../db/sms/ledger.ts';
import { insertSms } from '../../db/sms/messages.ts';
import { addImportedStops, backfillSmsStops } from '../../db/sms/stops.ts';
import { inTransaction } from '../../db/transaction.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { padHmacKey } from '../../rules/emails/suppression.ts';
import { computeTwilioSignature } from '../../rules/sms/twilio-signature.ts';
import { buildContact } from '../build/emails.ts';
import { TEST_SECRET_KEY } from '../build/senders.ts';
import { buildApiKey, startTestApi, type TestApi } from '../support/api.ts';
import { signIn } from '../support/session.ts';

const TOKEN = 'the token of the tests';
const US = '+15551234567';
const DE = '+4915112345678';
const key = deriveKey(TEST_SECRET_KEY, 'suppression');
const pads = padHmacKey(key);
let api: TestApi;

beforeAll(async () => {
  api = await startTestApi({ TWILIO_AUTH_TOKEN: TOKEN, PUBLIC_URL: 'https://mail.example.com' });
  const senders = [
    { project_id: api.one.id, country: null, from_phone: '+15005550006' },
    { project_id: api.one.id, country: 'DE', from_phone: '+4930123456' },
  ];
  await api.db.insertInto('sms_senders').values(senders).execute();
});
afterAll(() => api.close());

const send = (body: object, headers: Record<string, string> = {}, key = api.one.secretKey) =>
  api.call('POST', '/v1/sms/send', { body, headers, key });

it('an SMS is accepted with its country, sender, encoding and number of segments, and is queued', async () => {
  const german = await send({ to: DE, body: 'Grüße' });
  expect(german.status).toBe(202);
  expect(german.body).toMatchObject({ to: DE, from: '+4930123456', country: 'DE', encoding: 'GSM7', segments: 1 });
  const long = await send({ to: US, body: `${'€'.repeat(80)}中` });
  expect(long.body).toMatchObject({
    from: '+15005550006',
    country: 'US',
    encoding: 'UCS2',
    segments: 2,
    status: 'PENDING',
  });
  expect(api.dispatched.filter((row) => row.kind === 'sms.deliver')).toHaveLength(2);
});

describe('an SMS is refused', () => {
  it.each([
    ['an invalid number', { to: '0151', body: 'x' }, 'to'],
    ['no body', { to: DE }, 'body'],
    ['an empty body', { to: DE, body: '' }, 'body'],
    ['1601 characters', { to: DE, body: 'x'.repeat(1601) }, 'body'],
    ['an invalid contact id', { to: DE, body: 'x', contactId: 'me' }, 'contactId'],
  ])('with 400 VALIDATION_ERROR for %s', async (_, body, field) => {
    const r = await send(body);
    expect([r.status, r.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(r.body.error.errors[0].field).toBe(field);
  });

  it('if the project has no sender for the country', async () => {
    const r = await send({ to: DE, body: 'x' }, {}, api.two.secretKey);
    expect([r.status, r.body.error.code]).toEqual([400, 'NO_SMS_SENDER']);
  });

  it('if the key lacks the scope, and if the deployment has no SMS', async () => {
    expect((await send({ to: DE, body: 'x' }, {}, api.one.bareKey)).body.error.code).toBe('FORBIDDEN');
    const off = await startTestApi({ SMS_PROVIDER: 'none' });
    const r = await off.call('POST', '/v1/sms/send', { body: { to: DE, body: 'x' } });
    expect([r.status, r.body.error.code]).toEqual([403, 'SMS_NOT_ENABLED']);
    await off.close();
  });

  it('if its idempotency key was already used', async () => {
    const first = await send({ to: DE, body: 'x' }, { 'idempotency-key': 'sms 1' });
    const again = await send({ to: DE, body: 'x' }, { 'idempotency-key': 'sms 1' });
    expect([first.status, again.status, again.body.error.code]).toEqual([202, 409, 'IDEMPOTENCY_KEY_REUSED']);
    expect(again.body.error.details.originalResponse).toEqual(first.body);
  });
});

it('the contact is found by its phone number, unless the request names a contact', async () => {
  const phone = '+4915100000001';
  const byPhone = await buildContact(api.db, { projectId: api.one.id, data: { phone } });
  const named = await buildContact(api.db, { projectId: api.one.id });
  const sendAndReadContact = async (body: object) => {
    const { id } = (await send({ to: phone, body: 'x', ...body })).body;
    return (await api.call('GET', `/v1/sms/${id}`)).body.data.contactId;
  };
  expect(await sendAndReadContact({})).toBe(byPhone);
  expect(await sendAndReadContact({ contactId: named })).toBe(named);
  const foreign = await buildContact(api.db, { projectId: api.two.id });
  expect((await send({ to: phone, body: 'x', contactId: foreign })).status).toBe(404);
});

it('the list of SMS has filters and pages without bodies; a record has the body, for its own project only', async () => {
  const to = '+4915100000002';
  const ids = [];
  for (const body of ['a', 'b', 'c']) ids.unshift((await send({ to, body })).body.id);
  const query = `?to=${encodeURIComponent(to)}&limit=2`;
  const first = (await api.call('GET', `/v1/sms${query}`)).body;
  const second = (await api.call('GET', `/v1/sms${query}&cursor=${first.nextCursor}`)).body;
  expect([...first.data, ...second.data].map((sms) => sms.id)).toEqual(ids);
  expect(second.nextCursor).toBeNull();
  const written = await api.call('GET', `/v1/sms?to=${encodeURIComponent('0049 (151) 000-00002')}`);
  expect(written.body.data).toHaveLength(3);
  const executionId = '0190a000-0000-7000-8000-00000000e001';
  await api.db.updateTable('sms_messages').set({ execution_id: executionId }).where('id', '=', ids[1]).execute();
  const findMessages = async (by: string) =>
    (await api.call('GET', `/v1/sms${query}&${by}`)).body.data.map((sms: { id: string }) => sms.id);
  expect(await findMessages('sourceType=WORKFLOW')).toEqual([ids[1]]);
  expect(await findMessages('sourceType=TRANSACTIONAL')).toEqual([ids[0], ids[2]]);
  expect(await findMessages(`workflowExecutionId=${executionId}`)).toEqual([ids[1]]);
  expect(first.data[0]).toMatchObject({ sourceType: 'TRANSACTIONAL', workflowExecutionId: null });
  expect(first.data[0]).not.toHaveProperty('body');
  expect((await api.call('GET', `/v1/sms?to=${to}`)).body.data).toHaveLength(3);
  expect((await api.call('GET', `/v1/sms/${ids[0]}`)).body.data.body).toBe('c');
  expect((await api.call('GET', `/v1/sms/${ids[0]}`, { key: api.two.secretKey })).status).toBe(404);
  for (const bad of ['limit=0', 'status=SENDING', 'since=x', 'to=', 'to=Ada']) {
    const r = await api.call('GET', `/v1/sms?${bad}`);
    expect([r.status, r.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  }
  const key = await buildApiKey(api.db, api.one.id, ['sms:send']);
  expect((await api.call('GET', '/v1/sms', { key })).status).toBe(403);
});

async function postCallback(path: string, params: Record<string, string>, token = TOKEN) {
  const signature = computeTwilioSignature(token, `https://mail.example.com${path}`, params);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature };
  return api.app.request(path, { method: 'POST', headers, body: new URLSearchParams(params).toString() });
}

it('Twilio reports the result of a message, and a later report never resets the status to an earlier one', async () => {
  const { id } = (await send({ to: DE, body: 'x' })).body;
  const deliveryId = '0190a000-0000-7000-8000-00000000d001';
  const [sms] = await claimSms(api.db, { projectId: api.one.id, messages: [{ id, deliveryId }], pads });
  const outcome = { kind: 'accepted' as const, status: 'QUEUED' as const, providerMessageId: 'SM1' };
  await settleSms(api.db, { projectId: api.one.id, id, claim: sms?.claim ?? 0, outcome });
  const readStatus = async () => (await api.call('GET', `/v1/sms/${id}`)).body.data.status;
  expect(await readStatus()).toBe('QUEUED');
  const path = `/webhooks/twilio/status?id=${id}`;
  expect((await postCallback(path, { MessageSid: 'SM1', MessageStatus: 'delivered' }, 'wrong')).status).toBe(403);
  expect(await readStatus()).toBe('QUEUED');
  await postCallback(path, { MessageSid: 'SM1', MessageStatus: 'delivered' });
  await postCallback('/webhooks/twilio/status', { MessageSid: 'SM1', MessageStatus: 'sent' });
  expect(await readStatus()).toBe('DELIVERED');
});

describe('the result of an attempt at an SMS', () => {
  const deliveryId = '0190a000-0000-7000-8000-00000000d002';
  const claim = async (id: string) =>
    (await claimSms(api.db, { projectId: api.one.id, messages: [{ id, deliveryId }], pads }))[0];
  const accept = async () => (await send({ to: DE, body: 'x' })).body.id as string;
  const settle = async (id: string, sms: Awaited<ReturnType<typeof claim>>, outcome: SmsOutcome) =>
    settleSms(api.db, { projectId: api.one.id, id, claim: sms?.claim ?? 0, outcome });
  const read = async (id: string) => (await api.call('GET', `/v1/sms/${id}`)).body.data;
  const deferred = { kind: 'deferred', error: 'Twilio no response: socket hang up' } as const;
  const accepted = { kind: 'accepted', status: 'QUEUED', providerMessageId: 'SM2' } as const;

  it('replaces the error of an earlier attempt', async () => {
    const id = await accept();
    await settle(id, await claim(id), deferred);
    expect(await read(id)).toMatchObject({ status: 'PENDING', error: deferred.error });
    await settle(id, await claim(id), accepted);
    expect(await read(id)).toMatchObject({ status: 'QUEUED', error: null });
  });

  it('leads to no second SMS if the response was lost, and Twilio then reports the SMS as sent', async () => {
    const id = await accept();
    await settle(id, await claim(id), deferred);
    await postCallback(`/webhooks/twilio/status?id=${id}`, { MessageSid: 'SM2', MessageStatus: 'sent' });
    expect(await read(id)).toMatchObject({ status: 'SENT', error: null, messageId: 'SM2' });
    expect(await claim(id)).toBeUndefined();
  });

  it.each([deferred, accepted])('keeps a report that arrived before it: $kind', async (outcome) => {
    const id = await accept();
    const claimed = await claim(id);
    const report = { MessageSid: 'SM2', MessageStatus: 'undelivered', ErrorCode: '30003' };
    await postCallback(`/webhooks/twilio/status?id=${id}`, report);
    expect(await settle(id, claimed, outcome)).toBe(true);
    expect(await read(id)).toMatchObject({
      status: 'UNDELIVERED',
      reason: 'provider_rejected',
      error: 'Twilio 30003',
      messageId: 'SM2',
    });
  });
});

it('STOP ends consent to SMS only, and START restores it', async () => {
  const phone = '+4915100000003';
  const id = await buildContact(api.db, { projectId: api.one.id, data: { phone }, subscribed: true });
  const readSubscriptions = async () => {
    const query = api.db.selectFrom('contacts').select(['subscribed', 'sms_subscribed']).where('id', '=', id);
    return query.executeTakeFirstOrThrow();
  };
  const receiveSms = (Body: string) =>
    postCallback('/webhooks/twilio/inbound', { From: phone, To: '+4930123456', Body });
  const response = await receiveSms('stop');
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/xml']);
  expect(await readSubscriptions()).toEqual({ subscribed: true, sms_subscribed: false });
  const { body } = await send({ to: phone, body: 'x' });
  const [claimed] = await claimSms(api.db, {
    projectId: api.one.id,
    messages: [{ id: body.id, deliveryId: id }],
    pads,
  });
  expect(claimed?.consents).toBe(false);
  await receiveSms('START');
  expect(await readSubscriptions()).toEqual({ subscribed: true, sms_subscribed: true });
});

describe('the list of stopped numbers', () => {
  const SHOP = '+15005550006';
  const DESK = '+4930123456';
  let n = 0;
  const createPhone = () => {
    n += 1;
    return `+49151111${String(n).padStart(5, '0')}`;
  };
  const receiveSms = (From: string, Body: string, To = DESK, more = {}) =>
    postCallback('/webhooks/twilio/inbound', { From, To, Body, ...more });
  const createContact = async (data: object) => {
    n += 1;
    return (await api.call('POST', '/contacts', { body: { email: `sms-${n}@x.com`, data } })).body;
  };
  const listStops = async (phone: string) =>
    (await api.call('GET', `/v1/sms/stops?phone=${encodeURIComponent(phone)}`)).body.data;
  async function insertSmsAndReadConsent(phone: string, p: { from: string; marketing: boolean }) {
    const { sms } = await inTransaction(api.db, (trx) =>
      insertSms(trx, {
        projectId: api.one.id,
        mode: 'live',
        to: { e164: phone, country: 'DE' },
        body: 'x',
        contactId: undefined,
        ...p,
      }),
    );
    const messages = [{ id: sms.id, deliveryId: sms.id }];
    return (await claimSms(api.db, { projectId: api.one.id, messages, pads }))[0]?.consents;
  }

  it('keeps a STOP of a number without a contact, for its sender, and for marketing of all senders', async () => {
    const phone = createPhone();
    await receiveSms(phone, 'STOP');
    expect(await listStops(phone)).toMatchObject([{ phone, from: DESK, source: 'twilio', actor: 'contact' }]);
    expect(await insertSmsAndReadConsent(phone, { from: DESK, marketing: false })).toBe(false);
    expect(await insertSmsAndReadConsent(phone, { from: SHOP, marketing: true })).toBe(false);
    expect(await insertSmsAndReadConsent(phone, { from: SHOP, marketing: false })).toBe(true);
    expect((await createContact({ phone })).smsSubscribed).toBe(false);
    await receiveSms(phone, 'START', SHOP);
    expect(await insertSmsAndReadConsent(phone, { from: DESK, marketing: true })).toBe(false);
    await receiveSms(phone, 'START');
    expect(await insertSmsAndReadConsent(phone, { from: DESK, marketing: true })).toBe(true);
  });

  it('survives deletion of the contact, a new contact and a new number, and keeps no number of an erased contact', async () => {
    const phone = createPhone();
    const first = await createContact({ phone });
    await receiveSms(phone, 'Stop. Thank you');
    const moved = createPhone();
    await api.call('PATCH', `/contacts/${first.id}`, { body: { data: { phone: moved } } });
    expect(await insertSmsAndReadConsent(moved, { from: DESK, marketing: true })).toBe(false);
    await api.call('DELETE', `/contacts/${first.id}`);
    expect(await insertSmsAndReadConsent(moved, { from: DESK, marketing: true })).toBe(false);
    expect(await insertSmsAndReadConsent(phone, { from: DESK, marketing: true })).toBe(false);
    expect((await listStops(moved)).map((stop: { phone: string | null }) => stop.phone)).toEqual([null]);
    expect((await createContact({ phone: moved })).smsSubscribed).toBe(false);
  });

  it('keeps a refusal from an imported file for marketing only, until START to any sender', async () => {
    const phone = createPhone();
    const { id } = await createContact({ phone });
    const p = { projectId: api.one.id, contactIds: [id], actor: 'job:1' };
    await inTransaction(api.db, (trx) => addImportedStops(trx, key, p));
    expect(await listStops(phone)).toMatchObject([{ from: 'import', source: 'import', actor: 'job:1' }]);
    expect(await insertSmsAndReadConsent(phone, { from: DESK, marketing: true })).toBe(false);
    expect(await insertSmsAndReadConsent(phone, { from: DESK, marketing: false })).toBe(true);
    await receiveSms(phone, 'START');
    expect(await insertSmsAndReadConsent(phone, { from: SHOP, marketing: true })).toBe(true);
  });

  it('can also be changed by API', async () => {
    const phone = createPhone();
    const { id } = await createContact({ phone });
    expect((await api.call('POST', '/v1/sms/stops', { body: { phone } })).body).toMatchObject({
      phone,
      from: null,
      source: 'api',
    });
    expect((await api.call('GET', `/contacts/${id}`)).body.smsSubscribed).toBe(false);
    expect(await insertSmsAndReadConsent(phone, { from: DESK, marketing: false })).toBe(false);
    expect(await listStops(phone)).toHaveLength(1);
    // Numbers as people write them, with or without the plus.
    const written = phone.replace(/^\+(\d\d)(\d{3})/, '00$1 ($2) ');
    expect(await listStops(written)).toHaveLength(1);
    expect((await api.call('POST', '/v1/sms/stops', { body: { phone: written } })).body).toMatchObject({ phone });
    const pair = await api.call('POST', '/v1/sms/stops', { body: { phone, from: DESK.replace('+49', '0049 (0) ') } });
    expect(pair.body).toMatchObject({ phone, from: DESK });
    const path = `/v1/sms/stops/${encodeURIComponent(phone)}`;
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect((await api.call('DELETE', path)).status).toBe(404);
    expect((await api.call('GET', `/contacts/${id}`)).body.smsSubscribed).toBe(true);
    expect((await api.call('POST', '/v1/sms/stops', { body: { phone: '0151' } })).status).toBe(422);
  });

  it('records a STOP from error 21610 of a callback, and a failure reason from other codes', async () => {
    const phone = createPhone();
    const sendAndReportError = async (ErrorCode: string) => {
      const { id } = (await send({ to: phone, body: 'x' })).body;
      await postCallback(`/webhooks/twilio/status?id=${id}`, {
        MessageSid: `SM${id}`,
        MessageStatus: 'failed',
        ErrorCode,
      });
      return (await api.call('GET', `/v1/sms/${id}`)).body.data.reason;
    };
    expect([
      await sendAndReportError('21614'),
      await sendAndReportError('21211'),
      await sendAndReportError('30005'),
    ]).toEqual(['not_mobile', 'invalid_number', 'provider_rejected']);
    expect(await listStops(phone)).toEqual([]);
    expect(await sendAndReportError('21610')).toBe('sms_stopped');
    expect(await listStops(phone)).toMatchObject([{ from: DESK, source: 'twilio' }]);
  });

  it('is filled once from the consent of contacts that an earlier release stored', async () => {
    const phone = createPhone();
    const id = await buildContact(api.db, { projectId: api.two.id, data: { phone } });
    await api.db.updateTable('contacts').set({ sms_subscribed: false }).where('id', '=', id).execute();
    await api.db.insertInto('sms_stop_backfill').values({ after: '00000000-0000-0000-0000-000000000000' }).execute();
    await backfillSmsStops(api.db, pads);
    const { body } = await api.call('GET', '/v1/sms/stops', { key: api.two.secretKey });
    expect(body.data).toMatchObject([{ phone, from: null, source: 'contact' }]);
    expect(await api.db.selectFrom('sms_stop_backfill').selectAll().execute()).toEqual([]);
  });

  it('a received SMS is recorded once as an event of its contact, with its text', async () => {
    const phone = createPhone();
    const { id } = await createContact({ phone: phone.replace('+49', '0049 ') });
    await receiveSms(phone, 'please stop by at eight', DESK, { MessageSid: 'SM-in' });
    await receiveSms(phone, 'please stop by at eight', DESK, { MessageSid: 'SM-in' });
    const { body } = await api.call('GET', `/contacts/${id}/timeline`);
    const received = body.data.filter((item: { type: string }) => item.type === 'sms.received');
    expect(received).toMatchObject([
      { metadata: { data: { text: 'please stop by at eight', from: phone, to: DESK } } },
    ]);
    expect((await api.call('GET', `/contacts/${id}`)).body.smsSubscribed).toBe(true);
    expect((await api.call('POST', '/v1/track', { body: { email: 'x@x.com', event: 'sms.received' } })).status).toBe(
      422,
    );
  });

  it('a repeated callback is not recorded again if the sender has got a contact since', async () => {
    const phone = createPhone();
    await receiveSms(phone, 'who are you', DESK, { MessageSid: 'SM-before' });
    const { id } = await createContact({ phone });
    await receiveSms(phone, 'who are you', DESK, { MessageSid: 'SM-before' });
    const { body } = await api.call('GET', `/contacts/${id}/timeline`);
    expect(body.data.map(({ type }: { type: string }) => type)).not.toContain('sms.received');
  });

  it('a repeated START does not undo a STOP that came after the first START', async () => {
    const phone = createPhone();
    for (const [text, MessageSid] of [
      ['START', 'SM-start'],
      ['STOP', 'SM-stop'],
      ['START', 'SM-start'],
    ] as const)
      await receiveSms(phone, text, DESK, { MessageSid });
    expect(await listStops(phone)).toHaveLength(1);
  });

  it('a callback accepts NUL characters in every parameter', async () => {
    const phone = createPhone();
    const response = await receiveSms(`${phone}\0`, 'STOP\0', DESK, { MessageSid: 'SM\0nul' });
    expect([response.status, await listStops(phone)]).toEqual([200, [expect.objectContaining({ phone })]]);
    const { id } = (await send({ to: createPhone(), body: 'x' })).body;
    const report = { MessageSid: `SM${id}\0`, MessageStatus: 'failed', ErrorCode: '30008', ErrorMessage: 'x\0' };
    expect((await postCallback(`/webhooks/twilio/status?id=${id}`, report)).status).toBe(204);
    expect((await api.call('GET', `/v1/sms/${id}`)).body.data).toMatchObject({
      status: 'FAILED',
      error: 'Twilio 30008 x',
    });
  });

  it('the event of a keyword that the provider handled names the consent that the provider recorded', async () => {
    const phone = createPhone();
    const { id } = await createContact({ phone });
    await receiveSms(phone, 'GENUG', DESK, { MessageSid: 'SM-c1', OptOutType: 'STOP' });
    expect(await listStops(phone)).toHaveLength(1);
    await receiveSms(phone, 'ZURUECK', DESK, { MessageSid: 'SM-c2', OptOutType: 'START' });
    expect(await listStops(phone)).toEqual([]);
    await receiveSms(phone, 'INFO', DESK, { MessageSid: 'SM-c3', OptOutType: 'HELP' });
    const { body } = await api.call('GET', `/contacts/${id}/timeline`);
    const received = body.data.filter((item: { type: string }) => item.type === 'sms.received');
    const read = received.map(({ metadata: { data } }: { metadata: { data: object } }) => data);
    expect(read).toMatchObject([
      { text: 'INFO', consent: null },
      { text: 'ZURUECK', consent: 'start' },
      { text: 'GENUG', consent: 'stop' },
    ]);
  });

  it('the event of an MMS names its files', async () => {
    const phone = createPhone();
    const { id } = await createContact({ phone });
    const files = { NumMedia: '2', MediaUrl0: 'https://x.example/0', MediaContentType0: 'image/png', MediaUrl1: '' };
    await receiveSms(phone, '', DESK, { MessageSid: 'MM-1', ...files });
    const { body } = await api.call('GET', `/contacts/${id}/timeline`);
    expect(body.data.find((item: { type: string }) => item.type === 'sms.received').metadata.data).toMatchObject({
      text: '',
      media: [{ url: 'https://x.example/0', contentType: 'image/png' }],
    });
  });

  it('a received SMS counts in each project that sends from the number, or sent from it before', async () => {
    const headers = await signIn(api, api.two, 'OWNER');
    const callSenders = (method: string, path = '', body?: object) =>
      api.call(method, `/sms/senders${path}`, { key: null, headers, body });
    const shared = '+15005550009';
    const sender = (await callSenders('POST', '', { country: 'US', from: shared })).body;
    const own = await signIn(api, api.one, 'OWNER');
    await api.call('POST', '/sms/senders', { key: null, headers: own, body: { country: 'FR', from: shared } });
    const phone = createPhone();
    const createContactOfProjectTwo = (email: string) =>
      api.call('POST', '/contacts', { key: api.two.secretKey, body: { email, data: { phone } } });
    const first = (await createContactOfProjectTwo('sms-a@x.com')).body;
    const second = (await createContactOfProjectTwo('sms-b@x.com')).body;
    const mine = await createContact({ phone });
    const readSmsSubscribed = async (id: string, key?: string) =>
      (await api.call('GET', `/contacts/${id}`, { ...(key && { key }) })).body.smsSubscribed;
    const readBothConsents = async () => [
      await readSmsSubscribed(first.id, api.two.secretKey),
      await readSmsSubscribed(second.id, api.two.secretKey),
      await readSmsSubscribed(mine.id),
    ];
    await receiveSms(phone, 'STOP', shared);
    expect(await readBothConsents()).toEqual([false, false, false]);
    await receiveSms(phone, 'START', shared);
    expect(await readBothConsents()).toEqual([true, true, true]);

    await inTransaction(api.db, (trx) =>
      insertSms(trx, {
        projectId: api.two.id,
        mode: 'live',
        to: { e164: phone, country: 'DE' },
        body: 'x',
        contactId: first.id,
        from: shared,
        marketing: true,
      }),
    );
    expect((await callSenders('DELETE', `/${sender.id}`)).status).toBe(204);
    await receiveSms(phone, 'STOP', shared, { MessageSid: 'SM-removed' });
    expect(await readBothConsents()).toEqual([false, false, false]);
  });

  it('the sender of an SMS is found by a number in local form, in the country of the project', async () => {
    const headers = await signIn(api, api.one, 'OWNER');
    const setPhoneCountry = (phoneCountry: string | null) =>
      api.call('PATCH', '/project', { key: null, headers, body: { phoneCountry } });
    expect((await setPhoneCountry('Germany')).status).toBe(422);
    expect((await setPhoneCountry('de')).body).toMatchObject({ phoneCountry: 'DE' });
    const phone = createPhone();
    const { id } = await createContact({ phone: `0${phone.slice(3, 6)} / ${phone.slice(6)}` });
    await receiveSms(phone, 'stop 🛑');
    expect((await api.call('GET', `/contacts/${id}`)).body.smsSubscribed).toBe(false);
    await setPhoneCountry(null);
  });

  it('a change of the country, also by apply, applies to the numbers of existing contacts', async () => {
    const headers = await signIn(api, api.one, 'OWNER');
    const changeBySettings = (phoneCountry: string | null) =>
      api.call('PATCH', '/project', { key: null, headers, body: { phoneCountry } });
    const changeByApply = (phoneCountry: string | null) =>
      api.call('POST', '/project/apply', { key: null, headers, body: { settings: { phoneCountry } } });
    for (const change of [changeBySettings, changeByApply]) {
      const [stopped, texting] = [createPhone(), createPhone()];
      const [early, late] = [
        await createContact({ phone: stopped.replace('+49', '0') }),
        await createContact({ phone: texting.replace('+49', '0') }),
      ];
      const readConsent = async (id: string) => (await api.call('GET', `/contacts/${id}`)).body.smsSubscribed;
      const readConsents = async () => [await readConsent(early.id), await readConsent(late.id)];
      await receiveSms(stopped, 'STOP');
      expect(await readConsents()).toEqual([true, true]);
      expect((await change('DE')).status).toBe(200);
      expect(await readConsents()).toEqual([false, true]);
      const { id } = (await send({ to: texting, body: 'x' })).body;
      expect((await api.call('GET', `/v1/sms/${id}`)).body.data.contactId).toBe(late.id);
      await receiveSms(texting, 'STOP');
      expect(await readConsents()).toEqual([false, false]);
      expect((await change(null)).status).toBe(200);
      const other = (await send({ to: texting, body: 'x' })).body.id;
      expect((await api.call('GET', `/v1/sms/${other}`)).body.data.contactId).toBeNull();
    }
  });

  it('deleting the field `phone` also deletes the normalized numbers', async () => {
    const phone = createPhone().replace('+49', '0049 ');
    const body = { email: 'field@x.com', data: { phone } };
    const { id } = (await api.call('POST', '/contacts', { body, key: api.two.secretKey })).body;
    const readPhones = () => api.db.selectFrom('contact_phones').select('phone').where('contact_id', '=', id).execute();
    expect(await readPhones()).toHaveLength(1);
    const deleted = await api.call('DELETE', '/contacts/fields/phone', { key: api.two.secretKey });
    expect(deleted.status).toBe(200);
    expect(await readPhones()).toEqual([]);
  });
});

it('an unsigned callback changes nothing', async () => {
  const r = await api.app.request('/webhooks/twilio/inbound', { method: 'POST', body: 'From=%2B49&Body=STOP' });
  expect(r.status).toBe(403);
});

it('senders are listed, added once per country, and removed, by users only', async () => {
  const headers = await signIn(api, api.two);
  const call = (method: string, path: string, body?: object) => api.call(method, path, { key: null, headers, body });
  const added = await call('POST', '/sms/senders', { country: 'fr', from: '+33123456789' });
  expect([added.status, added.body.country]).toEqual([201, 'FR']);
  expect((await call('POST', '/sms/senders', { country: 'FR', from: 'Shop' })).status).toBe(409);
  expect((await call('POST', '/sms/senders', { country: 'XX', from: 'Shop' })).status).toBe(422);
  expect((await call('POST', '/sms/senders', { from: 'Shop' })).body.country).toBeNull();
  expect((await call('GET', '/sms/senders')).body.data.map((s: { from: string }) => s.from)).toEqual([
    '+33123456789',
    'Shop',
  ]);
  expect((await call('DELETE', `/sms/senders/${added.body.id}`)).status).toBe(204);
  expect((await call('DELETE', `/sms/senders/${added.body.id}`)).status).toBe(404);
  expect((await api.call('GET', '/sms/senders')).body.error.code).toBe('INVALID_API_KEY');
});
