import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngagementBatcher } from '../../../api/accept/engagement-batcher.ts';
import type { KeyMode } from '../../../rules/access/api-keys.ts';
import { createLinkTokens } from '../../../rules/content/link-tokens.ts';
import type { EmailStatus } from '../../../rules/emails/email-status.ts';
import { buildContact, buildEmail } from '../../build/emails.ts';
import { TEST_SECRET_KEY } from '../../build/senders.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { until } from '../../support/until.ts';

const BROWSER = {
  'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/131.0.0.0 Safari/537.36',
};
const SCANNER = { 'user-agent': 'BarracudaCentral/1.0' };
const BODY =
  '<p>Hello {{name}} <a href="https://shop.example.com/sale?for={{ name }}">sale</a> <a href="https://shop.example.com/plain?a=1&amp;b=2">plain</a></p>';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

/** Builds an email that was sent a while ago. Returns the addresses of its pixel and links. */
async function buildSentEmail(
  p: { status?: EmailStatus; mode?: KeyMode; secondsAgo?: number; body?: string; at?: TestApi } = {},
) {
  const { db, one } = p.at ?? api;
  const contactId = await buildContact(db, { projectId: one.id, data: { name: 'Ada & Co' } });
  const id = await buildEmail(db, {
    projectId: one.id,
    contactId,
    body: p.body ?? BODY,
    status: p.status ?? 'SENT',
    mode: p.mode ?? 'live',
    variables: {},
  });
  const sentAt = new Date(Date.now() - (p.secondsAgo ?? 3600) * 1000);
  await db.updateTable('emails').set({ sent_at: sentAt }).where('id', '=', id).execute();
  const { track, manage } = createLinkTokens(TEST_SECRET_KEY, id);
  return { id, contactId, manage, track, pixel: `/o/${track}.gif`, link: (n: number) => `/c/${track}/${n}` };
}

async function readEmail(id: string, at = api) {
  return at.db.selectFrom('emails').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}

async function listEvents(id: string) {
  return api.db.selectFrom('events').selectAll().where('email_id', '=', id).orderBy('id').execute();
}

const get = (path: string, headers: Record<string, string> = BROWSER, at = api) =>
  at.call('GET', path, { key: null, headers });
const waitForCount = (
  id: string,
  column: 'opens' | 'clicks' | 'machine_opens' | 'machine_clicks',
  n: number,
  at = api,
) => until(async () => (await readEmail(id, at))[column] === n);

describe('opens of tracked email', () => {
  it('are counted by a transparent GIF of 43 bytes that is never cached', async () => {
    const { pixel } = await buildSentEmail();
    const response = await api.app.request(pixel, { headers: BROWSER });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('image/gif');
    expect(response.headers.get('cache-control')).toContain('no-store');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes).toHaveLength(43);
    expect(bytes.subarray(0, 6).toString()).toBe('GIF89a');
  });

  it('are all counted, and the first is recorded as an event with the documented payload', async () => {
    const email = await buildSentEmail();
    await get(email.pixel);
    await waitForCount(email.id, 'opens', 1);
    await Promise.all([get(email.pixel), get(email.pixel)]);
    await waitForCount(email.id, 'opens', 3);
    const { status, opened_at, sent_at } = await readEmail(email.id);
    expect(status).toBe('OPENED');
    const events = await listEvents(email.id);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ name: 'email.open', contact_id: email.contactId });
    expect(events[0]?.data).toEqual({
      subject: 'Hello Ada & Co',
      from: 'hello@shop.example.com',
      fromName: 'Shop',
      messageId: `<${email.id}@shop.example.com>`,
      emailId: email.id,
      templateId: null,
      campaignId: null,
      sourceType: 'TRANSACTIONAL',
      openedAt: opened_at?.toISOString(),
      opens: 1,
      isFirstOpen: true,
    });
    expect(opened_at?.getTime()).toBeGreaterThan(sent_at?.getTime() ?? 0);
  });

  it('record one event if a hundred of them arrive concurrently', async () => {
    const email = await buildSentEmail();
    await Promise.all(Array.from({ length: 100 }, () => get(email.pixel)));
    await waitForCount(email.id, 'opens', 100);
    expect(await listEvents(email.id)).toHaveLength(1);
  });

  it.each(['BOUNCED', 'COMPLAINED', 'FAILED', 'CLICKED'] as const)(
    'opens of an email that is %s count, and do not change its status',
    async (status) => {
      const email = await buildSentEmail({ status });
      await get(email.pixel);
      await waitForCount(email.id, 'opens', 1);
      expect((await readEmail(email.id)).status).toBe(status);
    },
  );

  it('opens of an email that is still being sent are recorded after the email is SENT', async () => {
    const email = await buildSentEmail({ status: 'SENDING' });
    await get(email.pixel);
    const other = await buildSentEmail();
    await get(other.pixel);
    await waitForCount(other.id, 'opens', 1);
    expect(await readEmail(email.id)).toMatchObject({ opens: 0, status: 'SENDING' });
    await api.db.updateTable('emails').set({ status: 'SENT' }).where('id', '=', email.id).execute();
    await waitForCount(email.id, 'opens', 1);
    expect((await readEmail(email.id)).status).toBe('OPENED');
  });

  it('do not change the status SENT of a test email', async () => {
    const email = await buildSentEmail({ mode: 'test' });
    await get(email.pixel);
    await waitForCount(email.id, 'opens', 1);
    expect((await readEmail(email.id)).status).toBe('SENT');
  });
});

