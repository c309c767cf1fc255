import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import { packageRoot } from '../../cli/package-root.ts';
import { buildEmailHours } from '../build/dashboard/email-hours.ts';
import { buildHealthyProcesses } from '../build/dashboard/operation.ts';
import { getDaysAgo } from '../build/dashboard/world.ts';
import type { TestProject } from '../support/api.ts';
import {
  type BrowserContext,
  COLOR_RULES,
  describeInBrowser,
  expectNoSeriousAxeViolations,
  expectNoSidewaysScroll,
  type OpenedDashboard,
  openDashboard,
  openSignedInWindow,
  type Page,
  takeScreenshot,
  VIEWPORTS,
} from '../support/browser/browser.ts';
import { buildDashboardData, buildHealthyProject, type DashboardData } from '../support/browser/dashboard-data.ts';
import { listScreens, OPEN_SCREENS, type Screen } from '../support/browser/dashboard-screens.ts';
import { type PageWatch, watchPage } from '../support/browser/page-watch.ts';
import { pausePeriodicWork } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';

const ROOT = packageRoot();
/** The folder in which `npm run screens` stores screenshots. The test suite does not set it, and stores none. */
const PICTURES = process.env.SCREENS;
const OPERATOR = 'operator@people.test';
/** The user of the project on the screenshots. The user's address is visible on each screenshot. */
const OWNER = 'maren@shop.example.com';
const NOWHERE = '/nowhere';
/** Paths with placeholders for ids, so that each has a test before records exist. */
const SCREENS = listScreens(createPlaceholderData());

describeInBrowser('every screen of the dashboard', () => {
  let service: TestService;
  let plain: DashboardData;
  let hostile: DashboardData;

  beforeAll(async () => {
    // With a public address, domains show DNS records.
    service = await startTestService({ OPERATORS: OPERATOR, PUBLIC_URL: 'http://mail.tidings.example' });
    // A round would end the executions that are built as running, and would look for the DNS records of the domains.
    await pausePeriodicWork(service, ['recovery', 'domains', 'segments']);
    await buildHealthyProcesses(service.db);
    // The screenshot of the operator's list shows every project.
    for (const { id, scale, ...set } of [
      { id: service.one.id, name: 'Harbor Books', created_at: getDaysAgo(600), scale: 0.4 },
      { id: service.two.id, name: 'Alpine Bikes', created_at: getDaysAgo(300), scale: 1.6 },
    ]) {
      await service.db.updateTable('projects').set(set).where('id', '=', id).execute();
      await buildEmailHours({ db: service.db, projectId: id }, scale);
    }
    plain = await buildDashboardData(service);
  });
  afterAll(async () => {
    for (const window of windows.values()) await (await window).close();
    await service?.close();
  });

  // One browser window for each project and role of user. Each screen is opened by its address without another sign-in.
  const windows = new Map<string, Promise<BrowserContext>>();
  const getWindow = (project: TestProject, { operator }: Screen) => {
    const name = `${project.id} ${operator}`;
    const owner = project === plain.project ? OWNER : undefined;
    const window = windows.get(name) ?? openSignedInWindow({ service, project, email: operator ? OPERATOR : owner });
    windows.set(name, window);
    return window;
  };

  // In the malicious project, one page reaches all screens by navigation. In the other project, each screen is opened
  // by its address.
  const tours = new Map<boolean, Promise<{ page: Page; watch: PageWatch }>>();
  const getTour = (screen: Screen) => {
    const isOperator = screen.operator === true;
    const tour = tours.get(isOperator) ?? startTour(screen);
    tours.set(isOperator, tour);
    return tour;
  };
  const startTour = async (screen: Screen) => {
    const page = await (await getWindow(hostile.project, screen)).newPage();
    const watch = await watchPage(page, service.baseUrl);
    await page.goto(`${service.baseUrl}/app${NOWHERE}`);
    return { page, watch };
  };

  it('home shows a healthy project: statistics of 30 days, and nothing that needs attention', async () => {
    const healthy = await buildHealthyProject(service);
    const opened = await openDashboard({ service, project: healthy, path: '/', email: 'maren@northwind.example' });
    await opened.page.getByText('All clear').waitFor();
    const statistics = opened.page.getByRole('region', { name: 'The last 30 days' });
    await statistics
      .getByRole('link', { name: /^[2-4]\d,\d{3}$/ })
      .first()
      .waitFor();
    await checkScreen(opened, { name: 'home-healthy', path: '/', keepsDark: true });
  });

  it('is in the list of screens', () => {
    const screens = join(ROOT, 'dashboard', 'screens');
    const routes = readdirSync(screens).flatMap((subject) =>
      [...readFileSync(join(screens, subject, 'routes.ts'), 'utf8').matchAll(/\bpath: '([^']+)'/g)].map(
        ([, path = '']) => path,
      ),
    );
    expect(routes).toContain('/contacts');
    const listed = [...SCREENS, ...OPEN_SCREENS].map(({ path }) => path.replace(/\?.*/, ''));
    const unlisted = routes.filter((route) => !listed.some((path) => createPattern(route).test(path)));
    expect(unlisted, 'routes that test/support/browser/dashboard-screens.ts lacks').toEqual([]);
  });

  for (const screen of OPEN_SCREENS)
    it(`${screen.name} is readable for signed-out visitors`, async () => {
      const mayFail = [/response: 401 to GET \/auth\/me/];
      await checkScreen(await openDashboard({ service, as: null, path: screen.path, mayFail }), screen);
    });

  for (const [n, { name }] of SCREENS.entries()) {
    it(`${name} is readable in light and dark mode, on a laptop and a phone`, async () => {
      const screen = listScreens(plain)[n] as Screen;
      const window = await getWindow(plain.project, screen);
      await checkScreen(await openDashboard({ service, window, path: screen.path }), screen);
    });
  }

  // Built after the screenshots were taken, so that they do not show the malicious project in the operator's list.
  describe('with malicious data', () => {
    beforeAll(async () => {
      hostile = await buildDashboardData(service, { hostile: true });
    });

    for (const [n, { name }] of SCREENS.entries()) {
      it(`${name} runs no script of a project with malicious data, and its layout stays intact`, async () => {
        const screen = listScreens(hostile)[n] as Screen;
        const { page, watch } = await getTour(screen);
        onTestFailed(async () => console.error(`It is in ${await takeScreenshot(page, `hostile-${name}`)}`));
        const before = watch.faults().length;
        await page.setViewportSize(VIEWPORTS.desktop);
        await walkTo(page, screen.path);
        await watch.settled();
        await expectNoSidewaysScroll(page);
        await page.setViewportSize(VIEWPORTS.phone);
        await watch.settled();
        await expectNoSidewaysScroll(page);
        expect(watch.faults().slice(before), 'what the page did wrong').toEqual([]);
      });
    }
  });
});

