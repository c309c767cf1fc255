import { sql } from 'kysely';
import PostalMime, { type Email } from 'postal-mime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createCampaignBody } from '../build/campaigns.ts';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { type BuiltWorkflow, buildWorkflow, expectOk } from '../build/workflows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';

/** Attacks on the project's automations, emails and campaigns by a caller who knows the public key from a page. */

let sink: SmtpSink;
let service: TestService;

beforeAll(async () => {
  sink = await startSmtpSink({ keepBodies: true });
  service = await startTestService({ EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url });
  await buildDomain(service.db, { projectId: service.one.id });
});
afterAll(async () => {
  await service?.close();
  await sink?.close();
});
beforeEach(() => sink.reset());

const trackWithPublicKey = (email: string, event: string, data: object = {}, more: object = {}) =>
  expectOk(service.call('POST', '/v1/track', { key: service.one.publicKey, body: { email, event, data, ...more } }));
const trackAsTenant = (email: string, event: string, data: object = {}, more: object = {}) =>
  expectOk(service.call('POST', '/v1/track', { body: { email, event, data, ...more } }));
const createTestTemplate = (subject: string, body: string) =>
  buildTemplate(service.db, { projectId: service.one.id, subject, body });

async function waitForEnd(workflow: BuiltWorkflow) {
  return until(async () => {
    const { data } = await expectOk(service.call('GET', `/workflows/${workflow.id}/executions`));
    if (!data[0]?.completedAt) return undefined;
    return expectOk(service.call('GET', `/workflows/${workflow.id}/executions/${data[0].id}`));
  }, 'the end of the execution');
}

async function waitForEmailTo(address: string): Promise<Email> {
  const at = await until(async () => {
    const index = sink.messages.findIndex((message) => message.to === address);
    return index < 0 ? undefined : { index };
  }, `the mail to ${address}`);
  return PostalMime.parse(sink.bodies[at.index] ?? '');
}

async function readContact(email: string) {
  const { rows } = await sql<{ id: string; subscribed: boolean; data: object; untrusted: string[] }>`
    SELECT id, subscribed, data, untrusted_keys AS untrusted FROM contacts
    WHERE project_id = ${service.one.id} AND email = ${email}`.execute(service.db);
  const [found] = rows;
  if (!found) throw new Error(`no contact ${email}`);
  return found;
}

async function listSuppressions(email: string): Promise<string[]> {
  const { rows } = await sql<{ reason: string }>`
    SELECT reason FROM suppressions WHERE project_id = ${service.one.id} AND email = ${email}`.execute(service.db);
  return rows.map(({ reason }) => reason);
}

/** Creates a contact who has unsubscribed with the link in an email. */
async function unsubscribe(email: string): Promise<void> {
  const sent = await expectOk(
    service.call('POST', '/v1/send', {
      body: { to: email, subject: 'x', body: '<p>{{unsubscribeUrl}}</p>', from: 'a@shop.example.com' },
    }),
  );
  expect(sent.success).toBe(true);
  const { text } = await waitForEmailTo(email);
  const link = /https?:\S+\/u\/\S+/.exec(text ?? '')?.[0] ?? '';
  const response = await fetch(service.baseUrl + new URL(link).pathname, { method: 'POST' });
  expect(response.status).toBe(200);
  expect(await listSuppressions(email)).toEqual(['unsubscribe']);
  sink.reset();
}