describe('clicks in tracked email', () => {
  it('redirect to the link of the content, with the variables of this email', async () => {
    const email = await buildSentEmail();
    const first = await get(email.link(0));
    expect(first.status).toBe(302);
    expect(first.headers.get('location')).toBe('https://shop.example.com/sale?for=Ada%20&%20Co');
    expect(first.headers.get('cache-control')).toContain('no-store');
    const second = await get(email.link(1));
    expect(second.headers.get('location')).toBe('https://shop.example.com/plain?a=1&b=2');
    await waitForCount(email.id, 'clicks', 2);
    const { status, opens, opened_at, clicked_at } = await readEmail(email.id);
    expect({ status, opens, opened_at }).toEqual({ status: 'CLICKED', opens: 0, opened_at: null });
    const events = await listEvents(email.id);
    expect(events.map((event) => event.name)).toEqual(['email.click']);
    expect(events[0]?.data).toMatchObject({
      emailId: email.id,
      subject: 'Hello Ada & Co',
      link: 'https://shop.example.com/sale?for=Ada%20&%20Co',
      clickedAt: clicked_at?.toISOString(),
      clicks: 1,
      isFirstClick: true,
    });
  });

  it('redirect to the link of their own email if many are concurrent', async () => {
    const body = '<a href="https://shop.example.com/me?id={{id}}">me</a>';
    const emails = await Promise.all(Array.from({ length: 150 }, () => buildSentEmail({ body })));
    const unknown = createLinkTokens(TEST_SECRET_KEY, emails[0]?.contactId ?? '').track;
    const [missing, ...responses] = await Promise.all([
      get(`/c/${unknown}/0`),
      ...emails.map((email) => get(email.link(0))),
    ]);
    expect(missing.status).toBe(404);
    expect(responses.map(({ headers }) => headers.get('location'))).toEqual(
      emails.map(({ contactId }) => `https://shop.example.com/me?id=${contactId}`),
    );
    await Promise.all(emails.map((email) => waitForCount(email.id, 'clicks', 1)));
  });

  it('make the email CLICKED, and a later open does not change that', async () => {
    const email = await buildSentEmail({ status: 'DELIVERED' });
    await get(email.link(1));
    await waitForCount(email.id, 'clicks', 1);
    await get(email.pixel);
    await waitForCount(email.id, 'opens', 1);
    expect((await readEmail(email.id)).status).toBe('CLICKED');
    expect((await listEvents(email.id)).map((event) => event.name)).toEqual(['email.click', 'email.open']);
  });

  it('redirect also for a deleted contact if the content has no personal data', async () => {
    const email = await buildSentEmail({ body: `${BODY} from a template` });
    const { content_id: contentId } = await readEmail(email.id);
    await api.db.updateTable('contents').set({ template_id: contentId }).where('id', '=', contentId).execute();
    expect((await api.call('DELETE', `/contacts/${email.contactId}`)).status).toBe(204);
    const { status, headers } = await get(email.link(0));
    expect([status, headers.get('location')]).toEqual([302, 'https://shop.example.com/sale?for=']);
  });

  it('redirect to a link without untrusted data', async () => {
    const email = await buildSentEmail();
    await api.db
      .updateTable('contacts')
      .set({ untrusted_keys: ['name'] })
      .where('id', '=', email.contactId)
      .execute();
    expect((await get(email.link(0))).headers.get('location')).toBe('https://shop.example.com/sale?for=');
  });
});

it.each(['.', ')', '/', '%22'])(
  'a click redirects also if the email program appended %s to the link',
  async (behind) => {
    const email = await buildSentEmail();
    expect((await get(`/c/${email.track}/0${behind}`)).status).toBe(302);
  },
);

