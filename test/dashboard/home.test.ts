import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { track } from '../build/events.ts';
import { buildDomain } from '../build/senders.ts';
import { expectOk } from '../build/workflows.ts';
import { buildProject } from '../support/api.ts';
import {
  describeInBrowser,
  expectNoSeriousAxeViolations,
  expectNoSidewaysScroll,
  openDashboard,
} from '../support/browser/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Counts the nearly white pixels of the chart: the lines of its grid in the light scheme. */
const COUNT_LIGHT_PIXELS = `(() => {
  const drawing = document.querySelector('.uplot canvas');
  const { data } = drawing.getContext('2d').getImageData(0, 0, drawing.width, drawing.height);
  let count = 0;
  for (let at = 0; at < data.length; at += 4) if (data[at] > 230 && data[at + 3] === 255) count += 1;
  return count;
})()`;

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

  it('creates an account with a project, whose first steps are marked as done automatically', async () => {
    const { page } = await openDashboard({ service, as: null, path: '/sign-in' });
    await page.getByRole('link', { name: 'Create account' }).click();
    await page.getByLabel('Email').fill('new@people.test');
    await page.getByRole('textbox', { name: 'Password' }).fill('correct horse');
    await page.getByLabel('Project name').fill('<b>Shop</b>');
    await expectNoSeriousAxeViolations(page);
    await page.getByRole('button', { name: 'Create account' }).click();
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
    await expectNoSeriousAxeViolations(page);
  });

  it('folds the first steps once most of them are done', async () => {
    const project = await buildProject(service.db, 'Nearly done');
    await buildDomain(service.db, { projectId: project.id, domain: 'nearly.example' });
    await service.db
      .insertInto('contacts')
      .values({ project_id: project.id, email: 'ada@example.com', subscribed: true })
      .execute();
    const { page } = await openDashboard({ service, project, path: '/' });
    const steps = page.getByRole('region', { name: 'First steps' });
    await steps.getByRole('listitem').nth(5).waitFor();
    const body = { name: 'Welcome', type: 'TRANSACTIONAL', subject: 'Hi', body: '<p>Hi</p>', from: 'a@nearly.example' };
    const key = project.secretKey;
    await expectOk(service.call('POST', '/v1/templates', { key, body }));
    await expectOk(
      service.call('POST', '/v1/track', { key, body: { email: 'ada@example.com', event: 'signed_up', data: {} } }),
    );
    await steps.getByText('4 of 6 done').waitFor();
    await steps.getByRole('link', { name: 'Send an email' }).waitFor();
    expect(await steps.getByRole('listitem').count()).toBe(0);
    await expectNoSeriousAxeViolations(page);
    await steps.getByRole('button', { name: 'Show all' }).click();
    await steps.getByRole('listitem').nth(5).waitFor();
    await steps.getByRole('button', { name: 'Hide' }).click();
    await steps.waitFor({ state: 'detached' });
  });

  it("shows the API's reason for a failed sign-in", async () => {
    const { page } = await openDashboard({
      service,
      as: null,
      path: '/sign-in',
      mayFail: [/response: 401 to POST \/auth\/login/],
    });
    await page.getByLabel('Email').fill('nobody@people.test');
    await page.getByRole('textbox', { name: 'Password' }).fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The address or the password is wrong.').waitFor();
    await page.getByText('Details', { exact: true }).click();
    await page.getByText('UNAUTHORIZED').waitFor();
  });

  it.each([
    ['desktop', false],
    ['phone', true],
  ] as const)('shows statistics, items that need attention and upcoming work on a %s', async (viewport, dark) => {
    const { id: projectId } = service.one;
    await track(service, 'ada@example.com', 'signup');
    await sql`UPDATE domains SET status = 'FAILED' WHERE project_id = ${projectId}`.execute(service.db);
    await sql`
      INSERT INTO webhook_endpoints (project_id, url, events, secret, status, disabled_reason)
      VALUES (${projectId}, 'https://hooks.example.com/x', '{*}', 'sealed', 'DISABLED', 'failing')`.execute(service.db);
    const { page } = await openDashboard({ service, path: '/', viewport, dark });
    await page.getByText('DNS records missing').waitFor();
    await page.getByText('shop.example.com').waitFor();
    await page.getByText('Every delivery has failed for 5 days.').first().waitFor();
    await page.getByRole('link', { name: '1,234' }).waitFor();
    await expectNoSeriousAxeViolations(page);
    await expectNoSidewaysScroll(page);
  });

  it('compares the statistics with the 30 days before, also in the chart', async () => {
    const { id: projectId } = service.two;
    const hour = Math.floor(Date.now() / 3_600_000);
    await sql`UPDATE mail_hours_until SET hour = ${hour - 1}`.execute(service.db);
    await sql`
      INSERT INTO mail_hours (project_id, hour, sent, delivered, opened, clicked, bounced, complained)
      VALUES (${projectId}, ${hour - 2}, 200, 0, 100, 20, 4, 0), (${projectId}, ${hour - 24 * 40}, 100, 0, 40, 10, 4, 0)
    `.execute(service.db);
    const { page, settled } = await openDashboard({ service, project: service.two, path: '/' });
    const statistics = page.getByRole('region', { name: 'The last 30 days' });
    await statistics.getByText('vs. 100').waitFor();
    await statistics.getByText('Open rate is up 10 points from the previous 30 days.').waitFor();
    await statistics.getByTitle('Up 100% from the previous 30 days').waitFor();
    await statistics.getByTitle('Up 10 points from the previous 30 days').waitFor();
    await statistics.getByTitle('Down 2 points from the previous 30 days').waitFor();
    expect(await statistics.getByText('98%').count()).toBe(1); // The number of delivered emails is sent minus bounced.
    await statistics.getByRole('checkbox', { name: 'Compare to previous period' }).check();
    await statistics.getByText('Sent, previous 30 days').waitFor();
    await settled();
    await expectNoSeriousAxeViolations(page);
  });

  it('draws the chart in the colors of the operating system’s scheme when it changes', async () => {
    const { page, settled } = await openDashboard({ service, project: service.two, path: '/' });
    const canvas = page.locator('.uplot canvas');
    await canvas.waitFor();
    await settled();
    const countLightPixels = () => page.evaluate<number>(COUNT_LIGHT_PIXELS);
    await expect.poll(countLightPixels).toBeGreaterThan(100);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(countLightPixels).toBeLessThan(100);
  });

  it('names the campaigns that were sent last, also if many were created after them', async () => {
    const { db } = service;
    const project = await buildProject(db, 'Sender');
    const body = {
      name: 'Written long ago',
      subject: 'Hi',
      body: '<p>Hi</p>',
      from: 'a@sender.example',
      audienceType: 'ALL',
    };
    await buildDomain(db, { projectId: project.id, domain: 'sender.example' });
    for (const name of ['Written long ago', 'A', 'B', 'C', 'D', 'E', 'F']) {
      const call = service.call('POST', '/v1/campaigns', { key: project.secretKey, body: { ...body, name } });
      await expectOk(call);
    }
    await sql`UPDATE campaigns SET status = 'SENT', started_at = now(), sent_at = now() - interval '2 days'
      WHERE project_id = ${project.id}`.execute(db);
    await sql`UPDATE campaigns SET sent_at = now() WHERE project_id = ${project.id} AND name = 'Written long ago'`.execute(
      db,
    );
    const { page } = await openDashboard({ service, project, path: '/' });
    const first = page.getByRole('region', { name: 'Campaigns' }).getByRole('link').nth(1);
    await expect.poll(() => first.textContent()).toBe('Written long ago');
  });

  it('links each number to the records that it counts', async () => {
    const { page } = await openDashboard({ service, project: service.two, path: '/' });
    const bounced = page.getByRole('region', { name: 'The last 30 days' }).getByRole('link').nth(3);
    await bounced.click();
    await page.waitForURL(/\/app\/messages\?/);
    expect(new URL(page.url()).searchParams.get('happened')).toBe('bounced');
    await page.getByText('No messages found').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'The last 30 days', exact: true }).waitFor();
  });
});