describe('UPDATE_CONTACT with untrusted event data', () => {
  it('creates no link target and no markup from the data', async () => {
    const templateId = await createTestTemplate(
      'Hi',
      '<p><a href="{{data.website}}">your site</a> {{data.about | raw}}</p>',
    );
    const workflow = await buildWorkflow(service, {
      eventName: 'site',
      steps: {
        copy: {
          type: 'UPDATE_CONTACT',
          config: {
            updates: { website: '{{event.website}}', about: 'They say: {{event.about ?? nothing}}', lead: 'yes' },
          },
          to: 'mail',
        },
        mail: { type: 'SEND_EMAIL', config: { templateId } },
      },
    });
    await trackWithPublicKey('site@victim.example', 'site', {
      website: { value: 'https://evil.example/phish', persistent: false },
      about: { value: '<b>me</b>', persistent: false },
    });
    await waitForEnd(workflow);
    const { html } = await waitForEmailTo('site@victim.example');
    expect(html).toContain('<a href="#">your site</a> They say: &lt;b&gt;me&lt;/b&gt;');
    const { untrusted } = await readContact('site@victim.example');
    expect([...untrusted].sort()).toEqual(['about', 'website']);
    await expectOk(
      service.call('POST', '/v1/track', {
        body: { email: 'site@victim.example', event: 'x', data: { website: 'https://shop.example/' } },
      }),
    );
    expect((await readContact('site@victim.example')).untrusted).toEqual(['about']);
  });

  it('sends no email to an untrusted address', async () => {
    const templateId = await createTestTemplate('Invitation', '<div>{{data.note | raw}}</div>');
    const workflow = await buildWorkflow(service, {
      eventName: 'invite',
      steps: {
        copy: {
          type: 'UPDATE_CONTACT',
          config: { updates: { inviteEmail: '{{event.friend}}', note: '{{event.note}}' } },
          to: 'mail',
        },
        mail: {
          type: 'SEND_EMAIL',
          config: { templateId, recipient: { type: 'CUSTOM', customEmail: '{{data.inviteEmail}}' } },
        },
      },
    });
    const friend = { value: 'someone@else.example', persistent: false };
    await trackWithPublicKey('host@victim.example', 'invite', {
      friend,
      note: { value: '<a href="https://evil.example">x</a>', persistent: false },
    });
    const execution = await waitForEnd(workflow);
    expect(sink.messages).toEqual([]);
    expect(execution.status).toBe('FAILED');
    expect(execution.steps.at(-1)).toMatchObject({ type: 'SEND_EMAIL', status: 'FAILED' });
    expect(execution.error).toMatch(/public key/);
    await trackAsTenant('own@victim.example', 'invite', { friend, note: { value: '<i>hello</i>', persistent: false } });
    expect((await waitForEmailTo('someone@else.example')).html).toContain('<div><i>hello</i></div>');
  });

  it('subscribes no contact that has unsubscribed', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'join',
      allowReentry: true,
      steps: { join: { type: 'UPDATE_CONTACT', config: { updates: {}, subscribed: true } } },
    });
    await unsubscribe('gone@victim.example');
    await trackWithPublicKey('gone@victim.example', 'join');
    await waitForEnd(workflow);
    expect(await listSuppressions('gone@victim.example')).toEqual(['unsubscribe']);
    expect((await readContact('gone@victim.example')).subscribed).toBe(false);
    await trackAsTenant('gone@victim.example', 'join');
    await until(async () => (await readContact('gone@victim.example')).subscribed, 'the lift by the tenant');
    expect(await listSuppressions('gone@victim.example')).toEqual([]);
  });

  it('subscribes no unsubscribed contact, neither by an event of a step nor by an untrusted event that ends a wait of a trusted execution', async () => {
    const joins = {
      byChange: { eventName: 'contact.unsubscribed', email: 'caused@victim.example' },
      byWait: { eventName: 'account.made', email: 'waited@victim.example' },
    };
    const join = { type: 'UPDATE_CONTACT' as const, config: { updates: {}, subscribed: true } };
    await unsubscribe(joins.byChange.email);
    await unsubscribe(joins.byWait.email);
    const waiting = await buildWorkflow(service, {
      eventName: joins.byWait.eventName,
      steps: {
        wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'optin' }, to: { event: 'join' } },
        join,
      },
    });
    await trackAsTenant(joins.byWait.email, joins.byWait.eventName);
    await trackWithPublicKey(joins.byWait.email, 'optin');
    await waitForEnd(waiting);
    expect(await listSuppressions(joins.byWait.email)).toEqual(['unsubscribe']);
    const templateId = await createTestTemplate('Hi', '<p>Hi</p>');
    const chained = await buildWorkflow(service, {
      eventName: 'email.sent',
      steps: { join },
    });
    const first = await buildWorkflow(service, {
      eventName: 'first',
      steps: { mail: { type: 'SEND_EMAIL', config: { templateId } } },
    });
    await trackWithPublicKey(joins.byChange.email, 'first');
    await waitForEnd(first);
    await waitForEnd(chained);
    await service.call('PATCH', `/workflows/${chained.id}`, { body: { enabled: false } });
    expect(await listSuppressions(joins.byChange.email)).toEqual(['unsubscribe']);
  });
});