describe('tracked links that someone changed to lead to other sites', () => {
  it('show a small page, redirect nowhere and change nothing', async () => {
    const email = await buildSentEmail();
    const forged = `${email.track.slice(0, 30)}${email.track[30] === 'A' ? 'B' : 'A'}${email.track.slice(31)}`;
    const paths = [
      `/o/${forged}.gif`,
      `/o/${email.manage}.gif`,
      '/o/x.gif',
      `/c/${forged}/0`,
      `/c/${email.manage}/0`,
      `/c/${email.track}/2`,
      `/c/${email.track}/-1`,
      `/c/${email.track}/0x0`,
      `/c/${email.track}/https%3A%2F%2Fevil.example`,
      `/c/${createLinkTokens('another secret key of somebody', email.id).track}/0`,
    ];
    for (const path of paths) {
      const { status, headers, body } = await get(path);
      expect([path, status]).toEqual([path, 404]);
      expect(headers.get('location')).toBeNull();
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(body).toContain('This link does not work');
    }
    await get(email.pixel);
    await waitForCount(email.id, 'opens', 1);
    expect(await readEmail(email.id)).toMatchObject({ clicks: 0, machine_opens: 0, machine_clicks: 0 });
  });
});

describe('opens and clicks by bots', () => {
  it('are counted separately, and change no status', async () => {
    const email = await buildSentEmail();
    await get(email.pixel, SCANNER);
    await get(email.link(0), SCANNER);
    const head = await api.call('HEAD', email.link(1), { key: null, headers: BROWSER });
    expect([head.status, head.body]).toEqual([302, '']);
    expect((await api.call('HEAD', email.pixel, { key: null, headers: BROWSER })).status).toBe(200);
    await waitForCount(email.id, 'machine_clicks', 2);
    await waitForCount(email.id, 'machine_opens', 2);
    expect(await readEmail(email.id)).toMatchObject({
      status: 'SENT',
      opens: 0,
      clicks: 0,
      opened_at: null,
      clicked_at: null,
    });
    expect(await listEvents(email.id)).toEqual([]);
  });

  it('are recognized on a public address by their speed and by the name of the program', async () => {
    const strict = await startTestApi({ PUBLIC_URL: 'https://mail.example.com' });
    const at = strict;
    try {
      const email = await buildSentEmail({ secondsAgo: 0, at });
      await get(email.link(0), BROWSER, at);
      await get(email.pixel, { 'user-agent': 'python-requests/2.32' }, at);
      await waitForCount(email.id, 'machine_clicks', 1, at);
      await waitForCount(email.id, 'machine_opens', 1, at);
      const read = await buildSentEmail({ secondsAgo: 60, at });
      await get(read.link(0), BROWSER, at);
      await waitForCount(read.id, 'clicks', 1, at);
    } finally {
      await strict.close();
    }
  });
});

describe('storing opens and clicks', () => {
  it('counts all concurrent opens and clicks of an email in three processes, and records one event of each', async () => {
    const emails = await Promise.all(Array.from({ length: 20 }, () => buildSentEmail()));
    const { db, outbox, log } = api.deps;
    const processes = [1, 2, 3].map(() => new EngagementBatcher({ db, outbox, log, lenient: true }));
    for (const { id } of [...emails, ...emails.toReversed()]) {
      for (const batcher of processes) {
        batcher.add({ emailId: id, kind: 'open', at: new Date(), machine: false });
        batcher.add({ emailId: id, kind: 'click', at: new Date(), machine: false, link: 'https://shop.example.com/' });
      }
    }
    await Promise.all(processes.map((batcher) => batcher.close()));
    for (const { id } of emails) {
      expect(await readEmail(id)).toMatchObject({ opens: 6, clicks: 6, status: 'CLICKED' });
      expect((await listEvents(id)).map((event) => event.name).sort()).toEqual(['email.click', 'email.open']);
    }
  });

  it('loses nothing when the process is stopped', async () => {
    const own = await startTestApi();
    try {
      const emails = await Promise.all(Array.from({ length: 20 }, () => buildSentEmail({ at: own })));
      await Promise.all(emails.flatMap((email) => [get(email.pixel, BROWSER, own), get(email.link(1), BROWSER, own)]));
      await own.deps.engagements.close();
      for (const email of emails)
        expect(await readEmail(email.id, own)).toMatchObject({ opens: 1, clicks: 1, status: 'CLICKED' });
    } finally {
      await own.close();
    }
  });
});
