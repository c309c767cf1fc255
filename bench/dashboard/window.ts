import type { Browser, BrowserContext, Page, Request } from 'playwright-core';

/** The size of a laptop's window. */
const VIEWPORT = { width: 1280, height: 800 };
/** The longest wait for a screen. This is enough on a busy machine too, so a screen that needs longer has a bug. */
const WAIT_MS = 60_000;

/** The cookies and storage of a signed-in window. */
export type BrowserSession = Awaited<ReturnType<BrowserContext['storageState']>>;

/** A window of the browser, which records the duration of its requests. */
export interface Window {
  context: BrowserContext;
  page: Page;
  /**
   * Returns the durations of requests whose path matches, in ms from the request to the last byte, in the order in
   * which the requests finished.
   */
  requestMs(path: RegExp): number[];
  /**
   * Measures a wait: the total time, and the CPU time of the page, which does not depend on other work on the machine.
   */
  wait(work: () => Promise<unknown>): Promise<PageWait>;
}

export interface PageWait {
  ms: number;
  /** Processor time of the page's own thread. */
  pageMs: number;
}

/** Opens a window without cache and cookies, except a session if one is given. */
export async function openWindow(browser: Browser, session?: BrowserSession): Promise<Window> {
  const context = await browser.newContext({ viewport: VIEWPORT, locale: 'en-US', storageState: session });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const finished: { path: string; ms: number }[] = [];
  const devtools = await context.newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const readComputedMs = async () => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000;
  };
  page.on('requestfinished', (request) => finished.push({ path: getPath(request), ms: request.timing().responseEnd }));
  return {
    context,
    page,
    requestMs: (path) => finished.filter((one) => path.test(one.path)).map(({ ms }) => ms),
    async wait(work) {
      const [computed, from] = [await readComputedMs(), performance.now()];
      await work();
      const ms = performance.now() - from;
      const now = await readComputedMs();
      // If `work` opened a page in a new process, the counter of this process started at 0.
      return { ms, pageMs: now < computed ? now : now - computed };
    },
  };
}

/** Returns a percentile of the values; NaN without values. */
export function computePercentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Returns a row of the table: the name of these waits of the browser, and their durations. */
export function toTableRow(what: string, waits: readonly (Pick<PageWait, 'ms'> & Partial<PageWait>)[]) {
  const of = (key: keyof PageWait, share: number) => {
    const values = waits.flatMap((wait) => wait[key] ?? []);
    return values.length > 0 ? Math.round(computePercentile(values, share)) : undefined;
  };
  return { what, 'p50 ms': of('ms', 0.5), 'worst ms': of('ms', 1), 'page CPU p50 ms': of('pageMs', 0.5) };
}

function getPath(request: Request): string {
  return new URL(request.url()).pathname;
}
