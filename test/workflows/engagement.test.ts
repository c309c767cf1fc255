import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLinkTokens } from '../../rules/content/link-tokens.ts';
import { buildDomain, buildTemplate, TEST_SECRET_KEY } from '../build/senders.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await buildDomain(service.db, { projectId: service.one.id });
});
afterAll(() => service.close());

describe('an automation that waits for an open or click', () => {
  it.each(['email.open', 'email.click'])(
    'continues at the first %s, which arrives through the real pixel or link',
    async (waitedFor) => {
      const templateId = await buildTemplate(service.db, {
        projectId: service.one.id,
        body: '<p><a href="https://shop.example.com/sale">sale</a></p>',
      });
      const eventName = `signup-${waitedFor}`;
      const workflow = await buildWorkflow(service, {
        eventName,
        steps: {
          mail: { type: 'SEND_EMAIL', config: { templateId }, to: 'wait' },
          wait: { type: 'WAIT_FOR_EVENT', config: { eventName: waitedFor, timeout: 3600 }, to: { event: 'end' } },
          end: { type: 'EXIT', config: { reason: 'read it' } },
        },
      });
      const email = `${waitedFor}@example.com`;
      await expectOk(service.call('POST', '/v1/track', { body: { email, event: eventName } }));
      const readExecution = async () => {
        const { data } = await expectOk(service.call('GET', `/workflows/${workflow.id}/executions`));
        return data[0];
      };
      await until(async () => (await readExecution())?.status === 'WAITING');
      const mail = await service.db
        .selectFrom('emails')
        .select('id')
        .where('to_email', '=', email)
        .executeTakeFirstOrThrow();
      const { track } = createLinkTokens(TEST_SECRET_KEY, mail.id);
      const path = waitedFor === 'email.open' ? `/o/${track}.gif` : `/c/${track}/0`;
      const scanner = { 'user-agent': 'Mimecast' };
      await fetch(service.baseUrl + path, { headers: scanner, redirect: 'manual' });
      const response = await fetch(service.baseUrl + path, { redirect: 'manual' });
      expect(response.status).toBe(waitedFor === 'email.open' ? 200 : 302);
      await until(
        async () => (await readExecution())?.status === 'COMPLETED' || (await readExecution())?.status === 'EXITED',
      );
      expect((await readExecution()).exitReason).toBe('read it');
    },
  );
});

describe('a link in an email whose address is a variable', () => {
  const body = '<p><a href="{{url}}">go</a></p>';
  const send = async (to: string, data: object) => {
    const email = { to, from: 'a@shop.example.com', subject: 'x', body, ...data };
    const response = await expectOk(service.call('POST', '/v1/send', { body: email }));
    return response.data.emails[0].email as string;
  };
  const clickLink = (emailId: string) =>
    fetch(`${service.baseUrl}/c/${createLinkTokens(TEST_SECRET_KEY, emailId).track}/0`, { redirect: 'manual' });

  it.each([
    ['the data of the request', { url: 'https://shop.example.com/order?id=1&x=2' }, {}],
    ['the data of the contact', {}, { url: 'https://shop.example.com/order?id=1&x=2' }],
  ])('is tracked and redirects if its value is from %s with a secret key', async (_, data, stored) => {
    const to = `variable-${Object.keys(data).length}@example.com`;
    await expectOk(service.call('POST', '/v1/contacts', { body: { email: to, data: stored } }));
    const id = await send(to, { data });
    await until(async () => (await service.call('GET', `/v1/emails/${id}`)).body.data?.status === 'SENT');
    const response = await clickLink(id);
    expect([response.status, response.headers.get('location')]).toEqual([
      302,
      'https://shop.example.com/order?id=1&x=2',
    ]);
    await until(async () => (await service.call('GET', `/v1/emails/${id}`)).body.data?.clicks === 1);
  });

  it('does not redirect if its value is from a request with the public key', async () => {
    const to = 'variable-public@example.com';
    const tracking = { email: to, event: 'form', data: { url: 'https://evil.example/' } };
    await expectOk(service.call('POST', '/v1/track', { key: service.one.publicKey, body: tracking }));
    const response = await clickLink(await send(to, {}));
    expect(response.headers.get('location')).toBeNull();
    expect(response.status).toBe(404);
  });
});
