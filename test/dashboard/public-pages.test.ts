import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLinkTokens } from '../../rules/content/link-tokens.ts';
import { buildContact, buildEmail } from '../build/emails.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import {
  COLOR_RULES,
  describeInBrowser,
  expectNoSeriousAxeViolations,
  expectNoSidewaysScroll,
  openWindow,
  VIEWPORTS,
} from '../support/browser/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** One word that is too long for every screen. */
const LONG = 'Donaudampfschifffahrtsgesellschaft'.repeat(3).slice(0, 90);

describeInBrowser('pages outside the dashboard', () => {
  let service: TestService;
  /** The token in the links of one marketing email. */
  let token: string;
  let captured: string;

  beforeAll(async () => {
    service = await startTestService();
    const { db, one } = service;
    await buildDomain(db, { projectId: one.id });
    await service.call('POST', '/topics', { body: { name: LONG, description: LONG } });
    const contactId = await buildContact(db, { projectId: one.id, email: 'ada@example.com', subscribed: true });
    const to = 'ada@example.com';
    const emailId = await buildEmail(db, { projectId: one.id, contactId, to, type: 'MARKETING', status: 'SENT' });
    token = createLinkTokens(TEST_SECRET_KEY, emailId).manage;
    const body = { to, from: 'hello@shop.example.com', subject: LONG, body: `<p>${LONG}</p>` };
    await service.call('POST', '/v1/send', { body });
    const listMailbox = async () => (await service.call('GET', '/mailbox.json', { key: null })).body.data;
    await until(async () => (await listMailbox()).length > 0, 'the captured email');
    captured = (await listMailbox())[0].id;
  });
  afterAll(() => service?.close());

  it.each([
    ['the mailbox', () => '/mailbox'],
    ['the mailbox of SMS', () => '/mailbox/sms'],
    ['an email in the mailbox', () => `/mailbox/${captured}`],
    ['the API reference', () => '/docs'],
    ['the page to unsubscribe', () => `/u/${token}`],
    ['the email preferences', () => `/m/${token}`],
    ['the page to subscribe', () => `/s/${token}`],
    ['the page of an invalid link', () => '/u/none'],
  ])('%s is readable in light and dark mode, on a laptop and a phone', async (_, path) => {
    const { page } = await openWindow();
    await page.goto(service.baseUrl + path());
    if (path() === '/docs') await page.getByRole('button', { name: 'Expand operation' }).first().waitFor();
    await expectNoSeriousAxeViolations(page);
    await expectNoSidewaysScroll(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectNoSeriousAxeViolations(page, { rules: COLOR_RULES });
    await page.setViewportSize(VIEWPORTS.phone);
    await expectNoSeriousAxeViolations(page);
    await expectNoSidewaysScroll(page);
  });

  it.each(['desktop', 'phone'] as const)(
    'an operation of the API reference is readable when it is open, tried out and sent, on a %s',
    async (viewport) => {
      const { page } = await openWindow({ viewport });
      const check = async () => {
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          await expectNoSeriousAxeViolations(page, { isStrict: true });
        }
        await expectNoSidewaysScroll(page);
      };
      await page.goto(`${service.baseUrl}/docs#/Email`);
      await page.getByText('API v1', { exact: true }).waitFor();
      const operation = page.locator('.opblock', { has: page.locator('[data-path="/v1/send"]') });
      await operation.locator('.opblock-summary-control').click();
      await operation.getByRole('button', { name: 'Try it out' }).waitFor();
      await check();
      const schema = operation.getByRole('tab', { name: 'Schema' }).first();
      await schema.click();
      await operation.getByRole('button', { name: 'Expand all' }).first().click();
      await operation.getByText('attachments', { exact: true }).first().waitFor();
      await check();
      await operation.getByRole('tab', { name: 'Example Value' }).first().click();
      await operation.getByRole('button', { name: 'Try it out' }).click();
      const body = operation.getByRole('textbox', { name: 'Request body' });
      expect((await body.boundingBox())?.height).toBeGreaterThan(150);
      await operation.getByRole('button', { name: 'Execute' }).click();
      await operation.getByText('UNAUTHORIZED').first().waitFor();
      await check();
      await page.getByRole('button', { name: 'Authorize' }).first().click();
      await page.getByRole('heading', { name: 'Available authorizations' }).waitFor();
      await check();
      await page.getByRole('button', { name: 'Close', exact: true }).first().click();
    },
  );
});