it('an untrusted event can add a contact to a segment, but subscribes no contact through the segment’s events', async () => {
  const email = 'member@victim.example';
  await unsubscribe(email);
  const byData = { field: 'data.tier', operator: 'equals', value: 'gold' };
  const byEvent = { field: 'event.raised', operator: 'triggered' };
  const workflows: BuiltWorkflow[] = [];
  const segments: string[] = [];
  for (const filter of [byData, byEvent]) {
    const body = {
      name: `By ${filter.field}`,
      trackMembership: true,
      filters: { operator: 'AND', conditions: [filter] },
    };
    const segment = await expectOk(service.call('POST', '/segments', { body }));
    segments.push(segment.id);
    workflows.push(
      await buildWorkflow(service, {
        eventName: `segment.${segment.slug}.entry`,
        steps: { join: { type: 'UPDATE_CONTACT', config: { updates: { joined: 'yes' }, subscribed: true } } },
      }),
    );
  }
  await trackWithPublicKey(email, 'raised', { tier: 'gold' });
  for (const id of segments) await expectOk(service.call('POST', `/segments/${id}/compute`));
  for (const workflow of workflows) await waitForEnd(workflow);
  expect(await listSuppressions(email)).toEqual(['unsubscribe']);
  const { subscribed, data, untrusted } = await readContact(email);
  expect({ subscribed, data, untrusted }).toEqual({
    subscribed: false,
    untrusted: ['tier'],
    data: { tier: 'gold', joined: 'yes' },
  });
});

const LURE =
  'Your account is locked.\r\nConfirm at https://evil.example/login or www.evil.example or evil.example/x now';

describe('untrusted text in emails', () => {
  it('is one line without links in emails of workflows, and is omitted from a subject if it looks like a link', async () => {
    const templateId = await createTestTemplate('{{data.name}}', '<p>Hello {{data.name}}, {{event.note}}</p>');
    const workflow = await buildWorkflow(service, {
      eventName: 'hello',
      steps: { mail: { type: 'SEND_EMAIL', config: { templateId } } },
    });
    await trackWithPublicKey('lured@victim.example', 'hello', {
      name: LURE,
      note: { value: `${LURE} ${'x'.repeat(300)}`, persistent: false },
    });
    await waitForEnd(workflow);
    const { subject, html, text } = await waitForEmailTo('lured@victim.example');
    expect(subject ?? '').toBe('');
    expect(`${html}${text}`).not.toMatch(/evil|https?:\/\/(?!127)/);
    expect(html).toContain('<p>Hello Your account is locked. Confirm at or or now, Your account');
    expect(html).not.toContain('x'.repeat(201));
  });

  it('has no links in campaigns, and the API returns the sent subject', async () => {
    await expectOk(
      service.call('POST', '/contacts', {
        body: { email: 'one@list.example', subscribed: true, data: { n: 1, kind: 'list' } },
      }),
    );
    await trackWithPublicKey('one@list.example', 'x', {
      firstName: LURE,
      nick: `Ada Lovelace, ${'very '.repeat(20)}known`,
    });
    const created = await expectOk(
      service.call('POST', '/campaigns', {
        body: createCampaignBody({
          from: 'news@shop.example.com',
          subject: 'News for {{firstName}}{{nick}}',
          body: '<p>Hello {{firstName}} {{ firstName | upcase }}</p>',
          audienceType: 'FILTERED',
          audienceFilter: {
            logic: 'AND',
            groups: [{ filters: [{ field: 'data.kind', operator: 'equals', value: 'list' }] }],
          },
        }),
      }),
    );
    await expectOk(service.call('POST', `/campaigns/${created.data.id}/send`, { body: {} }));
    const { subject, html, text } = await waitForEmailTo('one@list.example');
    expect(subject).toBe('News for Ada Lovelace, very very very very very…');
    expect(`${html}${text}`).not.toMatch(/evil/i);
    expect(html).toContain('Hello Your account is locked. Confirm at or or now YOUR ACCOUNT IS LOCKED.');
    const { emails } = await until(async () => {
      const { body } = await service.call('GET', `/v1/emails?campaignId=${created.data.id}`);
      return (body.data ?? body.emails)?.length > 0 && { emails: body.data ?? body.emails };
    }, 'the email in the history');
    expect(emails[0].subject).toBe(subject);
  });
});

