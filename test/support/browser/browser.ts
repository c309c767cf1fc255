import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { describe, expect, inject, onTestFinished } from 'vitest';
import type { Db } from '../../../db/connection.ts';
import type { Role } from '../../../rules/access/scopes.ts';
import { buildPerson } from '../person.ts';
import { findChromium, launchChromium } from './chromium.ts';
import { watchPage } from './page-watch.ts';

export type { BrowserContext, Page } from 'playwright-core';

/** Common window sizes of a laptop and of a phone, in CSS pixels. */
export const VIEWPORTS = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const;
/**
 * Only violations are reported, because selectors of thousands of passing nodes took half of axe's time. No default
 * rule needs style sheets to be loaded.
 */
const AXE_OPTIONS: Parameters<AxeBuilder['options']>[0] = {
  resultTypes: ['violations'],
  preload: { assets: ['media'] },
};
/** The number of lines of the service's log that a failed test prints. */
const WARNING_LINES_MAX = 10;
/** Rules of axe whose result depends on colors, and therefore on the color scheme. */
export const COLOR_RULES = ['color-contrast', 'link-in-text-block'] as const;
const found = await findChromium();
const missing = typeof found === 'string' ? found : undefined;

/** `describe` for tests that need a browser. Without a browser they are skipped, and the name of the block says why. */
export function describeInBrowser(name: string, tests: () => void): void {
  describe.skipIf(missing)(`${name}${missing ? ` (skipped: ${missing})` : ''}`, tests);
}

/**
 * Any running service with a database that the test can access: `startTestService()`, `startTestApi()` behind a port,
 * or `npm start`.
 */
export interface DashboardService {
  baseUrl: string;
  db: Db;
  /** The warnings and errors of the service's log. */
  warningLines?: string[];
}

export interface OpenDashboard {
  service: DashboardService & { one?: { id: string } };
  /** The project to sign in to; `service.one` by default. */
  project?: { id: string };
  /** Signs in a new user with this role, OWNER by default. Null leaves the browser signed out. */
  as?: Role | null;
  /** The address of the new user, if a test needs to know it. */
  email?: string | undefined;
  /** Path within the app, such as `/contacts?search=ada`. Without a path, no page is opened. */
  path?: string;
  viewport?: keyof typeof VIEWPORTS;
  dark?: boolean;
  /** A window of `openSignedInWindow`, which stays open. By default, a new window is opened. */
  window?: BrowserContext;
  /** Page errors that the test expects: `/response: 404 to GET .contacts/`. */
  mayFail?: readonly RegExp[];
}

export interface OpenedDashboard {
  page: Page;
  /** Opens a path of the app, and waits until the page makes no more requests. */
  open(path: string): Promise<void>;
  /** Waits until the screen has a heading and has loaded its data. */
  settled(): Promise<void>;
  /** Permits page errors that match, such as `/response: 409/`, from now on. */
  mayFail(fault: RegExp): void;
}

/**
 * Opens a new browser window on the dashboard, without stored data, signed in by the login of the API. When the test
 * ends, the window closes, and the test fails on any error that `watchPage` reports. Can only be used inside a test.
 */
export async function openDashboard(p: OpenDashboard): Promise<OpenedDashboard> {
  const { service, path, window } = p;
  const { context, page } = window ? await openTab(window) : await openWindow(p);
  const watch = await watchPage(page, service.baseUrl);
  for (const fault of p.mayFail ?? []) watch.allow(fault);
  onTestFinished(async ({ task }) => {
    const faults = watch.faults();
    const failures = [...(task.result?.errors ?? []).map(({ message }) => message), ...faults];
    if (failures.length > 0) {
      const picture = await takeScreenshot(page, `failed-${Date.now()}`);
      const logged = service.warningLines?.slice(-WARNING_LINES_MAX) ?? [];
      const reasons = [...failures, ...logged].join('\n').slice(0, 4_000);
      console.error(`The screen of “${task.name}” is in ${picture}\n${reasons}`);
    }
    expect(faults, 'what the page did wrong').toEqual([]);
  });
  if (!window) await signIn(context, p);
  const open = async (to: string) => {
    await page.goto(`${service.baseUrl}/app${to}`);
    await watch.settled();
  };
  if (path !== undefined) await open(path);
  return { page, open, settled: watch.settled, mayFail: watch.allow };
}

/**
 * Opens a browser window for many tests. It is signed in once, and keeps its cache as a user's browser does. The caller
 * closes the window.
 */
export async function openSignedInWindow(
  p: Omit<OpenDashboard, 'path' | 'mayFail' | 'window'>,
): Promise<BrowserContext> {
  const context = await createContext(p);
  await signIn(context, p);
  return context;
}

