import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, holdRequests, openDashboard, type Page, VIEWPORTS } from '../support/browser/browser.ts';
import { buildDashboardData, type DashboardData } from '../support/browser/dashboard-data.ts';
import { startTestService, type TestService } from '../support/service.ts';

/**
 * The maximum layout shift while the data of a page loads. Beyond it, a page is hard to read or click. Web Vitals calls
 * 0.1 good.
 */
const SHIFT_MAX = 0.02;
/** Collects every shift since the page started, with the elements that moved most. */
const WATCH = `window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries())
    window.shifts.push({ value, moved: sources.map(({ node }) => (node?.outerHTML ?? node?.nodeName ?? '').slice(0, 120)) });
}).observe({ type: 'layout-shift', buffered: true });`;

const SCREENS: [name: string, path: (data: DashboardData) => string][] = [
  ['Home', () => '/'],
  ['contacts', () => '/contacts'],
  ['a contact', (data) => `/contacts/${data.contacts[7]?.id}`],
  ['segments', () => '/segments'],
  ['campaigns', () => '/campaigns'],
  ['a campaign’s report', (data) => `/campaigns/${data.campaigns.SENT}`],
  ['a new campaign', () => '/campaigns/new'],
  ['the campaign editor', (data) => `/campaigns/${data.campaigns.DRAFT}/edit`],
  ['an automation', (data) => `/automations/${data.workflows.welcome.id}`],
  ['messages', () => '/messages'],
  ['a message', (data) => `/messages/${data.emailIds[1]}`],
];

/** Pages of single records. A page with `false` is an editor, whose work area fills the window. */
const RECORDS: [name: string, path: (data: DashboardData) => string, hasHeader?: boolean][] = [
  ['a contact', (data) => `/contacts/${data.contacts[7]?.id}`],
  ['a job', (data) => `/contacts/jobs/import/${data.jobIds[0]}`],
  ['a segment', (data) => `/segments/${data.segmentIds[1]}`],
  ['a campaign’s report', (data) => `/campaigns/${data.campaigns.SENT}`],
  ['a message', (data) => `/messages/${data.emailIds[36]}`],
  ['an SMS', (data) => `/messages/sms/${data.smsIds[0]}`],
  ['a run', ({ workflows }) => `/messages/executions/${workflows.welcome.id}/${workflows.executions.WAITING}`],
  ['a webhook endpoint', (data) => `/developers/webhooks/${data.webhookIds[0]}`],
  ['an event', (data) => `/developers/events/${data.eventNames[0]}`],
  ['a request', (data) => `/developers/requests/${data.requestIds[0]}`],
  ['a template', (data) => `/templates/${data.templateIds[1]}`, false],
  ['the campaign editor', (data) => `/campaigns/${data.campaigns.DRAFT}/edit`, false],
  ['an automation', (data) => `/automations/${data.workflows.welcome.id}`, false],
];
/** The maximum distance in pixels between a gray part and the part that replaces it. */
const MOVED_MAX_PX = 32;

describeInBrowser('the dashboard while data loads', () => {
  let service: TestService;
  let data: DashboardData;
  beforeAll(async () => {
    service = await startTestService();
    data = await buildDashboardData(service);
  });
  afterAll(() => service?.close());

  it.each(SCREENS)('keeps the layout of %s stable', async (_, path) => {
    for (const viewport of Object.keys(VIEWPORTS) as (keyof typeof VIEWPORTS)[]) {
      const { page, open, settled } = await openDashboard({ service, project: data.project, viewport });
      await page.addInitScript(WATCH);
      await open(path(data));
      await settled();
      const shifts = await page.evaluate<{ value: number; moved: string[] }[]>('window.shifts');
      const sum = shifts.reduce((total, { value }) => total + value, 0);
      expect(sum, `${viewport}: ${JSON.stringify(shifts, null, 1)}`).toBeLessThan(SHIFT_MAX);
    }
  });

  it.each(RECORDS)('shows %s with gray parts and without dots', async (_, path, hasHeader = true) => {
    const { page, settled } = await openDashboard({ service, project: data.project, path: '/settings' });
    const release = await holdRequests(page, '**/v1/**');
    await walkTo(page, path(data));
    const pending = page.locator('[role=status][aria-busy=true]');
    await pending.locator('.pending-text').first().waitFor();
    expect(await page.locator('.mantine-Loader-root').count()).toBe(0);
    const part = ':is(.mantine-Paper-root, .nav-tabs, .mantine-Tabs-list, table)';
    const before = hasHeader ? await pending.locator(part).first().boundingBox() : null;
    release();
    await settled();
    await page.getByRole('heading', { level: 1 }).waitFor();
    if (!before) return;
    const after = await page.getByRole('main').locator(part).first().boundingBox();
    expect(Math.abs((after?.y ?? 0) - before.y)).toBeLessThan(MOVED_MAX_PX);
  });

  it.each<[name: string, path: (data: DashboardData) => string]>([
    ['a list', () => '/segments'],
    ['a record', ({ segmentIds }) => `/segments/${segmentIds[0]}`],
    ['an editor', ({ templateIds }) => `/templates/${templateIds[1]}`],
    ['settings', () => '/settings'],
  ])('shows gray parts and no dots while the code of %s loads', async (_, path) => {
    const { page, settled } = await openDashboard({ service, project: data.project, path: '/' });
    const release = await holdRequests(page, '**/app/assets/*.js');
    await walkTo(page, path(data));
    await page.locator('[role=status][aria-busy=true] .pending-text:visible').first().waitFor();
    expect(await page.locator('.mantine-Loader-root').count()).toBe(0);
    release();
    await settled();
    await page.getByRole('heading', { level: 1 }).waitFor();
  });

  it('shows the parts of an import’s preview in gray while the file is checked', async () => {
    const { page, settled } = await openDashboard({ service, project: data.project, path: '/contacts/import' });
    const release = await holdRequests(page, '**/import/preview*');
    const buffer = Buffer.from('email,plan\nada@example.com,pro\n');
    await page.locator('input[type=file]').setInputFiles({ name: 'new.csv', mimeType: 'text/csv', buffer });
    await page.getByText('Checking the file').waitFor();
    const readTops = async () =>
      Promise.all((await page.locator('main table').all()).map(async (table) => (await table.boundingBox())?.y));
    const [columnsTop] = await readTops();
    expect(await page.locator('.mantine-Loader-root').count()).toBe(0);
    release();
    await settled();
    expect((await readTops())[0]).toBe(columnsTop);
  });

  it.each(['/contacts', '/campaigns', '/messages', '/segments', '/developers/events'])(
    'shows the header of the list at %s, and gray rows below it, where the rows appear',
    async (path) => {
      const { page, settled } = await openDashboard({ service, project: data.project, path: '/settings' });
      const release = await holdRequests(page, '**/v1/{contacts,campaigns,emails,segments,events/stats}*');
      await walkTo(page, path);
      const pending = page.locator('[role=status][aria-busy=true] table');
      await pending.locator('.pending-text').first().waitFor();
      const header = await pending.locator('thead').boundingBox();
      const row = await pending.locator('tbody tr').first().boundingBox();
      release();
      await settled();
      const table = page.getByRole('table').first();
      expect(await table.locator('thead').boundingBox()).toEqual(header);
      expect((await table.locator('tbody tr').first().boundingBox())?.y).toBe(row?.y);
    },
  );
});

/** Opens a screen without loading the page again, as a link does. */
function walkTo(page: Page, path: string): Promise<unknown> {
  return page.evaluate(
    `history.pushState({}, '', ${JSON.stringify(`/app${path}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
  );
}
