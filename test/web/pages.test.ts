import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addSuppressions, findSuppressions } from '../../db/contacts/suppressions.ts';
import { inTransaction } from '../../db/transaction.ts';
import { unsubscribeAddresses } from '../../engine/contacts/subscription-changes.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { createContactToken, createLinkTokens } from '../../rules/content/link-tokens.ts';
import { buildContact, buildEmail } from '../build/emails.ts';
import { TEST_SECRET_KEY } from '../build/senders.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { signIn } from '../support/session.ts';

const key = deriveKey(TEST_SECRET_KEY, 'suppression');
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

let api: TestApi;
let count = 0;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

interface EmailSpec {
  subscribed?: boolean;
  to?: string;
  sourceType?: 'WORKFLOW';
}

/** Builds a marketing email to a contact. Returns the tokens of the links in the email. */
async function buildEmailTo(p: EmailSpec = {}) {
  count += 1;
  const address = `reader-${count}@example.com`;
  const contactId = await buildContact(api.db, {
    projectId: api.one.id,
    email: address,
    subscribed: p.subscribed ?? true,
  });
  const to = p.to ?? address;
  const emailId = await buildEmail(api.db, {
    projectId: api.one.id,
    contactId,
    to,
    type: 'MARKETING',
    status: 'SENT',
    sourceType: p.sourceType ?? 'TRANSACTIONAL',
  });
  return { address, contactId, emailId, ...createLinkTokens(TEST_SECRET_KEY, emailId) };
}

const openPage = (path: string) => api.call('GET', path, { key: null });

