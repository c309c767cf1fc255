import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeActor } from '../../dashboard/screens/contacts/contact/describe-actor.ts';
import { track } from '../build/events.ts';
import { buildDomain } from '../build/senders.ts';
import { buildWorkflow, expectOk, listExecutions } from '../build/workflows.ts';
import { buildProject } from '../support/api.ts';
import { describeInBrowser, openDashboard } from '../support/browser/browser.ts';
import { buildDashboardData, type DashboardData } from '../support/browser/dashboard-data.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

it('a provider that acted is named in words', () => {
  expect(describeActor('capture', null)).toBe('the development mailbox');
  expect(describeActor('ses', null)).toBe('Amazon SES');
});

describeInBrowser('screens that once misled their users', () => {
  let service: TestService;
  let data: DashboardData;
  beforeAll(async () => {
    service = await startTestService();
    data = await buildDashboardData(service);
    await buildDomain(service.db, { projectId: service.two.id, domain: 'two.example.com' });
  });
  afterAll(() => service?.close());

  const openPage = (path: string, mayFail: RegExp[] = []) =>
    openDashboard({ service, project: data.project, path, mayFail });

  it('recipients that a rule skipped are gray, and not shown as failed', async () => {
    const { page } = await openPage(`/campaigns/${data.campaigns.SENT}/recipients?outcome=skipped`);
    const table = page.getByRole('table', { name: 'Recipients' });
    const skipped = table.locator('.status', { hasText: 'Skipped' });
    await skipped.first().waitFor();
    expect(await skipped.first().getAttribute('data-tone')).toBe('idle');
    expect(await table.locator('.status').getByText('Failed', { exact: true }).count()).toBe(0);
  });

  it('a missing sending domain, and an existing one, are explained without API terms', async () => {
    const { page, open } = await openPage('/campaigns/new', [/response: (400|403|409|422) to POST/]);
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('From elsewhere');
    await page.getByRole('textbox', { name: 'From', exact: true }).fill('me@elsewhere.example');
    await page.getByRole('button', { name: 'Create draft' }).click();
    await page.getByText('The sender’s domain is not verified').waitFor();
    expect(
      await page
        .getByText(/POST \//)
        .filter({ visible: true })
        .count(),
    ).toBe(0);
    await open('/settings/domains');
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByLabel('Domain', { exact: true }).fill('shop.example.com');
    await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    expect(
      await page
        .getByText(/POST \/|listed in errors/)
        .filter({ visible: true })
        .count(),
    ).toBe(0);
  });

  it('subjects in a contact’s history are shown as the recipient read them', async () => {
    const { page } = await openPage(`/contacts/${data.contacts[7]?.id}`);
    const activity = page.getByRole('list', { name: 'Activity' });
    await activity.getByRole('listitem').first().waitFor();
    expect(await page.getByRole('main').getByText('{{').count()).toBe(0);
  });

  it('the runs of an automation have its name as title, and the menu still marks automations', async () => {
    const { page } = await openPage(`/messages/executions/${data.workflows.welcome.id}`);
    await page.getByRole('heading', { level: 1, name: 'Runs: Welcome series' }).waitFor();
    const current = page.getByRole('navigation', { name: 'Menu' }).locator('a[aria-current]');
    expect(await current.allInnerTexts()).toEqual(['Automations']);
  });

  it('a step that a contact left early does not claim that no contact was there', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'left-early',
      steps: { pause: { type: 'DELAY', config: { amount: 1, unit: 'days' } } },
    });
    await track(service, 'early@example.com', 'left-early');
    const readExecution = async () => (await listExecutions(service, workflow.id))[0];
    await until(async () => (await readExecution())?.status === 'WAITING', 'the delay');
    const { id } = await readExecution();
    await expectOk(service.call('DELETE', `/workflows/${workflow.id}/executions/${id}`));
    await until(async () => (await readExecution())?.status === 'CANCELLED', 'the cancellation');
    const { page, open } = await openDashboard({ service, path: `/automations/${workflow.id}` });
    await page.locator('.react-flow__node', { hasText: 'pause' }).waitFor();
    await open(`/automations/${workflow.id}?view=list`);
    await page.getByRole('button', { name: /^pause/ }).waitFor();
    expect(await page.getByText(/\b(no|nobody)\b.* yet/i).count()).toBe(0);
  });

  it('a notice about paused sending says which email waits and, on a separate line, why', async () => {
    await sql`UPDATE projects SET held_at = now(), hold_reason = 'Looks like a bought list'
      WHERE id = ${service.two.id}`.execute(service.db);
    const { page } = await openDashboard({ service, project: service.two, path: '/' });
    const banner = page.getByRole('alert').filter({ hasText: 'Sending is paused' });
    await banner.getByText('Transactional emails are still sent.').waitFor();
    await banner.getByText('Reason: Looks like a bought list', { exact: true }).waitFor();
    expect(await page.getByText('since now').count()).toBe(0);
  });

  it('a column of a file is mapped to the field whose name differs only in case', async () => {
    const { page } = await openDashboard({ service, path: '/contacts/import' });
    await expectOk(service.call('POST', '/contacts', { body: { email: 'one@example.com', data: { plan: 'pro' } } }));
    await page.setInputFiles('input[type=file]', {
      name: 'plans.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('Email,Plan\ntwo@example.com,free\n'),
    });
    const target = page.getByRole('textbox', { name: 'Map Plan to' });
    await target.waitFor();
    expect(await target.inputValue()).toBe('plan');
  });

  it('an example of a request is complete, has the versioned path, and explains its variable', async () => {
    const project = await buildProject(service.db, 'Empty');
    const { page } = await openDashboard({ service, project, path: '/contacts' });
    await page.getByText('Do this with the API').click();
    await page.getByText(`curl -X POST '${service.baseUrl}/v1/contacts'`).waitFor();
    await page.getByText('TIDINGS_KEY is one of your').waitFor();
    await page.getByRole('link', { name: 'API keys' }).last().waitFor();
  });

  it('a new campaign starts from a layout in a project without templates', async () => {
    const { page } = await openDashboard({ service, project: service.two, path: '/campaigns/new' });
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('First news');
    await page.getByRole('radio', { name: 'Newsletter' }).check();
    await page.getByRole('button', { name: 'Create draft' }).click();
    await page.frameLocator('iframe[title="Email, editable in place"]').getByText('What is new').waitFor();
  });

  it('the chart of the next 48 hours has a scale and hours', async () => {
    await sql`INSERT INTO timer_seconds (project_id, second, booked)
      VALUES (${service.one.id}, extract(epoch FROM now())::bigint + 7200, 1234)`.execute(service.db);
    const { page } = await openDashboard({ service, path: '/' });
    const coming = page.getByRole('region', { name: 'Next 48 hours' });
    await coming.getByText('1,234', { exact: true }).first().waitFor();
    expect(await coming.getByText(/^\w{3},? \d\d:\d\d$/).count()).toBe(5);
    await coming.getByText(/^Busiest hour: .*, \d\d:00 C\w+, with 1,234 steps\./).waitFor();
    await sql`UPDATE projects SET send_rate_per_second = 5 WHERE id = ${service.one.id}`.execute(service.db);
    await page.reload();
    await coming.getByText('Their emails take at least 4 minutes 7 seconds, at 5 per second.').waitFor();
  });
});
