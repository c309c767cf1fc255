import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { track } from '../build/events.ts';
import { buildDomain } from '../build/senders.ts';
import {
  describeInBrowser,
  expectNoSeriousAxe,
  expectNoSidewaysScroll,
  openDashboard,
} from '../support/browser/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

describeInBrowser('sign-in and start page', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
    const { id: projectId } = service.one;
    await buildDomain(service.db, { projectId });
    await sql`
      INSERT INTO timer_seconds (project_id, second, booked) VALUES (${projectId}, extract(epoch FROM now())::bigint + 7200, 1234)
    `.execute(service.db);
  });
  afterAll(() => service?.close());

  it('makes an account with a project, whose first steps tick themselves', async () => {
    const { page } = await openDashboard({ service, as: null, path: '/sign-in' });
    await page.getByRole('link', { name: 'Make an account' }).click();
    await page.getByLabel('Email').fill('new@people.test');
    await page.getByRole('textbox', { name: 'Password' }).fill('correct horse');
    await page.getByLabel('Name of your project').fill('<b>Shop</b>');
    await expectNoSeriousAxe(page);
    await page.getByRole('button', { name: 'Make an account' }).click();
    await page.getByRole('heading', { level: 1, name: '<b>Shop</b>' }).waitFor();
    const step = page.getByRole('listitem').filter({ hasText: 'Add a contact' });
    await step.getByText('not yet').waitFor({ state: 'attached' });
    const project = await service.db
      .selectFrom('projects')
      .select('id')
      .where('name', '=', '<b>Shop</b>')
      .executeTakeFirstOrThrow();
    await service.db
      .insertInto('contacts')
      .values({ project_id: project.id, email: 'ada@example.com', subscribed: true })
      .execute();
    await step.getByText('done', { exact: true }).waitFor({ state: 'attached' });
    await expectNoSeriousAxe(page);
  });

  it("shows the API's reason for a failed sign-in", async () => {
    const { page } = await openDashboard({
      service,
      as: null,
      path: '/sign-in',
      mayFail: [/answer: 401 to POST \/auth\/login/],
    });
    await page.getByLabel('Email').fill('nobody@people.test');
    await page.getByRole('textbox', { name: 'Password' }).fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The address or the password is wrong.').waitFor();
    await page.getByText('UNAUTHORIZED').waitFor();
  });

  it.each([
    ['desktop', false],
    ['phone', true],
  ] as const)('shows statistics, items that need attention and upcoming work, on a %s', async (viewport, dark) => {
    const { id: projectId } = service.one;
    await track(service, 'ada@example.com', 'signup');
    await sql`UPDATE domains SET status = 'FAILED' WHERE project_id = ${projectId}`.execute(service.db);
    const { page } = await openDashboard({ service, path: '/', viewport, dark });
    await page.getByText('The records of a domain are gone').waitFor();
    await page.getByText('shop.example.com').waitFor();
    await page.getByRole('link', { name: '1,234' }).waitFor();
    await expectNoSeriousAxe(page);
    await expectNoSidewaysScroll(page);
  });

  it('leads from a number to what it counts', async () => {
    const { page } = await openDashboard({ service, path: '/' });
    const bounced = page.getByRole('region', { name: 'The last 30 days' }).getByRole('link').nth(4);
    await bounced.click();
    await page.waitForURL(/\/app\/messages\?/);
    expect(new URL(page.url()).searchParams.get('happened')).toBe('bounced');
    await page.getByText('No message is like that').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'The last 30 days', exact: true }).waitFor();
  });
});
