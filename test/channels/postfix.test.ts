import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMailer } from '../../activities/emails/mailer.ts';
import { SmtpPool, type SmtpPoolOptions } from '../../channels/email/smtp/pool.ts';
import { createSmtpProvider } from '../../channels/email/smtp/provider.ts';
import { createCompute } from '../../compute/compute.ts';
import { countCampaignRecipients } from '../../db/campaigns/stats.ts';
import { createSuppressionPads } from '../../db/contacts/suppressions.ts';
import { claimEmails } from '../../db/sending/email-ledger.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { parseConfig } from '../../rules/config.ts';
import { classifyRefusal } from '../../rules/emails/refusal.ts';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { buildContact, buildEmail } from '../build/emails.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { expectOk } from '../build/workflows.ts';
import { buildProject } from '../support/api.ts';
import { buildSendingCampaign, type CampaignWorker, createCampaignWorker } from '../support/campaign-worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { checkAuthentication } from '../support/smtp/email-verdict.ts';
import {
  findPostfix,
  POSTFIX_SIZE_MAX,
  type Postfix,
  type PostfixListener,
  startPostfix,
} from '../support/smtp/postfix.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';

const files = await findPostfix();
const missing = typeof files === 'string' ? files : undefined;

/** Receives everything that Postfix forwards. */
let sink: SmtpSink;
let postfix: Postfix;
const cleanup: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  if (typeof files === 'string') return;
  sink = await startSmtpSink({ keepBodies: true });
  postfix = await startPostfix(files, { relayPort: sink.port });
  await postfix.setPassword('ann', 'secret');
});
afterAll(async () => {
  await postfix?.close();
  await sink?.close();
});
beforeEach(() => sink?.reset());
afterEach(async () => {
  for (const end of cleanup.splice(0).reverse()) await end();
});

function createUrl(p: { user?: string; host?: string; listener?: PostfixListener; options?: string } = {}): string {
  const { user = 'ann:secret', host = '127.0.0.1', listener = 'ANY', options = '' } = p;
  const scheme = listener === 'TLS' ? 'smtps' : 'smtp';
  return `${scheme}://${user === '' ? '' : `${user}@`}${host}:${postfix.ports[listener]}${options}`;
}

function createPool(options: SmtpPoolOptions): SmtpPool {
  const created = new SmtpPool({ connections: 2, ...options });
  cleanup.push(() => created.close(0));
  return created;
}

const createMessage = (to = 'ada@to.test', data = 'Subject: hello\r\n\r\n.Hello\r\n') => ({
  id: to,
  from: 'bounces@shop.example',
  to,
  data,
});

async function waitForEmails(count: number): Promise<string[]> {
  await until(async () => sink.messages.length >= count, `${count} emails from Postfix`);
  return sink.bodies;
}

