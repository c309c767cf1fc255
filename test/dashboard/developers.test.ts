import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildDomain } from '../build/senders.ts';
import {
  chooseMenuAction,
  chooseOption,
  describeInBrowser,
  expectNoSeriousAxeViolations,
  holdRequests,
  openDashboard,
} from '../support/browser/browser.ts';
import { callHttp } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

describeInBrowser('screens for developers', () => {
  let service: TestService;
  let receiver: WebhookReceiver;
  let endpointStatus = 500;

  beforeAll(async () => {
    receiver = await startWebhookReceiver((_, response) => response.writeHead(endpointStatus).end('no <b>room</b>'));
    service = await startTestService();
    await buildDomain(service.db, { projectId: service.one.id, signing: false });
  });
  afterAll(async () => {
    await service?.close();
    await receiver?.close();
  });

  it('show the send command of a new key only when the sending domain is loaded', async () => {
    const { page } = await openDashboard({ service, path: '/developers' });
    const release = await holdRequests(page, '**/domains/project/*');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByLabel('Name').fill('Till');
    const domainsRequest = page.waitForRequest('**/domains/project/*');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await domainsRequest;
    await dialog.getByRole('button', { name: 'Done' }).waitFor();
    expect(await dialog.getByText('curl').count()).toBe(0);
    release();
    await dialog.getByText('hello@shop.example.com').waitFor();
  });

  it('create a key that is shown once, and link its request to the email that it sent', async () => {
    const { page, settled } = await openDashboard({ service, path: '/developers' });
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Shop');
    await expectNoSeriousAxeViolations(page, { inside: '[role=dialog]' });
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const key = (await dialog.locator('pre').first().textContent()) ?? '';
    expect(key).toMatch(/^sk_live_/);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('row', { name: /Shop/ }).waitFor();
    expect(await page.content()).not.toContain(key);

    const body = { to: 'ada@example.com', subject: 'Hello', body: '<p>Hi</p>', from: 'shop@shop.example.com' };
    const headers = { 'x-request-id': 'order-17' };
    expect((await callHttp(service.baseUrl, 'POST', '/v1/send', { key, body, headers })).status).toBe(200);
    await chooseMenuAction(page.getByRole('row', { name: /Shop/ }), 'View requests');
    await page.getByRole('link', { name: 'POST /v1/send' }).click();
    await page.getByRole('heading', { name: 'POST /v1/send' }).waitFor();
    await settled();
    expect(await page.getByText('order-17').count()).toBe(1);
    const email = page.getByRole('link', { name: 'ada@example.com' });
    expect(await email.getAttribute('href')).toMatch(/^\/app\/messages\/[\da-f-]{36}$/);
    await email.click();
    await page.getByRole('heading', { level: 1, name: 'Hello' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'POST /v1/send' }).click();
    await page.getByText('order-17').waitFor();

    await page.getByRole('main').getByRole('link', { name: 'Request log' }).click();
    await page.getByRole('link', { name: 'API keys' }).click();
    const row = page.getByRole('row', { name: /Shop/ });
    await chooseMenuAction(row, 'Revoke key');
    await page.getByLabel(/to confirm/).fill(key.slice(0, 14));
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click();
    await row.getByText('revoked').waitFor();
    expect((await callHttp(service.baseUrl, 'POST', '/v1/send', { key, body })).status).toBe(401);
  });

  it('mark one link of the sidebar as the current one, also on pages below it', async () => {
    const { page, open } = await openDashboard({ service });
    for (const [path, name] of [
      ['/developers', 'API keys'],
      ['/developers/webhooks', 'Webhooks'],
      ['/developers/events?span=30', 'Events'],
      ['/developers/events/signup', 'Events'],
      ['/settings/domains', 'Domains'],
      ['/settings/team', 'Settings'],
      ['/messages/sms', 'SMS'],
    ] as const) {
      await open(path);
      const current = page.getByRole('navigation', { name: 'Menu' }).locator('a[aria-current]');
      expect(await current.allTextContents(), path).toEqual([name]);
    }
  });

  it('register an endpoint, show its deliveries with the responses, and repeat one delivery', async () => {
    const { page, settled } = await openDashboard({ service, path: '/developers/webhooks' });
    await page.getByRole('button', { name: 'Create endpoint' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(`${receiver.url}/in`);
    await dialog.getByRole('button', { name: 'Create endpoint' }).click();
    const secret = (await dialog.locator('pre').textContent()) ?? '';
    expect(secret).toMatch(/^whsec_/);
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole('link', { name: `${receiver.url}/in` }).click();
    await settled();

    await service.call('POST', '/v1/track', {
      body: { email: 'ada@example.com', event: 'bought', data: { total: 9 } },
    });
    const delivery = page.getByRole('button', { name: 'Show the delivery of bought' });
    await delivery.waitFor();
    await page.getByText('HTTP 500').first().waitFor();
    await delivery.click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('"total": 9').waitFor();
    await drawer.getByText('no <b>room</b>').waitFor();
    await expectNoSeriousAxeViolations(page, { inside: '[role=dialog]' });
    endpointStatus = 200;
    await drawer.getByRole('button', { name: 'Replay' }).click();
    await drawer.getByText('DELIVERED').waitFor();
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(ids.length).toBeGreaterThanOrEqual(2);
    expect(new Set(ids).size).toBe(1);
  });

  it('record a test event and show its result', async () => {
    const { page, settled } = await openDashboard({ service, path: '/developers/events' });
    await page.getByRole('button', { name: 'Send test event' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Event', exact: true }).fill('tried.out');
    await dialog.getByText('No event with this name yet').waitFor();
    await dialog.getByRole('button', { name: 'Add field' }).click();
    await dialog.getByLabel('Name of field 1').fill('seats');
    await chooseOption(page, 'Type of field 1', 'Number');
    await dialog.getByRole('textbox', { name: 'Value of field 1' }).fill('four');
    await dialog.getByText('Enter a number.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Record event' }).isDisabled()).toBe(true);
    await dialog.getByRole('textbox', { name: 'Value of field 1' }).fill('4');
    await dialog.getByRole('button', { name: 'Add field' }).click();
    await dialog.getByLabel('Name of field 2').fill('tags');
    await chooseOption(page, 'Type of field 2', 'List');
    await dialog.getByRole('textbox', { name: 'Value of field 2' }).fill('pro');
    await page.keyboard.press('Enter');
    await dialog.getByRole('textbox', { name: 'Value of field 2' }).fill('a,b');
    await page.keyboard.press('Tab');
    await expectNoSeriousAxeViolations(page, { inside: '[role=dialog]' });
    await dialog.getByRole('button', { name: 'Record event' }).click();
    await page.getByRole('link', { name: 'tried.out' }).first().click();
    await page.getByText('"seats": 4').first().waitFor();
    await settled();
    const [event] = (await service.call('GET', '/v1/events?eventName=tried.out')).body.data;
    expect(event.data).toEqual({ seats: 4, tags: ['pro', 'a,b'] });
    expect(await page.getByText('Not used anywhere.').count()).toBe(1);
  });

  it('keep request filters in the address, show the same request as curl and TypeScript, and have a hint when empty', async () => {
    await service.call('GET', '/contacts/00000000-0000-7000-8000-000000000000', {
      headers: { 'x-request-id': 'lost' },
    });
    await until(async () => (await service.call('GET', '/requests/lost')).status === 200, 'the entry');
    const { page, settled } = await openDashboard({ service, path: '/developers/requests?status=4xx' });
    await page.getByRole('link', { name: 'GET /contacts/{id}' }).waitFor();
    expect(await page.getByRole('link', { name: 'POST /v1/send' }).count()).toBeLessThanOrEqual(1);
    await page.getByRole('button', { name: 'API example' }).click();
    await page.getByText('/v1/requests?status=4xx').waitFor();
    await page.getByText('TypeScript').click();
    await page.getByText("tidings.call('listRequests', { query: { status: '4xx' } })").waitFor();
    await page.keyboard.press('Escape');
    await page.getByPlaceholder('Request ID').fill('nothing like it');
    await page.keyboard.press('Enter');
    await page.getByText('No requests found.').waitFor();
    expect(new URL(page.url()).searchParams.get('requestId')).toBe('nothing like it');
    await page.getByRole('link', { name: 'Show all requests' }).click();
    await settled();
    expect(new URL(page.url()).search).toBe('');
    await page.getByRole('link', { name: 'GET /contacts/{id}' }).click();
    await page.getByText('The request failed with NOT_FOUND.').waitFor();
    await expectNoSeriousAxeViolations(page);
  });

  it('explain to a member why they see no keys', async () => {
    const { page } = await openDashboard({ service, as: 'MEMBER', path: '/developers' });
    await page.getByText('Your role can’t view API keys').waitFor();
    expect(await page.getByRole('button', { name: 'Create key' }).getAttribute('aria-disabled')).toBe('true');
    await expectNoSeriousAxeViolations(page);
  });
});