async function signIn(
  context: BrowserContext,
  { service, project = service.one, as = 'OWNER', email }: OpenDashboard,
): Promise<void> {
  if (as === null) return;
  if (!project) throw new Error('openDashboard() needs a project to sign in to');
  const person = await buildPerson(service.db, project.id, as, email);
  const response = await context.request.post(`${service.baseUrl}/auth/login`, { data: person });
  expect(response.status(), await response.text()).toBe(200);
}

/** Opens a new page in an open window. The page is closed when the test ends. */
async function openTab(context: BrowserContext) {
  const page = await context.newPage();
  onTestFinished(() => page.close());
  return { context, page };
}

/** Opens a new window with a language and a time zone. The window is closed when the test ends. */
export async function openWindow(p: Pick<OpenDashboard, 'viewport' | 'dark'> = {}) {
  const context = await createContext(p);
  onTestFinished(() => context.close());
  return { context, page: await context.newPage() };
}

async function createContext({ viewport = 'desktop', dark = false }: Pick<OpenDashboard, 'viewport' | 'dark'>) {
  if (typeof found === 'string') throw new Error(found);
  const browser = await launchChromium(found);
  const context = await browser.newContext({
    viewport: VIEWPORTS[viewport],
    ...(viewport === 'phone' && { isMobile: true, hasTouch: true }),
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    locale: 'en-US',
    timezoneId: 'Europe/Berlin',
  });
  // Long enough for busy machines. An element that exists is found at once, so the limit only ends hangs.
  context.setDefaultTimeout(120_000);
  return context;
}

/**
 * Fails if axe finds a serious or critical violation on the whole page; with `isStrict`, any violation. `inside` limits
 * the check to a part of the page, `rules` to some rules.
 */
export async function expectNoSeriousAxeViolations(
  page: Page,
  { inside, rules, isStrict = false }: { inside?: string; rules?: readonly string[]; isStrict?: boolean } = {},
): Promise<void> {
  // Frames are excluded, because axe would have to run in each and merge their results in a second page.
  const axe = new AxeBuilder({ page }).setLegacyMode(true).options(AXE_OPTIONS).exclude('iframe');
  if (inside !== undefined) axe.include(inside);
  if (rules) axe.withRules([...rules]);
  const { violations } = await axe.analyze();
  const serious = violations
    .filter(({ impact }) => isStrict || impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, html, failureSummary }) => `${id}: ${target}: ${failureSummary} ${html.slice(0, 200)}`),
    );
  expect(serious, `serious findings of axe at ${page.url()}`).toEqual([]);
}

/** Fails if the page is wider than the window. Such a page scrolls sideways on a laptop, and a phone shows it small. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const readOverflow = () =>
    page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  // After a change of the window's size, the page needs time for its layout.
  const message = `pixels that ${page.url()} is wider than the window`;
  await expect.poll(readOverflow, { message }).toBeLessThanOrEqual(0);
}

/**
 * Saves a screenshot of the whole page, at most `maxHeight` pixels high, in the folder of the run or of the test.
 * Returns the path of the file.
 * @param p.settled waits until the parts that the larger window reveals are loaded
 */
export async function takeScreenshot(
  page: Page,
  name: string,
  {
    folder = inject('pictures'),
    maxHeight = 1_600,
    settled = async () => {},
  }: { folder?: string; maxHeight?: number; settled?: () => Promise<void> } = {},
): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.png`);
  const { width, height: least } = page.viewportSize() ?? VIEWPORTS.desktop;
  const whole = Number(await page.evaluate('document.documentElement.scrollHeight'));
  const height = Math.min(maxHeight, Math.max(least, whole));
  // Enlarges the window to the height of the screenshot, because some elements are drawn only when they are visible.
  await page.setViewportSize({ width, height });
  await waitForFrames(page);
  await settled();
  await waitForFrames(page);
  await Promise.all(page.frames().map((frame) => frame.waitForLoadState()));
  await page.screenshot({ path, animations: 'disabled' });
  await page.setViewportSize({ width, height: least });
  return path;
}

/** Waits until the page was drawn twice, so that it has noticed what is visible now. */
async function waitForFrames(page: Page): Promise<void> {
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
}

/** Chooses an option from the list of the input with this label. */
export async function chooseOption(page: Page, label: string, option: string | RegExp): Promise<void> {
  await page.getByRole('textbox', { name: label, exact: true }).click();
  await page.getByRole('option', { name: option, exact: typeof option === 'string' }).click();
}

/** Opens the "…" menu of a page, or of a part such as a row, and chooses an action. */
export async function chooseMenuAction(part: Page | Locator, action: string): Promise<void> {
  await part
    .getByRole('button', { name: /^More actions/ })
    .first()
    .click();
  const page = 'page' in part ? part.page() : part;
  await page.getByRole('menuitem', { name: action }).click();
}

/** Holds back the requests to these addresses. The returned function releases them, and lets later requests pass. */
export async function holdRequests(page: Page, addresses: string): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(addresses, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}
