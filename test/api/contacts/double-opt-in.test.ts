import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listConfirmationProofs } from '../../../db/contacts/double-opt-in.ts';
import { upsertContacts } from '../../../db/contacts/upsert.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { recordFeedback } from '../../../engine/feedback/email-feedback.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { createLinkTokens } from '../../../rules/content/link-tokens.ts';
import type { Feedback } from '../../../rules/emails/email-feedback.ts';
import { classifyRefusal } from '../../../rules/emails/refusal.ts';
import { TEST_SECRET_KEY } from '../../build/senders.ts';
import { usePublicKeyApi } from '../../support/public-key.ts';
import { signIn } from '../../support/session.ts';

const calls = usePublicKeyApi();
let owner: Record<string, string>;
let templateId: string;
let count = 0;
let email = '';

const setProject = (body: object) => calls.api.call('PATCH', '/project', { key: null, headers: owner, body });
const createTemplate = async (more: object = {}) => {
  const body = {
    name: 'Confirm',
    subject: 'Please confirm',
    body: '<p>Hello {{firstName}}: <a href="{{confirmUrl}}">Yes</a></p>',
    from: 'hello@shop.example.com',
    type: 'TRANSACTIONAL',
  };
  return (await calls.api.call('POST', '/templates', { body: { ...body, ...more } })).body.id as string;
};

beforeAll(async () => {
  owner = await signIn(calls.api, calls.api.one);
  templateId = await createTemplate();
  const { status, body } = await setProject({ doubleOptIn: { enabled: true, templateId } });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.doubleOptIn).toEqual({ enabled: true, templateId });
});
beforeEach(() => {
  count += 1;
  email = `person-${count}@example.com`;
});

const readState = async (address = email) => {
  const { subscribed, subscription } = await calls.contactOf(address);
  return { subscribed, subscription };
};
const NO_MAILBOX = { code: 550, enhanced: '5.1.1', text: 'No such user' };
const PENDING = { subscribed: false, subscription: 'pending' };

/** Returns the emails to the address of the current test, oldest first. */
async function listConfirmations(): Promise<{ id: string; content_id: string }[]> {
  return calls.api.db
    .selectFrom('emails')
    .select(['id', 'content_id'])
    .where('to_email', '=', email)
    .orderBy('id')
    .execute();
}
const letAnHourPass = () =>
  sql`UPDATE contacts SET confirmation_asked_at = confirmation_asked_at - interval '1 hour' WHERE email = ${email}`.execute(
    calls.api.db,
  );

const createConfirmPath = (emailId: string) => `/confirm/${createLinkTokens(TEST_SECRET_KEY, emailId).manage}`;
const openPage = async (path: string) => (await calls.api.call('GET', path, { key: null })).body as string;
const pressButton = async (path: string) => (await calls.api.app.request(path, { method: 'POST', body: '' })).text();

describe('double opt-in of a contact that a request with the public key would subscribe', () => {
  it.each([{ subscribed: true }, {}])(
    'makes a new contact pending and sends one confirmation email: %j',
    async (said) => {
      for (let n = 0; n < 3; n++) expect((await calls.track({ email, ...said })).status).toBe(200);
      expect(await readState()).toEqual(PENDING);
      const [mail, ...more] = await listConfirmations();
      expect(more).toEqual([]);
      const { body } = await calls.api.call('GET', `/v1/emails/${mail?.id}`);
      expect(body.data.body).toContain(createConfirmPath(mail?.id ?? ''));
      expect(body.data).toMatchObject({ subject: 'Please confirm', status: 'PENDING' });
    },
  );

  it('sends another confirmation email if the contact asks again after an hour, and only one for concurrent requests', async () => {
    await calls.track({ email, subscribed: true });
    await letAnHourPass();
    await calls.track({ email });
    expect(await listConfirmations()).toHaveLength(1);
    await Promise.all(Array.from({ length: 5 }, () => calls.track({ email, subscribed: true })));
    expect(await listConfirmations()).toHaveLength(2);
  });

  it('sends a confirmation email also to a contact that unsubscribed before; the page then subscribes it again', async () => {
    await calls.save({ email, subscribed: true });
    const { id } = await calls.contactOf(email);
    await calls.api.call('PATCH', `/contacts/${id}`, { body: { subscribed: false } });
    await calls.api.call('POST', '/suppressions', { body: { email, reason: 'unsubscribe' } });
    await calls.track({ email, subscribed: true });
    expect(await readState()).toEqual(PENDING);
    await pressButton(createConfirmPath((await listConfirmations())[0]?.id ?? ''));
    expect(await readState()).toEqual({ subscribed: true, subscription: 'subscribed' });
    expect(
      (await calls.api.call('GET', '/suppressions')).body.data.map((one: { email: string }) => one.email),
    ).not.toContain(email);
  });

  it('sends no confirmation email if the public key unsubscribes the contact, or if the project has subscribed it', async () => {
    await calls.track({ email, subscribed: false });
    expect(await readState()).toEqual({ subscribed: false, subscription: 'unsubscribed' });
    await calls.save({ email, subscribed: true });
    await calls.track({ email, subscribed: true });
    expect(await readState()).toEqual({ subscribed: true, subscription: 'subscribed' });
    expect(await listConfirmations()).toEqual([]);
  });

  it('also applies if a step subscribes the contact because of an untrusted event', async () => {
    await calls.save({ email, subscribed: false });
    await calls.api.db.transaction().execute((trx) =>
      upsertContacts(trx, {
        projectId: calls.api.one.id,
        rows: [{ email, subscribed: true, set: {}, remove: [], by: { copied: new Set(), untrustedTrigger: true } }],
        defaultSubscribed: false,
        suppressionKey: deriveKey(TEST_SECRET_KEY, 'suppression'),
        causeId: null,
      }),
    );
    expect(await readState()).toEqual(PENDING);
    expect(await listConfirmations()).toHaveLength(1);
  });

  it('ends when the project subscribes or unsubscribes the contact', async () => {
    await calls.track({ email, subscribed: true });
    const { id } = await calls.contactOf(email);
    await calls.api.call('PATCH', `/contacts/${id}`, { body: { subscribed: false } });
    expect(await readState()).toEqual({ subscribed: false, subscription: 'unsubscribed' });
    await calls.track({ email, subscribed: true });
    expect(await readState()).toEqual(PENDING);
    await calls.api.call('PATCH', `/contacts/${id}`, { body: { subscribed: true } });
    expect((await readState()).subscription).toBe('subscribed');
    await calls.api.call('PATCH', `/contacts/${id}`, { body: { subscribed: false } });
    expect((await readState()).subscription).toBe('unsubscribed');
  });
});

