import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { buildContacts } from '../build/campaigns.ts';
import { buildProject, type TestProject } from '../support/api.ts';
import {
  type BrowserContext,
  chooseMenuAction,
  describeInBrowser,
  openDashboard,
  openSignedInWindow,
  type Page,
} from '../support/browser/browser.ts';
import { buildPerson } from '../support/person.ts';
import { startTestService, type TestService } from '../support/service.ts';

const NOTICE = 'You switched to The depot in another window.';
const CONFLICT = [/response: 409/];

/** One user is a member of two projects, and has windows of the same browser open. */
describeInBrowser('a switch of the project in another window', () => {
  let service: TestService;
  let shop: TestProject;
  let depot: TestProject;
  let window: BrowserContext;
  const windows: BrowserContext[] = [];
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(async () => {
    for (const one of windows) await one.close();
    await service?.close();
  });
  beforeEach(async () => {
    shop = await buildProject(service.db, 'The shop');
    depot = await buildProject(service.db, 'The depot');
    const email = `ada-${shop.id}@people.test`;
    await buildPerson(service.db, depot.id, 'OWNER', email);
    window = await openSignedInWindow({ service, project: shop, email });
    windows.push(window);
    await switchTo(shop);
  });

  /** Switches the project of the session by the API, so no page of the browser sends a message about it. */
  const switchTo = async ({ id: projectId }: TestProject) => {
    const response = await window.request.post(`${service.baseUrl}/auth/project`, { data: { projectId } });
    expect(response.status()).toBe(200);
  };
  const listAddresses = async ({ id }: TestProject) => {
    const contacts = await service.db.selectFrom('contacts').select('email').where('project_id', '=', id).execute();
    return contacts.map(({ email }) => email);
  };
  const expectHomeOfDepot = async (page: Page) => {
    await page.getByText(NOTICE).waitFor();
    await page.getByRole('heading', { level: 1, name: 'The depot' }).waitFor();
    await page.getByRole('button', { name: 'Project: The depot' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/app/');
  };

  it('changes nothing in the project that the window does not show, and opens Home of the current project', async () => {
    await buildContacts(service.db, { projectId: shop.id, count: 51, localPart: 'shop' });
    await buildContacts(service.db, { projectId: depot.id, count: 2, localPart: 'depot' });
    const { page } = await openDashboard({ service, window, path: '/contacts', mayFail: CONFLICT });
    await page.getByLabel('Select all shown').check();
    await page.getByRole('button', { name: 'Select all 51 in this list' }).click();
    await chooseMenuAction(page.getByRole('region', { name: 'All 51 contacts in this list' }), 'Delete');
    await page.getByLabel('Type 51 to confirm').fill('51');
    await switchTo(depot);
    const response = page.waitForResponse((one) => one.request().method() === 'POST');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    expect((await response).status()).toBe(409);
    await expectHomeOfDepot(page);
    expect(await listAddresses(depot)).toHaveLength(2);
    const jobs = await service.db.selectFrom('jobs').select('id').where('project_id', '=', depot.id).execute();
    expect(jobs).toEqual([]);
  });

  it('shows no rows of a project below the name of the other one', async () => {
    await buildContacts(service.db, { projectId: shop.id, count: 1, localPart: 'shop' });
    await buildContacts(service.db, { projectId: depot.id, count: 1, localPart: 'depot' });
    const { page } = await openDashboard({ service, window, path: '/contacts', mayFail: CONFLICT });
    await page.getByText('shop0@to.test').waitFor();
    await switchTo(depot);
    await page.getByLabel('Search name or email').fill('to.test');
    await expectHomeOfDepot(page);
    await page.getByRole('link', { name: 'Contacts', exact: true }).click();
    await page.getByText('depot0@to.test').waitFor();
    expect(await page.getByText('shop0@to.test').count()).toBe(0);
  });

  it('is followed at once by the other windows of the browser, which say why', async () => {
    const first = await openDashboard({ service, window, path: '/contacts' });
    const second = await openDashboard({ service, window, path: '/segments' });
    await second.page.getByRole('button', { name: 'Project: The shop' }).click();
    await second.page.getByRole('menuitem', { name: 'The depot' }).click();
    await second.page.getByRole('heading', { level: 1, name: 'The depot' }).waitFor();
    await expectHomeOfDepot(first.page);
    await second.settled();
    expect(await second.page.getByText(NOTICE).count()).toBe(0);
  });
});