async function submitPage(path: string, form = '') {
  const response = await api.app.request(path, { method: 'POST', headers: FORM, body: form });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

async function readState({ contactId, address, emailId }: { contactId: string; address: string; emailId: string }) {
  const contact = await api.db
    .selectFrom('contacts')
    .select('subscribed')
    .where('id', '=', contactId)
    .executeTakeFirst();
  const email = await api.db
    .selectFrom('emails')
    .select('unsubscribed_at')
    .where('id', '=', emailId)
    .executeTakeFirst();
  const events = await api.db
    .selectFrom('events')
    .select('name')
    .where('contact_id', '=', contactId)
    .orderBy('id')
    .execute();
  const entries = await findSuppressions(api.db, key, { projectId: api.one.id, emails: [address] });
  return {
    subscribed: contact?.subscribed,
    noted: Boolean(email?.unsubscribed_at),
    events: events.map((event) => event.name),
    entries: entries.get(address) ?? [],
  };
}

const UNTOUCHED = { subscribed: true, noted: false, events: [], entries: [] };

describe('unsubscribing by a link', () => {
  it('does not happen when the page is opened, however often a scanner opens it', async () => {
    const email = await buildEmailTo();
    for (const path of [`/u/${email.manage}`, `/m/${email.manage}`, `/s/${email.manage}`]) {
      expect((await openPage(path)).status).toBe(200);
      expect((await api.call('HEAD', path, { key: null })).status).toBe(200);
    }
    expect(await readState(email)).toEqual(UNTOUCHED);
    expect((await openPage(`/u/${email.manage}`)).body).toContain(`<form method="post" action="/u/${email.manage}">`);
  });

  it('happens when its button is pressed: the contact is unsubscribed, the address suppressed, the email marked, one event recorded', async () => {
    const email = await buildEmailTo();
    for (let n = 0; n < 2; n++) {
      const { status, body } = await submitPage(`/u/${email.manage}`);
      expect(status).toBe(200);
      expect(body).toContain('You are unsubscribed');
    }
    expect(await readState(email)).toEqual({
      subscribed: false,
      noted: true,
      events: ['contact.unsubscribed'],
      entries: ['unsubscribe'],
    });
    expect((await openPage(`/u/${email.manage}`)).body).toContain('You are unsubscribed');
  });

  it('by one click in an email program returns 200 without cookies, in both encodings', async () => {
    const first = await buildEmailTo();
    const response = await submitPage(`/u/${first.manage}`, 'List-Unsubscribe=One-Click');
    expect(response.status).toBe(200);
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(response.headers.get('location')).toBeNull();
    const second = await buildEmailTo();
    const body = new FormData();
    body.set('List-Unsubscribe', 'One-Click');
    expect((await api.app.request(`/u/${second.manage}`, { method: 'POST', body })).status).toBe(200);
    expect((await readState(first)).subscribed).toBe(false);
    expect((await readState(second)).subscribed).toBe(false);
  });

  it('by thirty concurrent clicks records one event', async () => {
    const mail = await buildEmailTo();
    await Promise.all(Array.from({ length: 30 }, () => submitPage(`/u/${mail.manage}`)));
    expect((await readState(mail)).events).toEqual(['contact.unsubscribed']);
  });

  it('in an email that a step sent to another address changes only that address', async () => {
    const mail = await buildEmailTo({ to: 'manager@example.com', sourceType: 'WORKFLOW' });
    await submitPage(`/u/${mail.manage}`);
    expect(await readState(mail)).toMatchObject({ subscribed: true, entries: [], noted: true });
    const entries = await findSuppressions(api.db, key, { projectId: api.one.id, emails: ['manager@example.com'] });
    expect(entries.get('manager@example.com')).toEqual(['unsubscribe']);
  });

  it('changes no contact of another project', async () => {
    const mail = await buildEmailTo();
    const other = await buildContact(api.db, { projectId: api.two.id, email: mail.address });
    await submitPage(`/u/${mail.manage}`);
    const contact = await api.db.selectFrom('contacts').select('subscribed').where('id', '=', other).executeTakeFirst();
    expect(contact?.subscribed).toBe(true);
    expect(await findSuppressions(api.db, key, { projectId: api.two.id, emails: [mail.address] })).toEqual(new Map());
  });
});

describe('the links in an email whose contact was erased', () => {
  const eraseContact = (id: string) => api.call('DELETE', `/contacts/${id}`);
  const addContact = (email: string) => api.call('POST', '/contacts', { body: { email } });
  const listReasons = async (email: string) =>
    (await findSuppressions(api.db, key, { projectId: api.one.id, emails: [email] })).get(email) ?? [];

  it.each(['email', 'contact'])(
    'unsubscribe by the %s any contact that is later added with the address',
    async (kind) => {
      const email = await buildEmailTo();
      const token = kind === 'email' ? email.manage : createContactToken(TEST_SECRET_KEY, email.contactId);
      await eraseContact(email.contactId);
      expect((await openPage(`/u/${token}`)).body).toContain('Unsubscribe?');
      expect((await submitPage(`/u/${token}`, 'List-Unsubscribe=One-Click')).body).toContain('You are unsubscribed');
      expect(await listReasons(email.address)).toEqual(['unsubscribe']);
      expect((await addContact(email.address)).body).toMatchObject({ subscribed: false });
    },
  );

  it('unsubscribe the contact who has the address now, through any number of erasures', async () => {
    const mail = await buildEmailTo();
    await eraseContact(mail.contactId);
    const second = await addContact(mail.address);
    await eraseContact(second.body.id);
    const third = await addContact(mail.address);
    expect(third.body).toMatchObject({ subscribed: true });
    expect((await submitPage(`/u/${mail.manage}`)).body).toContain('You are unsubscribed');
    expect((await api.call('GET', `/contacts/${third.body.id}`)).body).toMatchObject({ subscribed: false });
    const { events } = await readState({ ...mail, contactId: third.body.id });
    expect([...events].sort()).toEqual(['contact.subscribed', 'contact.unsubscribed']);
  });

  it('show and change the state of the address on the settings page', async () => {
    const mail = await buildEmailTo();
    await eraseContact(mail.contactId);
    expect((await submitPage(`/m/${mail.manage}`, 'subscribed=false')).body).toContain('value="false" checked');
    expect((await openPage(`/m/${mail.manage}`)).body).toContain('value="false" checked');
    expect(await listReasons(mail.address)).toEqual(['unsubscribe']);
    expect((await submitPage(`/s/${mail.manage}`)).body).toContain('please sign up again');
    expect(await listReasons(mail.address)).toEqual([]);
  });

  it("change the address of the email and the contact's last address", async () => {
    const mail = await buildEmailTo();
    const moved = `moved-${mail.address}`;
    await api.call('PATCH', `/contacts/${mail.contactId}`, { body: { email: moved } });
    await eraseContact(mail.contactId);
    await submitPage(`/u/${mail.manage}`);
    for (const email of [mail.address, moved])
      expect((await addContact(email)).body).toMatchObject({ subscribed: false });
  });

  it('still change only the address of an email that a step sent to another address', async () => {
    const manager = `boss-${count}@example.com`;
    const mail = await buildEmailTo({ to: manager, sourceType: 'WORKFLOW' });
    await eraseContact(mail.contactId);
    await submitPage(`/u/${mail.manage}`);
    expect(await listReasons(manager)).toEqual(['unsubscribe']);
    expect(await listReasons(mail.address)).toEqual([]);
  });

  it('report that nothing changed if no address is stored, and one-click unsubscription fails', async () => {
    const mail = await buildEmailTo();
    await eraseContact(mail.contactId);
    await api.db.deleteFrom('erased_emails').where('email_id', '=', mail.emailId).execute();
    for (const page of ['u', 's', 'm']) {
      expect(await openPage(`/${page}/${mail.manage}`)).toMatchObject({ status: 200 });
      const response = await submitPage(`/${page}/${mail.manage}`, 'subscribed=false');
      expect(response.status).toBe(410);
      expect(response.body).toContain('nothing was changed');
      expect(response.body).not.toContain('You are unsubscribed');
    }
  });
});

describe('changing the address of a contact', () => {
  const changeAddress = (id: string, email: string, more = {}) =>
    api.call('PATCH', `/contacts/${id}`, { body: { email, ...more } });

  it("keeps the person's refusals, also for a later contact with the new address", async () => {
    const mail = await buildEmailTo();
    const moved = `new-${mail.address}`;
    await submitPage(`/u/${mail.manage}`);
    expect((await changeAddress(mail.contactId, moved)).body).toMatchObject({ subscribed: false });
    await api.call('DELETE', `/contacts/${mail.contactId}`);
    expect((await api.call('POST', '/contacts', { body: { email: moved } })).body).toMatchObject({ subscribed: false });
  });

  it('removes a hard bounce, and unsubscribes the contact if the new address has refused', async () => {
    const mail = await buildEmailTo();
    const suppress = (email: string, reason: 'hard_bounce' | 'unsubscribe') =>
      addSuppressions(api.db, key, { projectId: api.one.id, entries: [{ email, reason, source: 'test' }] });
    await suppress(mail.address, 'hard_bounce');
    await inTransaction(api.db, (trx) =>
      unsubscribeAddresses(trx, { projectId: api.one.id, emails: [mail.address], reason: 'bounce' }),
    );
    expect((await changeAddress(mail.contactId, `right-${mail.address}`)).body).toMatchObject({ subscribed: true });
    await suppress(`refused-${mail.address}`, 'unsubscribe');
    expect((await changeAddress(mail.contactId, `refused-${mail.address}`)).body).toMatchObject({ subscribed: false });
    expect((await changeAddress(mail.contactId, `written-${mail.address}`, { subscribed: true })).body).toMatchObject({
      subscribed: true,
    });
  });

  it('makes an old link unsubscribe its contact and the contact that has the old address now', async () => {
    const mail = await buildEmailTo();
    await changeAddress(mail.contactId, `elsewhere-${mail.address}`);
    const other = await api.call('POST', '/contacts', { body: { email: mail.address } });
    await submitPage(`/u/${mail.manage}`);
    for (const id of [mail.contactId, other.body.id])
      expect((await api.call('GET', `/contacts/${id}`)).body).toMatchObject({ subscribed: false });
  });
});

describe('a request with subscribed: true after the person refused', () => {
  const saveContact = (email: string, more = {}) =>
    api.call('POST', '/contacts', { body: { email, subscribed: true, ...more } });
  const setResubscribe = async (resubscribe: string) => {
    const headers = await signIn(api, api.one, 'OWNER');
    return api.call('PATCH', '/project', { key: null, headers, body: { resubscribe } });
  };

  it('subscribes by default, which is shown in the response, the audit log and the timeline', async () => {
    const email = await buildEmailTo();
    await submitPage(`/u/${email.manage}`);
    expect((await saveContact(email.address)).body).toMatchObject({
      subscribed: true,
      _meta: { isNew: false, resubscribed: true },
    });
    expect((await saveContact(email.address)).body._meta).toEqual({ isNew: false, isUpdate: true });
    const audit = await api.db
      .selectFrom('audit_log')
      .select(['action', 'actor'])
      .where('target', '=', email.contactId)
      .execute();
    expect(audit).toEqual([{ action: 'contact.resubscribed', actor: expect.stringMatching(/^key:/) }]);
    const { body } = await api.call('GET', `/contacts/${email.contactId}/timeline`);
    expect(body.data[0]).toMatchObject({ type: 'contact.subscribed', metadata: { reason: 'resubscribed' } });
    await submitPage(`/u/${email.manage}`);
    const patched = await api.call('PATCH', `/contacts/${email.contactId}`, { body: { subscribed: true } });
    expect(patched.body).toMatchObject({ subscribed: true, _meta: { resubscribed: true } });
  });

  it('needs resubscribe: true if the project protects refusals', async () => {
    expect((await setResubscribe('never')).status).toBe(422);
    expect((await setResubscribe('protect')).body).toMatchObject({ resubscribe: 'protect' });
    const email = await buildEmailTo();
    await submitPage(`/u/${email.manage}`);
    expect((await saveContact(email.address)).body).toMatchObject({ subscribed: false, _meta: { isNew: false } });
    await api.call('POST', '/v1/track', { body: { email: email.address, event: 'came.back', subscribed: true } });
    await api.call('PATCH', `/contacts/${email.contactId}`, { body: { subscribed: true } });
    expect(await readState(email)).toMatchObject({ subscribed: false, entries: ['unsubscribe'] });
    // The project itself unsubscribed this contact, so it may subscribe the contact again.
    const other = await buildEmailTo({ subscribed: false });
    expect((await saveContact(other.address)).body).toMatchObject({ subscribed: true });
    expect((await saveContact(email.address, { resubscribe: true })).body).toMatchObject({
      subscribed: true,
      _meta: { resubscribed: true },
    });
    await setResubscribe('allow');
  });
});

describe('subscribing by a link', () => {
  it("removes the person's own refusals, and no other refusals", async () => {
    const email = await buildEmailTo({ subscribed: false });
    const entries = (['unsubscribe', 'complaint', 'hard_bounce', 'manual'] as const).map((reason) => {
      return { email: email.address, reason, source: 'test' };
    });
    await addSuppressions(api.db, key, { projectId: api.one.id, entries });
    expect((await openPage(`/s/${email.manage}`)).body).toContain('Subscribe?');
    expect(await readState(email)).toMatchObject({ subscribed: false, events: [] });
    for (let n = 0; n < 2; n++) expect((await submitPage(`/s/${email.manage}`)).body).toContain('You are subscribed');
    const state = await readState(email);
    expect(state).toMatchObject({ subscribed: true, events: ['contact.subscribed'] });
    expect(state.entries.sort()).toEqual(['hard_bounce', 'manual']);
  });
});

describe('the settings page of a contact', () => {
  it('shows the state and changes it with the form', async () => {
    const { address, contactId, emailId } = await buildEmailTo();
    const page = `/m/${createContactToken(TEST_SECRET_KEY, contactId)}`;
    const email = { address, contactId, emailId };
    expect((await openPage(page)).body).toContain('value="true" checked');
    expect((await submitPage(page, 'subscribed=maybe')).body).not.toContain('Saved');
    expect(await readState(email)).toEqual(UNTOUCHED);
    expect((await submitPage(page, 'subscribed=false')).body).toContain('Saved');
    expect((await openPage(page)).body).toContain('value="false" checked');
    expect(await readState(email)).toMatchObject({ subscribed: false, entries: ['unsubscribe'] });
    await submitPage(page, 'subscribed=true');
    expect(await readState(email)).toMatchObject({ subscribed: true, entries: [] });
  });
});

describe('the public pages', () => {
  it.each(['.', ')', '/', '),', '%3E', '/).', '%0A', '.%0D%0A'])(
    'open if an email program appended %s to their link',
    async (behind) => {
      const email = await buildEmailTo();
      for (const page of ['u', 's', 'm'])
        expect((await openPage(`/${page}/${email.manage}${behind}`)).status).toBe(200);
      const page = await openPage(`/u/${email.manage}x/y`);
      expect([page.status, page.headers.get('content-type')]).toEqual([404, expect.stringContaining('text/html')]);
      expect((await submitPage(`/u/${email.manage}${behind}`, 'List-Unsubscribe=One-Click')).status).toBe(200);
      expect(await readState(email)).toMatchObject({ subscribed: false });
    },
  );

  it.each(['/u', '/u/', '/s/', '/m', '/confirm/', '/c', '/c/', '/c/AaIh', '/c/AaIh/'])(
    'show an error page for people if the link was cut off at %s',
    async (path) => {
      const page = await openPage(path);
      expect([page.status, page.headers.get('content-type')]).toEqual([404, expect.stringContaining('text/html')]);
    },
  );

  it('change nothing for forged tokens and tokens of clicks', async () => {
    const email = await buildEmailTo();
    const forged = `${email.manage.slice(0, 30)}${email.manage[30] === 'A' ? 'B' : 'A'}${email.manage.slice(31)}`;
    for (const token of [forged, email.track, 'x', createLinkTokens('some other secret', email.emailId).manage]) {
      for (const page of ['u', 's', 'm']) {
        expect((await openPage(`/${page}/${token}`)).status).toBe(404);
        expect((await submitPage(`/${page}/${token}`, 'subscribed=false')).status).toBe(404);
      }
    }
    expect(await readState(email)).toEqual(UNTOUCHED);
  });

  it('allow no script, frame or foreign form, are not cached, and do not reveal the address', async () => {
    const email = await buildEmailTo();
    for (const page of ['u', 's', 'm']) {
      const { headers, body } = await openPage(`/${page}/${email.manage}`);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; style-src 'sha256-");
      expect(policy).toContain("form-action 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(body).not.toContain('<script');
      expect(body).not.toContain(email.address);
      expect(body).toContain('<html lang="en">');
      expect(body).toContain('name="viewport"');
    }
  });

  it('have the name and color of the project, with any characters', async () => {
    const email = await buildEmailTo();
    const setBrandAndOpenPage = async (name: string, color: string) => {
      await api.db.updateTable('projects').set({ name, color }).where('id', '=', api.one.id).execute();
      return (await openPage(`/u/${email.manage}`)).body;
    };
    const plain = await setBrandAndOpenPage('Ada’s Shop', '#FFCC00');
    expect(plain).toContain('Ada’s Shop');
    expect(plain).toContain('--accent:#ffcc00;--on:#000');
    const evil = await setBrandAndOpenPage('<script>alert(1)</script>', 'red}body{display:none');
    expect(evil).not.toContain('<script>');
    expect(evil).not.toContain('display:none');
  });

  it('get their color from the settings of the project', async () => {
    const headers = await signIn(api, api.one, 'OWNER');
    const setColor = (color: string | null) => api.call('PATCH', '/project', { key: null, headers, body: { color } });
    expect((await setColor('#0F766E')).body).toMatchObject({ color: '#0f766e' });
    const email = await buildEmailTo();
    expect((await openPage(`/u/${email.manage}`)).body).toContain('--accent:#0f766e;--on:#fff');
    expect((await setColor('teal')).status).toBe(422);
    expect((await setColor(null)).body).toMatchObject({ color: null });
  });

  it('refuse a body that is too large, and other methods', async () => {
    const email = await buildEmailTo();
    expect((await submitPage(`/u/${email.manage}`, 'x'.repeat(20_000))).status).toBe(413);
    expect((await api.call('PUT', `/u/${email.manage}`, { key: null })).status).toBe(405);
    expect(await readState(email)).toEqual(UNTOUCHED);
  });
});