describe('the confirmation page of double opt-in', () => {
  it('subscribes only when its button is pressed, and stores the proof', async () => {
    await calls.track({ email, subscribed: true });
    const [{ id: emailId } = { id: '' }] = await listConfirmations();
    const page = await openPage(createConfirmPath(emailId));
    expect(page).toContain(`<form method="post" action="${createConfirmPath(emailId)}">`);
    expect(await readState()).toEqual(PENDING);
    for (let n = 0; n < 2; n++) expect(await pressButton(createConfirmPath(emailId))).toContain('You are subscribed');
    expect((await readState()).subscribed).toBe(true);
    const { id: contactId } = await calls.contactOf(email);
    const proofs = await listConfirmationProofs(calls.api.db, { projectId: calls.api.one.id, contactId });
    expect(proofs).toEqual([
      { at: expect.any(Date), ip: expect.any(String), text: expect.stringContaining(email), emailId },
    ]);
    const events = await calls.api.db.selectFrom('events').select('name').where('contact_id', '=', contactId).execute();
    expect(events.filter(({ name }) => name === 'contact.subscribed')).toHaveLength(1);
  });

  it('works for 30 days', async () => {
    await calls.track({ email, subscribed: true });
    const [{ id: emailId } = { id: '' }] = await listConfirmations();
    await sql`UPDATE confirmations SET created_at = now() - interval '30 days 1 second' WHERE email_id = ${emailId}`.execute(
      calls.api.db,
    );
    expect(await openPage(createConfirmPath(emailId))).not.toContain('<form');
    await pressButton(createConfirmPath(emailId));
    expect(await readState()).toEqual(PENDING);
  });

  describe('with a link that was sent before the contact refused email', () => {
    const askForConfirmation = async () => {
      await calls.track({ email, subscribed: true });
      return (await listConfirmations()).at(-1)?.id ?? '';
    };
    const isSuppressed = async () =>
      (await calls.api.call('GET', '/suppressions')).body.data.some((one: { email: string }) => one.email === email);
    const createPagePath = (kind: 'u' | 's' | 'm', emailId: string) =>
      createConfirmPath(emailId).replace('/confirm/', `/${kind}/`);
    const expectInvalid = async (emailId: string) => {
      for (const html of [await openPage(createConfirmPath(emailId)), await pressButton(createConfirmPath(emailId))]) {
        expect(html).toContain('This link is no longer valid');
        expect(html).not.toContain('<form');
      }
    };

    it('shows no form after the person unsubscribed, whether the link was used before or not', async () => {
      for (const isUsed of [true, false]) {
        email = `refused-${isUsed}@example.com`;
        const emailId = await askForConfirmation();
        if (isUsed) await pressButton(createConfirmPath(emailId));
        await pressButton(createPagePath('u', emailId));
        await expectInvalid(emailId);
        expect(await readState()).toEqual({ subscribed: false, subscription: 'unsubscribed' });
        expect(await isSuppressed()).toBe(true);
      }
    });

    it('stays invalid when the person asks again, and the new link is valid at once', async () => {
      const old = await askForConfirmation();
      await pressButton(createPagePath('u', old));
      const fresh = await askForConfirmation();
      expect(fresh).not.toBe(old);
      await expectInvalid(old);
      expect(await readState()).toEqual(PENDING);
      expect(await pressButton(createConfirmPath(fresh))).toContain('You are subscribed');
      expect(await isSuppressed()).toBe(false);
    });

    it.each(['complaint', 'unsubscribe'])('shows no form after a suppression with the reason %s', async (reason) => {
      email = `${reason}-since@example.com`;
      const emailId = await askForConfirmation();
      await calls.api.call('POST', '/suppressions', { body: { email, reason } });
      await expectInvalid(emailId);
      expect((await readState()).subscribed).toBe(false);
    });

    it.each([
      ['complaint', { kind: 'complaint', at: new Date() }],
      [
        'hard bounce',
        { kind: 'bounce', at: new Date(), refusal: classifyRefusal({ ...NO_MAILBOX, stage: 'dsn' }), words: 'x' },
      ],
    ] as [string, Feedback][])(
      'shows no form after a report of a %s of the confirmation email',
      async (_, feedback) => {
        const emailId = await askForConfirmation();
        const { db } = calls.api;
        await db.updateTable('emails').set({ status: 'SENT', sent_at: new Date() }).where('id', '=', emailId).execute();
        const suppressionKey = deriveKey(TEST_SECRET_KEY, 'suppression');
        const report = { emailId, feedback, suppressionKey, source: 'test' };
        expect((await inTransaction(db, (trx) => recordFeedback(trx, report))).outcome).toBe('recorded');
        expect(await readState()).toEqual({ subscribed: false, subscription: 'unsubscribed' });
        await expectInvalid(emailId);
        expect(await isSuppressed()).toBe(true);
      },
    );

    it('shows no form after the project unsubscribed the contact', async () => {
      const old = await askForConfirmation();
      const { id } = await calls.contactOf(email);
      await calls.api.call('PATCH', `/contacts/${id}`, { body: { subscribed: false } });
      await expectInvalid(old);
      const fresh = await askForConfirmation();
      await expectInvalid(old);
      await pressButton(createConfirmPath(fresh));
      expect((await readState()).subscribed).toBe(true);
    });

    it('stays valid if a request with the public key unsubscribes the contact, so no unauthenticated caller can invalidate it', async () => {
      const emailId = await askForConfirmation();
      await calls.track({ email, subscribed: false });
      expect(await askForConfirmation()).toBe(emailId);
      await pressButton(createConfirmPath(emailId));
      expect((await readState()).subscribed).toBe(true);
    });

    it('the contact can still press the button of the subscribe page; opening a page changes nothing', async () => {
      const emailId = await askForConfirmation();
      await pressButton(createConfirmPath(emailId));
      await pressButton(createPagePath('u', emailId));
      for (const kind of ['s', 'm', 'u'] as const) await openPage(createPagePath(kind, emailId));
      expect((await readState()).subscribed).toBe(false);
      await pressButton(createPagePath('s', emailId));
      expect((await readState()).subscribed).toBe(true);
      expect(await isSuppressed()).toBe(false);
    });
  });

  it('opens only from confirmation emails', async () => {
    await calls.save({ email, subscribed: false });
    await calls.send({ to: email });
    const [{ id: emailId } = { id: '' }] = await listConfirmations();
    await pressButton(createConfirmPath(emailId));
    expect((await readState()).subscribed).toBe(false);
  });
});

describe('the settings of a project', () => {
  it('accept a double opt-in template of this project that has a confirmation link, and that template cannot be deleted', async () => {
    const withoutLink = await createTemplate({ body: '<p>Hello</p>' });
    const faults = [
      { enabled: true, templateId: null },
      { enabled: true, templateId: withoutLink },
    ];
    for (const doubleOptIn of faults) expect((await setProject({ doubleOptIn })).status).toBe(422);
    const foreign = { enabled: true, templateId: calls.api.two.id };
    expect((await setProject({ doubleOptIn: foreign })).status).toBe(404);
    expect((await calls.api.call('DELETE', `/templates/${templateId}`)).status).toBe(409);
  });

  it('accept a frequency cap, and null removes the cap', async () => {
    expect((await setProject({ frequencyCap: { max: 2, days: 7 } })).body.frequencyCap).toEqual({ max: 2, days: 7 });
    expect((await setProject({ name: 'One' })).body.frequencyCap).toEqual({ max: 2, days: 7 });
    expect((await setProject({ frequencyCap: { max: 0, days: 7 } })).status).toBe(422);
    expect((await setProject({ frequencyCap: null })).body.frequencyCap).toBeNull();
  });
});
