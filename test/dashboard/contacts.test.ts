import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { buildContacts } from '../build/campaigns.ts';
import { buildProject, type TestProject } from '../support/api.ts';
import {
  chooseMenuAction,
  describeInBrowser,
  expectNoSeriousAxeViolations,
  expectNoSidewaysScroll,
  holdRequests,
  openDashboard,
} from '../support/browser/browser.ts';
import { buildDashboardData } from '../support/browser/dashboard-data.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

describeInBrowser('contacts in the dashboard', () => {
  let service: TestService;
  let project: TestProject;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service?.close());
  beforeEach(async () => {
    project = await buildProject(service.db, 'People');
  });

  const call = async (method: string, path: string, body?: unknown) =>
    (await service.call(method, path, { key: project.secretKey, ...(body !== undefined && { body }) })).body;
  const saveContact = (email: string, data: Record<string, unknown> = {}) => call('POST', '/contacts', { email, data });
  const isPro = { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] };

  it('explains an empty project, and adds the first contact', async () => {
    const { page, settled } = await openDashboard({ service, project, path: '/contacts' });
    await page.getByText('No contacts yet').waitFor();
    await page.getByText('Do this with the API').click();
    await page.getByText('curl -X POST').waitFor();
    await expectNoSeriousAxeViolations(page);
    await page.getByRole('button', { name: 'Add contact' }).first().click();
    await page.getByRole('textbox', { name: 'Email' }).fill('first@people.test');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'first@people.test' }).waitFor();
    await settled();
    expect(await call('GET', '/contacts')).toMatchObject({ total: 1, data: [{ subscribed: false }] });
  });

  it('opens an existing contact that is added again, and does not unsubscribe it', async () => {
    await saveContact('known@people.test', { plan: 'free' });
    const { page, settled } = await openDashboard({ service, project, path: '/contacts' });
    await page.getByRole('button', { name: 'Add contact' }).first().click();
    await page.getByRole('textbox', { name: 'Email' }).fill('Known@people.test');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('This contact already existed. Nothing was changed.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'known@people.test' }).waitFor();
    await settled();
    expect(await call('GET', '/contacts?search=known')).toMatchObject({ data: [{ subscribed: true }] });
  });

  it('shows rows of two lines on a phone, whose filter can be set and cleared with a thumb', async () => {
    await saveContact('ada@people.test', { firstName: 'Ada', lastName: 'Lovelace', plan: 'pro' });
    await saveContact(`${'long.name.'.repeat(6)}end@${'sub.'.repeat(20)}people.test`, { firstName: 'W'.repeat(80) });
    const path = `/contacts?condition=${encodeURIComponent(JSON.stringify(isPro))}`;
    const { page } = await openDashboard({ service, project, path: '/contacts', viewport: 'phone' });
    await page.getByText('2 of 2 shown').waitFor();
    for (const row of await page
      .getByRole('row')
      .filter({ has: page.getByRole('link') })
      .all()) {
      expect((await row.boundingBox())?.height).toBeLessThan(64);
      const status = await row.locator('.status').boundingBox();
      expect((status?.x ?? 0) + (status?.width ?? 390)).toBeLessThanOrEqual(390);
    }
    await expectNoSidewaysScroll(page);
    await page.goto(`${service.baseUrl}/app${path}`);
    await page.getByText('1 of 1 shown').waitFor();
    for (const name of ['Filtered', 'Add contact', 'Import']) {
      const box = await page.getByRole('button', { name }).boundingBox();
      expect(box?.height, name).toBeGreaterThanOrEqual(38);
    }
    await page.getByRole('button', { name: 'Clear filter' }).waitFor();
    await page.getByRole('button', { name: 'Remove the filter plan is pro' }).click();
    await page.getByText('2 of 2 shown').waitFor();
    expect(new URL(page.url()).search).toBe('');
    await expectNoSeriousAxeViolations(page);
  });

  it('keeps search and condition in the address and on the way back, and has pages', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 60, data: { plan: 'free' } });
    await saveContact('ada@people.test', { plan: 'pro' });
    const { page, open, settled } = await openDashboard({ service, project, path: '/contacts' });
    await page.getByText('50 of 61 shown').waitFor();
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('61 of 61 shown').waitFor();
    await page.getByLabel('Search name or email').fill('ada@');
    await page.getByText('1 of 1 shown').waitFor();
    expect(new URL(page.url()).searchParams.get('search')).toContain('ada@');
    await page.getByRole('link', { name: 'ada@people.test' }).click();
    await page.getByRole('heading', { level: 1, name: 'ada@people.test' }).waitFor();
    await page.getByRole('link', { name: 'Contacts', exact: true }).last().click();
    await page.getByText('1 of 1 shown').waitFor();
    expect(await page.getByLabel('Search name or email').inputValue()).toBe('ada@');
    await open(`/contacts?condition=${encodeURIComponent(JSON.stringify(isPro))}`);
    await page.getByText('plan is pro').waitFor();
    await page.getByText('1 of 1 shown').waitFor();
    await page.getByRole('button', { name: 'Filtered' }).click();
    await page.getByRole('button', { name: 'Clear filter' }).click();
    await page.getByText('50 of 61 shown').waitFor();
    await settled();
    await expectNoSeriousAxeViolations(page);
  });

  it('has tabs by status and segment, and saves a new filter as a segment with its rules', async () => {
    await saveContact('pro@people.test', { plan: 'pro' });
    await saveContact('free@people.test', { plan: 'free' });
    await call('POST', '/contacts', { email: 'gone@people.test', subscribed: false });
    await call('POST', '/segments', { name: 'Pro', type: 'DYNAMIC', filters: isPro });
    const { page, settled } = await openDashboard({ service, project, path: '/contacts' });
    const views = page.getByRole('navigation', { name: 'Views' });
    await views.getByRole('link', { name: 'Not subscribed' }).click();
    await page.getByText('1 of 1 shown').waitFor();
    await page.getByRole('link', { name: 'gone@people.test' }).waitFor();
    await views.getByRole('link', { name: 'Pro' }).click();
    await page.getByRole('link', { name: 'pro@people.test' }).waitFor();
    expect(await views.locator('[aria-current]').textContent()).toContain('Pro');
    expect(await page.getByRole('link', { name: 'Save as segment' }).count()).toBe(0);
    await expectNoSeriousAxeViolations(page);
    const isFree = JSON.stringify(isPro).replace('"pro"', '"free"');
    await page.goto(`${service.baseUrl}/app/contacts?condition=${encodeURIComponent(isFree)}`);
    await page.getByRole('link', { name: 'Save as segment' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Free plan');
    await page.getByRole('button', { name: 'Create segment' }).click();
    await page.getByRole('heading', { level: 1, name: 'Free plan' }).waitFor();
    await settled();
    expect(await call('GET', '/segments?search=Free')).toMatchObject([{ condition: JSON.parse(isFree) }]);
  });

  it('finds contacts by a part of their name', async () => {
    await saveContact('ada@people.test', { firstName: 'Ada', lastName: 'Lovelace' });
    await saveContact('grace@people.test', { name: 'Grace Hopper' });
    const { page } = await openDashboard({ service, project, path: '/contacts' });
    await page.getByText('2 of 2 shown').waitFor();
    await page.getByLabel('Search name or email').fill('da LOVE');
    await page.getByText('1 of 1 shown').waitFor();
    await page.getByRole('link', { name: 'ada@people.test' }).waitFor();
    await page.getByLabel('Search name or email').fill('hopper');
    await page.getByRole('link', { name: 'grace@people.test' }).waitFor();
  });

  it('sorts by address and by creation time, also after a reload', async () => {
    for (const name of ['b', 'c', 'a']) await saveContact(`${name}@people.test`);
    const { page } = await openDashboard({ service, project, path: '/contacts' });
    const table = page.getByRole('table', { name: 'Contacts' });
    const readInitials = async () =>
      (await table.getByRole('link').allInnerTexts()).map((address) => address[0]).join('');
    await expect.poll(readInitials).toBe('acb');
    await table.getByRole('button', { name: 'Contact' }).click();
    await expect.poll(readInitials).toBe('abc');
    await table.getByRole('button', { name: 'Contact' }).press('Enter');
    await expect.poll(readInitials).toBe('cba');
    expect(await table.getByRole('columnheader', { name: 'Contact' }).getAttribute('aria-sort')).toBe('descending');
    await page.reload();
    await expect.poll(readInitials).toBe('cba');
    await table.getByRole('button', { name: 'Created' }).click();
    await expect.poll(readInitials).toBe('acb');
    await table.getByRole('button', { name: 'Created' }).click();
    await expect.poll(readInitials).toBe('bca');
    await expectNoSeriousAxeViolations(page);
  });

  it('shows the chosen columns, also at the next visit with this browser', async () => {
    await saveContact('ada@people.test', { plan: 'pro' });
    const { page, open } = await openDashboard({ service, project, path: '/contacts' });
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'plan' }).check();
    await page.getByRole('columnheader', { name: 'plan' }).waitFor();
    await open('/contacts');
    await page.getByRole('cell', { name: 'pro', exact: true }).waitFor();
  });

  it('changes selected contacts and undoes the change, and deletes all matching contacts after their number is typed', async () => {
    for (const name of ['a', 'b', 'c']) await saveContact(`${name}@people.test`);
    const { page } = await openDashboard({ service, project, path: '/contacts?search=people' });
    await page.getByLabel('Select a@people.test').check();
    await page.getByLabel('Select b@people.test').check();
    await page.getByRole('button', { name: 'Unsubscribe' }).click();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    const readSubscribed = async () =>
      (await call('GET', '/contacts')).data.filter((one: { subscribed: boolean }) => one.subscribed).length;
    await until(async () => (await readSubscribed()) === 1, 'two to be unsubscribed');
    await page.getByRole('button', { name: 'Undo' }).click();
    await until(async () => (await readSubscribed()) === 3, 'them to be subscribed again');
    await buildContacts(service.db, { projectId: project.id, count: 60, localPart: 'many-people' });
    await page.reload();
    await page.getByText('50 of 63 shown').waitFor();
    await page.getByLabel('Select all shown').check();
    await page.getByRole('button', { name: 'Select all 63 in this list' }).click();
    await chooseMenuAction(page.getByRole('region', { name: 'All 63 contacts in this list' }), 'Delete');
    await page.getByLabel('Type 63 to confirm').fill('63');
    await expectNoSeriousAxeViolations(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('COMPLETED').waitFor();
    await page.getByText('63 done').waitFor();
    expect((await call('GET', '/contacts')).total).toBe(0);
  });

  it('shows one contact: edits and restores its data, names the actor of an unsubscription, and deletes it', async () => {
    const { id } = await saveContact('ada@people.test', { plan: 'pro', seats: 5, tags: ['a', 'b'] });
    await call('POST', '/segments', { name: 'Pros', condition: isPro });
    await call('POST', '/topics', { name: 'News' });
    const { page, settled } = await openDashboard({ service, project, path: `/contacts/${id}` });
    const readSeats = async () => (await call('GET', `/contacts/${id}`)).data.seats;
    await page.getByRole('button', { name: 'Change seats' }).click();
    await page.getByLabel('Value').fill('x');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Enter a number.').waitFor();
    await page.getByLabel('Value').fill('7');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    expect(await readSeats()).toBe(7);
    await page.getByRole('button', { name: 'Undo' }).click();
    await until(async () => (await readSeats()) === 5, 'the old value');
    await page.getByRole('button', { name: 'Change tags' }).click();
    await page.getByRole('textbox', { name: 'Value' }).fill('c');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Change tags' }).getByText('a, b, c').waitFor();
    expect((await call('GET', `/contacts/${id}`)).data.tags).toEqual(['a', 'b', 'c']);
    await page.getByRole('button', { name: 'Why in Pros' }).click();
    await page.getByText('plan is pro').waitFor();
    await page.getByRole('button', { name: 'Unsubscribe' }).click();
    await page.getByText(/Unsubscribed by owner-.*@people\.test/).waitFor();
    await settled();
    await expectNoSeriousAxeViolations(page);
    await chooseMenuAction(page, 'Delete');
    await page.getByLabel('Type ada@people.test to confirm').fill('ada@people.test');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Contact deleted.').waitFor();
    expect((await call('GET', '/contacts')).total).toBe(0);
  });

  it('restores a removed field, also after its row has disappeared', async () => {
    const { id } = await saveContact('ada@people.test', { plan: 'pro', seats: 5 });
    const { page } = await openDashboard({ service, project, path: `/contacts/${id}` });
    const remove = page.getByRole('button', { name: 'Remove plan' });
    const release = await holdRequests(page, `**/contacts/${id}/timeline*`);
    await remove.click();
    await remove.waitFor({ state: 'detached' });
    release();
    await page.getByText('plan removed.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await remove.waitFor();
  });

  it('imports a file: detected and chosen columns, typed rows, counts, rows with errors to correct, and progress', async () => {
    await saveContact('known@people.test');
    const { page } = await openDashboard({ service, project, path: '/contacts/import' });
    const rows = ['known@people.test,Ada,5,10115,x', 'new@people.test,Bob,7,00123,"=1+1"', 'nope,Eve,x,1,y'];
    const csv = `E-Mail,First name,Seats,Zip,Notes\n${rows.join('\n')}\n`;
    await page.setInputFiles('input[type=file]', {
      name: 'people.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(csv),
    });
    await page.getByRole('button', { name: 'Import 2 contacts' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Map E-Mail to' }).inputValue()).toBe('Email address');
    expect(await page.getByRole('textbox', { name: 'Map First name to' }).inputValue()).toContain('firstName');
    await page.getByLabel('Keep Seats as text').check();
    await page.getByRole('textbox', { name: 'Map Notes to' }).click();
    expect(await page.getByRole('option', { name: /New field.*New field/ }).count()).toBe(0);
    await page.getByRole('option', { name: 'Don’t import' }).click();
    await page.getByText('Must be an email address such as ada@example.com.').waitFor();
    await until(async () => (await page.getByRole('columnheader', { name: 'Notes' }).count()) === 0, 'the new preview');
    await expectNoSeriousAxeViolations(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download errors (CSV)' }).click(),
    ]);
    expect(readFileSync(await download.path(), 'utf8')).toBe(
      'import_row,import_error,E-Mail,First name,Seats,Zip,Notes\r\n4,Must be an email address such as ada@example.com.,nope,Eve,x,1,y\r\n',
    );
    await page.getByRole('button', { name: 'Import 2 contacts' }).click();
    await page.getByText('COMPLETED').waitFor();
    await page.getByText('1 created').waitFor();
    await page.getByText('1 failed').waitFor();
    expect((await call('GET', '/contacts?search=new')).data[0].data).toEqual({
      firstName: 'Bob',
      Seats: '7',
      Zip: '00123',
    });
    await expectNoSeriousAxeViolations(page);
    await page.getByRole('link', { name: 'Imports and bulk actions' }).click();
    await page.getByRole('cell', { name: 'Import', exact: true }).waitFor();
  });

  it('cancels a job after a word is typed, shows its progress, and then hides the cancel button', async () => {
    const result = { operation: 'subscribe', totalRequested: 900, successCount: 300, failureCount: 0, errors: [] };
    const row = { project_id: project.id, kind: 'bulk-subscribe' as const, status: 'RUNNING' as const };
    const job = await service.db
      .insertInto('jobs')
      .values({ ...row, input: '{}', result: JSON.stringify(result), total: 900, processed: 300 })
      .returning('id')
      .executeTakeFirstOrThrow();
    const { page } = await openDashboard({ service, project, path: `/contacts/jobs/bulk/${job.id}` });
    await page.getByRole('button', { name: 'Cancel' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel this bulk action (Subscribe)?' });
    await dialog.getByRole('textbox').fill('cancel');
    await expectNoSeriousAxeViolations(page);
    await dialog.getByRole('button', { name: 'Cancel' }).last().click();
    await page.getByText('Completed changes are kept.').waitFor();
    await page.getByText('Canceled: 300 of 900').waitFor();
    expect(await page.getByRole('main').getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    await expectNoSeriousAxeViolations(page);
  });

  it('shows why a list or a contact could not be loaded, and loads it again on request', async () => {
    await saveContact('ada@people.test');
    const { page, open } = await openDashboard({ service, project, mayFail: [/response: (404|500)/] });
    await page.route(/\/v1\/contacts\?/, (route) =>
      route.fulfill({
        status: 500,
        contentType: 'application/json',
        body: JSON.stringify({
          success: false,
          error: { code: 'INTERNAL_SERVER_ERROR', message: 'Broken.', statusCode: 500, requestId: 'r-1' },
        }),
      }),
    );
    await open('/contacts');
    await page.getByText('Something went wrong on our side').waitFor();
    await page.getByText('Details', { exact: true }).click();
    await page.getByText('INTERNAL_SERVER_ERROR').waitFor();
    await page.getByText('Request ID: r-1').waitFor();
    await page.unroute(/\/v1\/contacts\?/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('link', { name: 'ada@people.test' }).waitFor();
    await open('/contacts/0190a000-0000-7000-8000-000000000000');
    await page.getByText('Not found', { exact: true }).waitFor();
  });

  it('shows hostile data safely, on a phone too', async () => {
    const seeded = await buildDashboardData(service, { hostile: true });
    const paths = ['/contacts', `/contacts/${seeded.contacts[0]?.id}`, '/contacts/jobs', '/contacts/import'];
    for (const [viewport, dark] of [
      ['desktop', true],
      ['phone', false],
    ] as const) {
      const { page, open } = await openDashboard({ service, project: seeded.project, viewport, dark });
      for (const path of paths) {
        await open(path);
        await expectNoSidewaysScroll(page);
        await expectNoSeriousAxeViolations(page);
      }
    }
  });
});