/** Pattern of the line that Postfix adds to an email of a client that has signed in over TLS. */
const SIGNED_IN =
  /^Received: from [\s\S]*?\(using TLSv1\.[23] [\s\S]*?\(Authenticated sender: ann@postfix\.test\)\s+by mx\.postfix\.test \(Postfix\) with (UTF8SMTP|ESMTP)SA id (\w+)/;

describe.skipIf(missing)(`a real Postfix with STARTTLS and AUTH${missing ? ` (skipped: ${missing})` : ''}`, () => {
  describe('accepts', () => {
    const domain = 'shop.example';
    let dns: DnsServer;
    let service: TestService;

    beforeAll(async () => {
      service = await startTestService({
        EMAIL_PROVIDER: 'smtp',
        SMTP_URL: createUrl({ options: '?requireTLS=true&maxConnections=4' }),
        PUBLIC_URL: 'https://mail.example',
      });
      const { publicKey } = await buildDomain(service.db, { projectId: service.one.id, domain });
      dns = await startDnsServer({
        [domain]: { TXT: ['v=spf1 a:mx.postfix.test ~all'] },
        [`tidings._domainkey.${domain}`]: { TXT: [`v=DKIM1; k=rsa; p=${publicKey}`] },
        [`_dmarc.${domain}`]: { TXT: ['v=DMARC1; p=reject; adkim=s; aspf=s'] },
        'mx.postfix.test': { A: ['127.0.0.1'] },
      });
    });
    afterAll(async () => {
      await service?.close();
      await dns?.close();
    });

    /** Expects that an email forwarded by Postfix passes SPF, DKIM and DMARC. */
    async function expectAuthentic(at: number): Promise<void> {
      const raw = (sink.bodies[at] ?? '').replace(/(?<=\r\n)\.(?=\.)/g, '');
      expect(raw).toMatch(SIGNED_IN);
      const from = sink.messages[at]?.from ?? '';
      const { spf, dkim, dmarc } = await checkAuthentication(dns.address, {
        from,
        raw,
        ip: '127.0.0.1',
        helo: 'mx.postfix.test',
      });
      expect([spf.result, ...dkim.map(({ result }) => result), dmarc.result]).toEqual(['pass', 'pass', 'pass']);
      expect(dmarc.aligned).toEqual({ spf: domain, dkim: domain });
    }

    it('single emails of the service, which stores their Postfix queue ids', async () => {
      const { data } = await expectOk(
        service.call('POST', '/v1/send', {
          body: {
            to: { name: 'Zoë', email: 'zoe@to.test' },
            from: `hello@${domain}`,
            subject: 'Grüße',
            body: `<pre>\n.\n..two\nFrom here\n${'ä'.repeat(2_000)}</pre>`,
            attachments: [
              {
                filename: 'ä.eml',
                contentType: 'message/rfc822',
                content: Buffer.from('Subject: ä\r\n\r\n.ö\r\n').toString('base64'),
              },
            ],
          },
        }),
      );
      await waitForEmails(1);
      await expectAuthentic(0);
      const queueId = SIGNED_IN.exec(sink.bodies[0] ?? '')?.[2];
      const id = data.emails[0].email;
      const record = await until(async () => {
        const { body } = await service.call('GET', `/v1/emails/${id}`);
        return body.data.status === 'SENT' && body.data;
      }, 'SENT');
      expect(record.messageId).toBe(queueId);
    });

    it('a campaign of the service over few connections', async () => {
      await buildContacts(service.db, { projectId: service.one.id, count: 150 });
      const { data } = await expectOk(
        service.call('POST', '/campaigns', {
          body: createCampaignBody({ from: `news@${domain}`, subject: 'Grüße {{n}}' }),
        }),
      );
      await expectOk(service.call('POST', `/campaigns/${data.id}/send`, { body: {} }));
      await waitForEmails(150);
      expect([...sink.perRecipient().values()]).toEqual(Array(150).fill(1));
      for (const at of [0, 75, 149]) await expectAuthentic(at);
      await until(async () => (await service.call('GET', `/campaigns/${data.id}`)).body.status === 'SENT', 'SENT');
      // At most four connections for campaigns, four for single emails, and one that checked whether Postfix is
      // running.
      expect(postfix.log().match(/smtpd\[\d+\]: connect from/g)?.length).toBeLessThanOrEqual(9);
    });
  });

  describe('and the SMTP client', () => {
    it.each(['PLAIN', 'LOGIN', 'CRAM-MD5', 'TLS'] as const)('use the listener %s', async (listener) => {
      expect(await createPool({ url: createUrl({ listener }) }).send(createMessage())).toMatchObject({
        outcome: 'accepted',
      });
      const [raw] = await waitForEmails(1);
      expect(raw).toMatch(SIGNED_IN);
      // Postfix forwards the message by SMTP, so the sink gets the dot doubled.
      expect(raw).toMatch(/\r\n\r\n\.\.Hello\r\n$/);
      if (listener !== 'TLS') expect(postfix.log()).not.toContain(`SASL ${listener} authentication failed`);
    });

    it('use one connection for many pipelined messages', async () => {
      const client = createPool({ url: createUrl(), connections: 1 });
      const results = await Promise.all(
        Array.from({ length: 200 }, (_, i) => client.send(createMessage(`to${i}@to.test`))),
      );
      expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['accepted']));
      expect(client.counts).toMatchObject({ opened: 1, lost: 0 });
      await waitForEmails(200);
      expect(sink.perRecipient().size).toBe(200);
    });

    it('transfer email to a local part outside ASCII', async () => {
      expect(await createPool({ url: createUrl() }).send(createMessage('jörg@bücher.test'))).toMatchObject({
        outcome: 'accepted',
      });
      await waitForEmails(1);
      expect(Buffer.from(sink.messages[0]?.to ?? '', 'latin1').toString()).toBe('jörg@xn--bcher-kva.test');
    });

    it('transfer nothing if the certificate is not trusted or is for another host', async () => {
      const strict = { options: '?tls.rejectUnauthorized=true&requireTLS=true' };
      for (const options of [
        { url: createUrl({ ...strict, host: 'localhost' }) },
        { url: createUrl({ ...strict, host: 'localhost', listener: 'TLS' }) },
        { url: createUrl(strict), ca: postfix.certificate },
      ])
        expect(await createPool(options).send(createMessage())).toMatchObject({
          outcome: 'unsent',
          error: expect.stringMatching(/certificate/i),
        });
      expect(sink.messages).toEqual([]);
      const trusted = createPool({ url: createUrl({ ...strict, host: 'localhost' }), ca: postfix.certificate });
      expect(await trusted.send(createMessage())).toMatchObject({ outcome: 'accepted' });
    });

    it('treat a refusal without a login as caused by the sender, so no address is suppressed', async () => {
      const result = await createPool({ url: createUrl({ user: '' }) }).send(createMessage());
      expect(result).toMatchObject({ outcome: 'refused', stage: 'rcpt', code: 554, enhanced: '5.7.1' });
      if (result.outcome === 'refused')
        expect(classifyRefusal(result)).toMatchObject({ about: 'us', why: 'account', retry: true });
    });

    it('refuse an oversized message with that reason, and accept the next one', async () => {
      const client = createPool({ url: createUrl(), connections: 1 });
      const large = createMessage(
        'large@to.test',
        `Subject: x\r\n\r\n${'x'.repeat(78)}\r\n`.repeat(POSTFIX_SIZE_MAX / 80 + 1),
      );
      const [refused, taken] = await Promise.all([client.send(large), client.send(createMessage())]);
      expect(refused).toMatchObject({ outcome: 'refused', code: 552, enhanced: '5.3.4' });
      if (refused.outcome === 'refused') expect(classifyRefusal(refused)).toEqual({ about: 'message', retry: false });
      expect(taken).toMatchObject({ outcome: 'accepted' });
    });
  });

  describe('refuses a wrong password', () => {
    const DELIVERY = '0190a000-0000-7000-8000-00000000d001';
    const createWrongUrl = () => createUrl({ user: 'ann:wrong' });
    const words = '535 5.7.8 Error: authentication failed: authentication failure';
    let database: TestDatabase;
    let projectId: string;
    beforeAll(async () => {
      database = await createTestDatabase();
    });
    afterAll(() => database?.drop());
    beforeEach(async () => {
      projectId = (await buildProject(database.db, 'Mail')).id;
      await buildDomain(database.db, { projectId, domain: 'sender.test' });
    });

    /** Expects that no contact is unsubscribed or suppressed because of a refusal of our login. */
    async function expectNobodyBlamed(): Promise<void> {
      const counts = await sql<{ unsubscribed: number; suppressed: number; events: number }>`
        SELECT (SELECT count(*) FROM contacts WHERE project_id = ${projectId} AND NOT subscribed) AS unsubscribed,
          (SELECT count(*) FROM suppressions WHERE project_id = ${projectId}) AS suppressed,
          (SELECT count(*) FROM events WHERE project_id = ${projectId}) AS events`.execute(database.db);
      expect(counts.rows).toEqual([{ unsubscribed: 0, suppressed: 0, events: 0 }]);
      expect(sink.messages).toEqual([]);
    }

    it('and a single email waits for the right password, with the text of the refusal', async () => {
      const { db } = database;
      const contactId = await buildContact(db, { projectId, email: 'ada@to.test' });
      const id = await buildEmail(db, { projectId, contactId, to: 'ada@to.test', from: 'a@sender.test' });
      const pads = createSuppressionPads(deriveKey(TEST_SECRET_KEY, 'suppression'));
      const attempt = async (url: string) => {
        const provider = createSmtpProvider({ url });
        cleanup.push(() => provider.close());
        const config = parseConfig({
          DATABASE_URL: database.url,
          TEMPORAL_ADDRESS: 'none:1',
          SECRET_KEY: TEST_SECRET_KEY,
          EMAIL_PROVIDER: 'smtp',
          SMTP_URL: url,
          PUBLIC_URL: 'https://mail.example',
        });
        const mailer = createMailer({
          compute: createCompute({ cpuMsPerSecond: 0 }),
          config,
          db,
          provider,
          outbox: { wake: () => {} },
          endLog: () => {},
          log: { warn: () => {} },
        });
        const emails = [{ id, deliveryId: DELIVERY }];
        const [email] = await claimEmails(db, { projectId, emails, suppressionPads: pads });
        if (!email) throw new Error('not claimed');
        await mailer.deliver(email);
        return db.selectFrom('emails').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
      };

      expect(await attempt(createWrongUrl())).toMatchObject({
        status: 'SENDING',
        error: words,
        reason: null,
        bounce_type: null,
      });
      await expectNobodyBlamed();
      expect(await attempt(createUrl())).toMatchObject({ status: 'SENT', attempts: 2 });
      expect((await waitForEmails(1))[0]).toMatch(SIGNED_IN);
    });

    it('and a whole campaign waits for the right password', async () => {
      const { db } = database;
      const workers = [createWrongUrl(), createUrl()].map((smtpUrl) => createCampaignWorker({ db, smtpUrl }));
      cleanup.push(() => Promise.all(workers.map((worker) => worker.close())));
      const [before, after] = workers as [CampaignWorker, CampaignWorker];
      const start = await buildSendingCampaign(db, { projectId, count: 60, worker: before });
      const readCounts = () => countCampaignRecipients(db, { projectId, id: start.campaignId });

      expect(await before.send(start)).toMatchObject({ outcome: 'deferred', sent: 0 });
      expect(await readCounts()).toMatchObject({ pending: 60, failed: 0, bounced: 0, skipped: 0 });
      const { rows } = await sql`
        SELECT DISTINCT error FROM emails WHERE project_id = ${projectId} AND error IS NOT NULL`.execute(db);
      expect(rows).toEqual([{ error: words }]);
      await expectNobodyBlamed();
      expect(await after.send(start)).toMatchObject({ outcome: 'done', sent: 60 });
      await waitForEmails(60);
      expect(sink.perRecipient().size).toBe(60);
    });
  });
});
