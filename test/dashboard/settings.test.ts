import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { buildProject, type TestProject } from '../support/api.ts';
import {
  chooseMenuAction,
  describeInBrowser,
  expectNoSeriousAxeViolations,
  expectNoSidewaysScroll,
  openDashboard,
  type Page,
} from '../support/browser/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

describeInBrowser('settings in a browser', () => {
  let service: TestService;
  let project: TestProject;
  beforeAll(async () => {
    service = await startTestService({ SIGNUP: 'off' });
  });
  afterAll(() => service?.close());
  beforeEach(async () => {
    project = await buildProject(service.db, 'The shop');
  });

  const readProject = () =>
    service.db.selectFrom('projects').selectAll().where('id', '=', project.id).executeTakeFirstOrThrow();

  it('the settings of a project are changed field by field, and each error is shown at its field', async () => {
    const { page } = await openDashboard({
      service,
      project,
      path: '/settings',
      mayFail: [/response: 422 to PATCH \/project/],
    });
    await page.getByLabel('Name').fill('The new shop');
    await page.getByRole('switch', { name: 'Use a sending window' }).check();
    await page.getByLabel('To', { exact: true }).fill('09:00');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page
      .getByText(/opens and closes at the same time is never open/)
      .first()
      .waitFor();
    await page.getByLabel('To', { exact: true }).fill('17:30');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.').waitFor();
    expect(await readProject()).toMatchObject({
      name: 'The new shop',
      sending_window: { from: '09:00', to: '17:30', days: [1, 2, 3, 4, 5] },
      bounce_guard: 0.1,
      complaint_guard: 0.003,
      send_rate_per_second: null,
    });
    await page.getByRole('button', { name: 'Project: The new shop' }).waitFor();
    await expectNoSeriousAxeViolations(page);
  });

  it("a user is invited by a link, joins with a password while sign-up is closed, and sees a member's screens", async () => {
    const { page } = await openDashboard({ service, project, path: '/settings/team' });
    await page.getByLabel('Email address').fill('grace@example.com');
    await page.getByRole('button', { name: 'Create invitation' }).click();
    const link = (await page.getByText(/\/app\/join#/).textContent()) ?? '';
    await page.getByRole('table', { name: 'Open invitations' }).getByText('grace@example.com').waitFor();
    await expectNoSeriousAxeViolations(page);

    const guest = await openDashboard({
      service,
      project,
      as: null,
      path: `/join${new URL(link).hash}`,
      mayFail: [/response: 401 to GET \/auth\/me/],
    });
    await guest.page.getByRole('heading', { name: 'Join The shop' }).waitFor();
    await expectNoSeriousAxeViolations(guest.page);
    await guest.page.getByLabel('Password').fill('a long password');
    await guest.page.getByRole('button', { name: 'Join', exact: true }).click();
    await guest.page.waitForURL('**/app/');
    await guest.open('/settings/team');
    await guest.page.getByText('Your role (Member) can’t do this. You need the team:manage permission.').waitFor();

    await guest.page.getByRole('button', { name: 'Leave project' }).click();
    await guest.page.getByRole('dialog', { name: 'Leave the project?' }).waitFor();
    await guest.page.getByText('You lose access immediately, and need a new invitation to return.').waitFor();
    await expectNoSeriousAxeViolations(guest.page);

    await page.reload();
    await page.getByRole('table', { name: 'Members' }).getByText('grace@example.com').waitFor();
    await chooseMenuAction(page.getByRole('row', { name: /grace/ }), 'Remove');
    await page.getByLabel('Type grace@example.com to confirm').fill('grace@example.com');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('grace@example.com was removed.').waitFor();
    guest.mayFail(/response: 401/);
    await guest.page.reload();
    await guest.page.waitForURL('**/sign-in**');
    await page.getByRole('tab', { name: 'Audit log' }).click();
    await page.getByText('Member removed').waitFor();
    await page.getByText('Member joined').waitFor();
  });

  it('settings show the records of domains, and topics and suppressed addresses can be added and removed', async () => {
    const { page } = await openDashboard({ service, project, path: '/settings/domains' });
    await page.getByText('No domains yet').waitFor();
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByLabel('Domain', { exact: true }).fill('shop.example');
    await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click();
    await page.getByText(/No DNS records are needed/).waitFor();
    await expectNoSeriousAxeViolations(page);

    await openFromMenu(page, 'Topics');
    await page.getByLabel('Name').fill('News');
    const readSwitchColor = () =>
      page.evaluate(`getComputedStyle(document.querySelector('.mantine-Switch-track')).backgroundColor`);
    const on = await readSwitchColor();
    await page.getByRole('switch').click({ force: true });
    await expect.poll(readSwitchColor).not.toBe(on);
    await page.getByRole('button', { name: 'Add topic' }).click();
    await page.getByRole('table', { name: 'Topics' }).getByText('News').waitFor();

    await openFromMenu(page, 'Settings');
    await page.getByRole('tab', { name: 'Suppression list' }).click();
    await page.getByLabel('Email address').fill('ada@example.com');
    await page.getByRole('button', { name: 'Add address' }).click();
    const list = page.getByRole('table', { name: 'Suppression list' });
    await list.getByText('ada@example.com').waitFor();
    await chooseMenuAction(list, 'Remove');
    await page.getByText('No suppressed addresses').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await list.getByText('ada@example.com').waitFor();
    await expectNoSeriousAxeViolations(page);
  });

  it('every section is readable on a phone in dark mode', async () => {
    await service.db
      .insertInto('domains')
      .values({
        project_id: project.id,
        domain: `${'very-long-name-'.repeat(4)}x.example`,
        dkim_selector: 'x',
        dkim_private_key: 'x',
        dkim_public_key: 'x'.repeat(400),
      })
      .execute();
    const { page, open, settled } = await openDashboard({
      service,
      project,
      path: '/settings/domains',
      viewport: 'phone',
      dark: true,
    });
    await expectNoSidewaysScroll(page);
    await expectNoSeriousAxeViolations(page);
    await open('/settings/topics');
    await expectNoSidewaysScroll(page);
    await open('/settings');
    for (const section of ['Project', 'SMS senders', 'Suppression list', 'Audit log', 'Team']) {
      await page.getByRole('tab', { name: section }).click();
      await settled();
      await expectNoSidewaysScroll(page);
    }
    await expectNoSeriousAxeViolations(page);
  });

  it('a bar with Save and Discard appears with the first change, and Discard reverts the change', async () => {
    const { page } = await openDashboard({ service, project, path: '/settings' });
    const bar = page.getByRole('group', { name: 'Unsaved changes' });
    await page.getByLabel('Name').waitFor();
    expect(await bar.count()).toBe(0);
    await page.getByLabel('Name').fill('Another shop');
    await bar.waitFor();
    await expectNoSeriousAxeViolations(page);
    await bar.getByRole('button', { name: 'Discard changes' }).click();
    await bar.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name').inputValue()).toBe('The shop');
  });
});

async function openFromMenu(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
}
