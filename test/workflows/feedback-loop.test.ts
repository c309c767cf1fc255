import { createTransport } from 'nodemailer';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDeliveryNotice } from '../../cli/demo/notices.ts';
import { type DemoEmail, type LoopbackSmtpServer, startSmtpServer } from '../../cli/demo/smtp-server.ts';
import { findFreePort } from '../../cli/start/ports.ts';
import { buildDomain } from '../build/senders.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let receiver: LoopbackSmtpServer;
let service: TestService;
let inboundPort: number;

beforeAll(async () => {
  receiver = await startSmtpServer();
  inboundPort = await findFreePort();
  service = await startTestService({
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: `smtp://127.0.0.1:${receiver.port}`,
    INBOUND_SMTP_PORT: String(inboundPort),
    PORT: String(await findFreePort()), // The links in emails need the service's address, so the worker needs it too.
  });
  await buildDomain(service.db, { projectId: service.one.id });
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

/** Sends an email with the API. Returns the message that the mail server received. */
async function sendAndReceive(
  email: string,
): Promise<{ id: string; mail: DemoEmail; html: string; header(name: string): string }> {
  const body = {
    to: email,
    from: 'hello@shop.example.com',
    subject: 'News',
    body: '<p>Hello <a href="https://shop.example.com/sale">sale</a> <a href="{{unsubscribeUrl}}">leave</a></p>',
    subscribed: true,
  };
  const { data } = await expectOk(service.call('POST', '/v1/send', { body }));
  const id = data.emails[0].email;
  await until(async () => (await readStatus(id)) === 'SENT');
  const mail = receiver.emails.find(({ to }) => to === email);
  if (!mail) throw new Error('the email has not arrived');
  const parsed = await PostalMime.parse(mail.body);
  const header = (name: string) => parsed.headers.find(({ key }) => key === name)?.value ?? '';
  return { id, mail, html: parsed.html ?? '', header };
}

async function readEmail(id: string) {
  return (await expectOk(service.call('GET', `/v1/emails/${id}`))).data;
}

async function readStatus(id: string): Promise<string> {
  return (await readEmail(id)).status;
}

async function readContact(email: string) {
  const { found } = await expectOk(service.call('POST', '/contacts/lookup', { body: { emails: [email] } }));
  return found[0];
}

describe('feedback over real network connections', () => {
  it('is recorded from the links of an email: opens and clicks count, and one-click unsubscribes the contact', async () => {
    const email = 'reader@example.com';
    const { id, html, header } = await sendAndReceive(email);
    const pixel = /https?:[^"]+\/o\/[^"]+\.gif/.exec(html)?.[0] ?? '';
    const link = /https?:[^"]+\/c\/[^"]+/.exec(html)?.[0] ?? '';
    expect((await fetch(pixel)).headers.get('content-type')).toBe('image/gif');
    const click = await fetch(link, { redirect: 'manual' });
    expect([click.status, click.headers.get('location')]).toEqual([302, 'https://shop.example.com/sale']);
    await until(async () => (await readStatus(id)) === 'CLICKED');
    expect(await readEmail(id)).toMatchObject({ opens: 1, clicks: 1 });
    expect(header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    const url = /<(https?:[^>]+)>/.exec(header('list-unsubscribe'))?.[1] ?? '';
    expect((await fetch(url)).status).toBe(200);
    expect((await readContact(email)).subscribed).toBe(true);
    const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
    expect((await fetch(url, { method: 'POST', body })).status).toBe(200);
    expect((await readContact(email)).subscribed).toBe(false);
    const names = (await readEmail(id)).events.map((event: { name: string }) => event.name);
    expect(names).toEqual(['email.sent', 'email.open', 'email.click']);
  });

  it('a notification to the return path suppresses the address, and starts the automation that the event email.bounce triggers', async () => {
    const email = 'gone@example.com';
    const workflow = await buildWorkflow(service, {
      eventName: 'email.bounce',
      steps: { note: { type: 'UPDATE_CONTACT', config: { updates: { bounce: '{{event.bounceType}}' } } } },
    });
    const { id, mail } = await sendAndReceive(email);
    expect(mail.from).toMatch(/^bounce\+[0-9a-f]{52}@shop\.example\.com$/);
    const mx = createTransport({ host: '127.0.0.1', port: inboundPort, ignoreTLS: true });
    const diagnostic = '550 5.1.1 user unknown';
    const raw = buildDeliveryNotice({ to: email, action: 'failed', status: '5.1.1', diagnostic });
    await mx.sendMail({ envelope: { from: '', to: mail.from }, raw });
    expect(await readEmail(id)).toMatchObject({ status: 'BOUNCED', reason: 'bounced:dead_mailbox' });
    const contact = await readContact(email);
    expect(contact.subscribed).toBe(false);
    await until(async () => {
      const { data } = await expectOk(service.call('GET', `/workflows/${workflow.id}/executions`));
      return data[0]?.status === 'COMPLETED';
    });
    const { data } = await expectOk(service.call('GET', `/contacts/${contact.id}`));
    expect(data).toEqual({ bounce: 'Permanent' });
    const { data: entries } = await expectOk(service.call('GET', '/suppressions'));
    expect(entries[0]).toMatchObject({ email, reason: 'hard_bounce', source: 'dsn' });
  });
});
