import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import type { Db } from '../../db/connection.ts';
import type { Role } from '../../rules/access/scopes.ts';
import { findChromium, launchChromium } from './chromium.ts';
import { watchPage } from './page-watch.ts';
import { buildPerson } from './person.ts';

export type { Page } from 'playwright-core';

/** Common sizes of a laptop and of a phone, CSS pixels. */
export const VIEWPORTS = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const;
/** Where `screenshot` puts its pictures, unless a test says where. */
const PICTURES = join(tmpdir(), 'tidings-screens');

const found = await findChromium();
const missing = typeof found === 'string' ? found : undefined;

/** `describe` for tests that need a browser: left out where there is none, with a name that says why. */
export function describeInBrowser(name: string, tests: () => void): void {
  describe.skipIf(missing)(`${name}${missing ? ` (left out: ${missing})` : ''}`, tests);
}

/**
 * Any service that listens and whose database the test reaches: `startTestService()`, `startTestApi()` behind a port,
 * or `npm start`.
 */
export interface DashboardService {
  baseUrl: string;
  db: Db;
}

export interface OpenDashboard {
  service: DashboardService & { one?: { id: string } };
  /** The project to sign in to; `service.one` unless another is given. */
  project?: { id: string };
  /** Signs a new person of this role in; null leaves the browser signed out. OWNER unless said otherwise. */
  as?: Role | null;
  /** The address of that person, where it matters. */
  email?: string | undefined;
  /** Within the app: `/contacts?search=ada`. Nothing is opened without. */
  path?: string;
  viewport?: keyof typeof VIEWPORTS;
  dark?: boolean;
  /** Faults that belong to what is tested: `/answer: 404 to GET .contacts/`. */
  mayFail?: readonly RegExp[];
}

export interface OpenedDashboard {
  page: Page;
  /** Opens a path of the app, and waits until it has settled. */
  open(path: string): Promise<void>;
  /** Waits until the screen has a heading and reads nothing any more. */
  settled(): Promise<void>;
  /** Expects faults of a kind from now on: `/answer: 409/`. */
  mayFail(fault: RegExp): void;
}

/**
 * A browser window on the dashboard, with nothing kept from before, signed in by the login of the API. When the test
 * ends the window closes, and the test fails on anything that `watchPage` noted. Only inside of a test.
 */
export async function openDashboard(p: OpenDashboard): Promise<OpenedDashboard> {
  const { service, project = service.one, as = 'OWNER', path } = p;
  const { context, page } = await newWindow(p);
  const watch = await watchPage(page, service.baseUrl);
  for (const fault of p.mayFail ?? []) watch.allow(fault);
  onTestFinished(async ({ task }) => {
    const faults = watch.faults();
    const failures = [...(task.result?.errors ?? []).map(({ message }) => message), ...faults];
    if (failures.length > 0) {
      const picture = await screenshot(page, `failed-${Date.now()}`);
      console.error(`The screen of “${task.name}” is in ${picture}\n${failures.join('\n').slice(0, 2_000)}`);
    }
    expect(faults, 'what the page did wrong').toEqual([]);
  });
  if (as !== null) {
    if (!project) throw new Error('openDashboard() needs a project to sign in to');
    const person = await buildPerson(service.db, project.id, as, p.email);
    const answer = await context.request.post(`${service.baseUrl}/auth/login`, { data: person });
    expect(answer.status(), await answer.text()).toBe(200);
  }
  const open = async (to: string) => {
    await page.goto(`${service.baseUrl}/app${to}`);
    await watch.settled();
  };
  if (path !== undefined) await open(path);
  return { page, open, settled: watch.settled, mayFail: watch.allow };
}

/**
 * An empty window with nothing kept from before, as everybody's browser would be: one language, one zone. It closes
 * with the test.
 */
export async function newWindow({ viewport = 'desktop', dark = false }: Pick<OpenDashboard, 'viewport' | 'dark'> = {}) {
  if (typeof found === 'string') throw new Error(found);
  const browser = await launchChromium(found);
  const context = await browser.newContext({
    viewport: VIEWPORTS[viewport],
    ...(viewport === 'phone' && { isMobile: true, hasTouch: true }),
    ...{ colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce', locale: 'en-US', timezoneId: 'Europe/Berlin' },
  });
  onTestFinished(() => context.close());
  // Generous for a busy machine; what is there is found at once.
  context.setDefaultTimeout(15_000);
  return { context, page: await context.newPage() };
}

/** Fails on what axe calls serious or critical, on the whole page; `inside` narrows it to a part. */
export async function expectNoSeriousAxe(page: Page, inside?: string): Promise<void> {
  const axe = new AxeBuilder({ page }).exclude('iframe');
  const { violations } = await (inside === undefined ? axe : axe.include(inside)).analyze();
  const serious = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, html, failureSummary }) => `${id}: ${target}: ${failureSummary} ${html.slice(0, 200)}`),
    );
  expect(serious, `serious findings of axe at ${page.url()}`).toEqual([]);
}

/** Fails where the page is wider than the window: then it scrolls sideways, and a phone shows it small. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const beyond = () => page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  // After a change of size the page takes a moment to find its form.
  const message = `pixels that ${page.url()} is wider than the window`;
  await expect.poll(beyond, { message, timeout: 3_000 }).toBeLessThanOrEqual(0);
}

/** Writes a picture of the page, to its end but at most `maxHeight` pixels; answers the file's path. */
export async function screenshot(
  page: Page,
  name: string,
  { folder = PICTURES, maxHeight = 1_600 }: { folder?: string; maxHeight?: number } = {},
): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.png`);
  const { width, height: least } = page.viewportSize() ?? VIEWPORTS.desktop;
  const whole = Number(await page.evaluate('document.documentElement.scrollHeight'));
  const height = Math.min(maxHeight, Math.max(least, whole));
  await page.screenshot({ path, fullPage: true, animations: 'disabled', clip: { x: 0, y: 0, width, height } });
  return path;
}