/**
 * Navigates to a path without a reload, as a click on a link does. It navigates to an empty route first, so that the
 * test can tell when the new screen appears.
 */
async function walkTo(page: Page, path: string): Promise<void> {
  const nowhere = page.getByRole('heading', { name: 'Page not found' });
  const step = (to: string) =>
    page.evaluate(
      `history.pushState({}, '', ${JSON.stringify(`/app${to}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
    );
  await step(NOWHERE);
  await nowhere.waitFor();
  await step(path);
  await nowhere.waitFor({ state: 'detached' });
}

async function checkScreen({ page, settled }: OpenedDashboard, { name, keepsDark }: Screen): Promise<void> {
  const storeScreenshot = async (width: number, scheme = '') => {
    if (PICTURES) await takeScreenshot(page, `${name}${scheme}-${width}`, { folder: PICTURES, settled });
  };
  await expectNoSeriousAxeViolations(page, { isStrict: true });
  await expectNoSidewaysScroll(page);
  await storeScreenshot(VIEWPORTS.desktop.width);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectNoSeriousAxeViolations(page, { rules: COLOR_RULES });
  if (keepsDark) await storeScreenshot(VIEWPORTS.desktop.width, '-dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(VIEWPORTS.phone);
  await settled();
  await expectNoSidewaysScroll(page);
  await storeScreenshot(VIEWPORTS.phone.width);
}

/** Returns the pattern of a route: `$id` stands for one part of a path. */
function createPattern(route: string): RegExp {
  return new RegExp(`^${route.replace(/\$\w+/g, '[^/]+')}/?$`);
}

/** Placeholder ids for all records that `listScreens` reads. Every id is `id`. */
function createPlaceholderData(): DashboardData {
  const anything: unknown = new Proxy(() => 'id', {
    get: (_, key) => (key === Symbol.toPrimitive || key === 'toString' ? () => 'id' : anything),
  });
  return anything as DashboardData;
}
