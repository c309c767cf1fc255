import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, holdRequests, openDashboard, VIEWPORTS } from '../support/browser/browser.ts';
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

  it.each(['/contacts', '/campaigns', '/messages', '/segments', '/developers/events'])(
    'shows the header of the list at %s, and gray rows below it, where the rows appear',
    async (path) => {
      const { page, settled } = await openDashboard({ service, project: data.project, path: '/settings' });
      const release = await holdRequests(page, '**/v1/{contacts,campaigns,emails,segments,events/stats}*');
      await page.evaluate(
        `history.pushState({}, '', ${JSON.stringify(`/app${path}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
      );
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
