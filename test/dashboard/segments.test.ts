import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { buildProject, type TestProject } from '../support/api.ts';
import {
  describeInBrowser,
  expectNoSeriousAxeViolations,
  expectNoSidewaysScroll,
  holdRequests,
  openDashboard,
  type Page,
} from '../support/browser/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const PLAN_IS_PRO = { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] };

describeInBrowser('segments in a browser', () => {
  let service: TestService;
  let project: TestProject;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service?.close());
  beforeEach(async () => {
    project = await buildProject(service.db, 'Segments');
    for (const [email, plan] of [
      ['ada@example.com', 'pro'],
      ['bo@example.com', 'pro'],
      ['cy@example.com', 'free'],
    ])
      await callApi('POST', '/contacts', { email, data: { plan } });
  });

  async function callApi(method: string, path: string, body?: unknown) {
    const response = await service.call(method, path, { key: project.secretKey, ...(body !== undefined && { body }) });
    expect(response.status, JSON.stringify(response.body)).toBeLessThan(300);
    return response.body;
  }

  it('a segment is built with the keyboard, counted while it is built, and explained for a contact', async () => {
    const { page, settled } = await openDashboard({ service, project, path: '/segments' });
    await page.getByText('No segments yet').waitFor();
    await expectNoSeriousAxeViolations(page);
    await page.getByRole('button', { name: 'Create segment' }).click();
    await page.getByLabel('Name').fill('On pro');
    await chooseByKeys(page, 'Field of filter 1', 'plan');
    await page.getByRole('textbox', { name: 'Value of filter 1' }).fill('pro');
    await page.getByRole('textbox', { name: 'Value of filter 1' }).press('Enter');
    await page.getByText('2 contacts', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'ada@example.com' }).waitFor();
    await page.getByRole('switch', { name: 'Track entries and exits' }).check();
    await page.getByRole('button', { name: 'Create segment' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'On pro' }).waitFor();
    await page.getByRole('table', { name: 'Members' }).getByRole('link', { name: 'bo@example.com' }).waitFor();

    await page.getByRole('button', { name: 'Update now' }).click();
    await page.getByText('Updated: 2 entered, 0 left.').waitFor();
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByRole('table', { name: 'Entries and exits' }).getByText('entered').first().waitFor();
    await page.getByRole('tab', { name: 'Explain' }).click();
    await chooseByKeys(page, 'Contact', 'cy@');
    await page.getByText('cy@example.com is not in this segment.').waitFor();
    await page.getByText('has free').waitFor();
    expect(new URL(page.url()).search).toMatch(/tab=explain&contact=/);
    await settled();
    await expectNoSeriousAxeViolations(page);
  });

  it('the form of a new segment says what it lacks while the segment cannot be created', async () => {
    const { page } = await openDashboard({ service, project, path: '/segments/new' });
    const create = page.getByRole('button', { name: 'Create segment' });
    await create.focus();
    await page.getByText('Enter a name first.').waitFor();
    await page.getByLabel('Name').fill('On pro');
    await create.focus();
    await page.getByText('Complete all rules first.').waitFor();
    await create.press('Enter');
    expect(new URL(page.url()).pathname).toBe('/app/segments/new');
  });

  it('a choice takes the first option with Enter, also if the options arrive after the text', async () => {
    const { id } = await callApi('POST', '/segments', { name: 'On pro', filters: PLAN_IS_PRO });
    const { page } = await openDashboard({ service, project, path: `/segments/${id}` });
    const release = await holdRequests(page, '**/contacts?limit=20*');
    await page.getByRole('tab', { name: 'Explain' }).click();
    const input = page.getByRole('textbox', { name: 'Contact', exact: true });
    await input.fill('cy@');
    release();
    await page.getByRole('option', { name: 'cy@' }).first().waitFor();
    await input.press('Enter');
    await page.getByText('cy@example.com is not in this segment.').waitFor();
  });

  it('a segment shows API errors at their row, and keeps unsaved text over a reload', async () => {
    const { page, settled } = await openDashboard({
      service,
      project,
      path: '/segments/new',
      mayFail: [/response: 422 to POST .*segments\/preview/],
    });
    await page.getByLabel('Name').fill('Long ago');
    await chooseByKeys(page, 'Field of filter 1', 'Created at');
    await chooseByKeys(page, 'Comparison of filter 1', 'longer ago than');
    await page.getByRole('textbox', { name: 'Value of filter 1' }).fill('99999999');
    const row = page.getByRole('group', { name: 'Filter 1', exact: true });
    await row.getByText('The span is longer than a hundred years.').waitFor();
    await expectNoSeriousAxeViolations(page);
    await page.reload();
    await page.getByText('Unsaved changes from this browser').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Long ago');
    await row.getByText('The span is longer than a hundred years.').waitFor();
    await page.getByRole('button', { name: 'Discard changes' }).click();
    expect(await page.getByLabel('Name').inputValue()).toBe('');
    await settled();
  });

  it('groups and nested groups keep stored values', async () => {
    const member = await callApi('POST', '/segments', { name: 'Press', type: 'STATIC' });
    const nested = {
      logic: 'OR',
      groups: [
        { filters: [{ field: 'data.plan', operator: 'in', value: ['pro', 'free'] }] },
        {
          filters: [{ field: `segment.${member.id}`, operator: 'notMemberOf' }],
          conditions: {
            logic: 'AND',
            groups: [{ filters: [{ field: 'event.bought', operator: 'triggeredWithin', value: 2, unit: 'weeks' }] }],
          },
        },
      ],
    };
    const { id } = await callApi('POST', '/segments', { name: 'Nested', filters: nested });
    const { page } = await openDashboard({ service, project, path: `/segments/${id}?tab=condition` });
    const second = page.getByRole('region', { name: 'Group 2', exact: true });
    await second.getByRole('textbox', { name: 'Field of filter 1' }).first().waitFor();
    expect(await second.getByRole('textbox', { name: 'Field of filter 1' }).first().inputValue()).toBe('Press');
    await second.getByRole('button', { name: 'Add filter' }).last().click();
    await page.keyboard.type('subscribed');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Matching contacts' }).waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.').waitFor();
    const stored = await callApi('GET', `/segments/${id}`);
    const [first, other] = nested.groups;
    const subscribed = { field: 'subscribed', operator: 'equals', value: true };
    expect(stored.condition).toEqual({
      logic: 'OR',
      groups: [first, { ...other, filters: [...(other?.filters ?? []), subscribed] }],
    });
  });

  it('a static segment accepts addresses, names unknown ones, and restores a removed contact', async () => {
    const { id } = await callApi('POST', '/segments', { name: 'Press', type: 'STATIC' });
    const { page } = await openDashboard({ service, project, path: `/segments/${id}` });
    await page.getByLabel('Add members').fill('ada@example.com, nobody@example.com');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('1 added, including 0 new contacts.').waitFor();
    await page.getByText('nobody@example.com').waitFor();
    const members = page.getByRole('table', { name: 'Members' });
    await members.getByRole('link', { name: 'ada@example.com' }).waitFor();
    await page.getByRole('button', { name: 'Remove ada@example.com' }).click();
    await page.getByText('No contacts yet').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await members.getByRole('link', { name: 'ada@example.com' }).waitFor();
    await expectNoSeriousAxeViolations(page);
    await page.getByRole('tab', { name: 'History' }).click();
    const history = page.getByRole('table', { name: 'Entries and exits' });
    await until(
      async () => (await history.getByRole('link', { name: 'ada@example.com' }).count()) === 3,
      'the history',
    );
    await history.getByText('@people.test').filter({ visible: true }).first().waitFor();
    await expectNoSeriousAxeViolations(page);
  });

  it('a static segment restores a removed contact, also after its row has disappeared', async () => {
    const { id } = await callApi('POST', '/segments', { name: 'Slow', type: 'STATIC' });
    await callApi('POST', `/segments/${id}/members`, { emails: ['ada@example.com'] });
    const { page } = await openDashboard({ service, project, path: `/segments/${id}` });
    const remove = page.getByRole('button', { name: 'Remove ada@example.com' });
    await remove.waitFor();
    const release = await holdRequests(page, `**/segments/${id}`);
    await remove.click();
    await page.getByText('No contacts yet').waitFor();
    release();
    await page.getByRole('button', { name: 'Undo' }).click();
    await remove.waitFor();
  });

  it('a segment is readable on a phone in dark mode, with any name', async () => {
    const name = `<img src=x onerror=alert(1)>${'long'.repeat(60)}`.slice(0, 255);
    const { id } = await callApi('POST', '/segments', { name, slug: 'hostile', filters: PLAN_IS_PRO });
    const { page, settled } = await openDashboard({
      service,
      project,
      path: '/segments',
      viewport: 'phone',
      dark: true,
    });
    await expectNoSidewaysScroll(page);
    await page.getByRole('link', { name: /onerror/ }).click();
    await page.waitForURL(`**/segments/${id}`);
    for (const tab of ['Members', 'History', 'Explain', 'Used in', 'Rules']) {
      await page.getByRole('tab', { name: tab }).click();
      await settled();
      await expectNoSidewaysScroll(page);
    }
    await expectNoSeriousAxeViolations(page);
  });
});

/** Types into a select and chooses the first option with the keyboard. */
async function chooseByKeys(page: Page, label: string, typed: string): Promise<void> {
  const input = page.getByRole('textbox', { name: label, exact: true });
  await input.focus();
  if ((await input.getAttribute('readonly')) !== null) {
    await input.press('Enter');
    await page.getByRole('option', { name: typed }).click();
    return;
  }
  await input.fill(typed);
  await page.getByRole('option', { name: typed }).first().waitFor();
  await input.press('Enter');
}