describe('an untrusted value in an email of the tenant', () => {
  const from = 'a@shop.example.com';
  const subject = 'News for {{name}}';
  const body = '<p><a href="{{site}}">your site</a> {{data.about | raw}}</p>';
  const send = (to: string, more: object) => expectOk(service.call('POST', '/v1/send', { body: { to, ...more } }));

  /** Creates a contact with untrusted data, as a form with the public key does. */
  async function sendForm(email: string): Promise<string> {
    await trackWithPublicKey(email, 'form', { site: 'https://evil.example/phish', about: '<b>me</b>', name: LURE });
    return email;
  }

  async function expectTextOnly(to: string): Promise<void> {
    const { subject: read, html, text } = await waitForEmailTo(to);
    expect(html).toContain('<a href="#">your site</a> &lt;b&gt;me&lt;/b&gt;');
    expect(`${read}${html}${text}`).not.toMatch(/evil/);
  }

  /** Expects the tenant's own markup, and a tracked link to this address. */
  async function expectLink(html: string | undefined, address: string): Promise<void> {
    const [, href = ''] = /<a href="([^"]+)">your site<\/a> <i>us<\/i>/.exec(html ?? '') ?? [];
    const response = await fetch(service.baseUrl + new URL(href).pathname, { redirect: 'manual' });
    expect(response.headers.get('location')).toBe(address);
  }

  it('is plain text in POST /v1/send, in its record, and in a resend', async () => {
    const to = await sendForm('sent@victim.example');
    const { data } = await send(to, { from, subject, body });
    await expectTextOnly(to);
    const id = data.emails[0].email;
    const record = await until(async () => {
      const { body: found } = await service.call('GET', `/v1/emails/${id}`);
      return found.data.status === 'SENT' && found.data;
    }, 'the end of the email');
    expect(record.body).toContain('<a href="#">your site</a> &lt;b&gt;me&lt;/b&gt;');
    expect(`${record.subject}${record.body}${record.text}`).not.toMatch(/evil/);
    sink.reset();
    // The tenant overwrites the value later, but the earlier email still shows the untrusted value.
    await trackAsTenant(to, 'x', { site: 'https://shop.example/', about: 'us' });
    const again = await expectOk(service.call('POST', `/v1/emails/${id}/resend`));
    await expectTextOnly(to);
    const { data: repeated } = await expectOk(service.call('GET', `/v1/emails/${again.data.emails[0].email}`));
    expect(repeated.body).not.toMatch(/evil/);
  });

  it('is plain text in a template, also in a MARKETING template', async () => {
    for (const type of ['TRANSACTIONAL', 'MARKETING'] as const) {
      const to = await sendForm(`${type.toLowerCase()}@victim.example`);
      const templateId = await buildTemplate(service.db, { projectId: service.one.id, type, subject, body });
      await send(to, { template: templateId, subscribed: true });
      await expectTextOnly(to);
    }
  });

  it("is plain text for each recipient of a request, from the recipient's data", async () => {
    const first = await sendForm('first@victim.example');
    const second = 'second@victim.example';
    await trackAsTenant(second, 'x', { site: 'https://shop.example/', about: '<i>us</i>', name: 'Ada' });
    await expectOk(service.call('POST', '/v1/send', { body: { to: [first, second], from, subject, body } }));
    await expectTextOnly(first);
    const { html } = await waitForEmailTo(second);
    await expectLink(html, 'https://shop.example/');
  });

  it('is replaced by a value in the request, whether the value is stored or only for this email', async () => {
    const to = await sendForm('own@victim.example');
    const data = { site: { value: 'https://shop.example/', persistent: false }, about: '<i>us</i>', name: 'Ada' };
    await send(to, { from, subject, body, data });
    const email = await waitForEmailTo(to);
    expect(email.subject).toBe('News for Ada');
    await expectLink(email.html, 'https://shop.example/');
    expect((await readContact(to)).untrusted).toEqual(['site']);
  });
});
