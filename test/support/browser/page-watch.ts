import type { ConsoleMessage, Page, Request } from 'playwright-core';
import { until } from '../until.ts';

/** A page that makes no request for this time counts as quiet. */
const QUIET_MS = 120;
/** Tells whether the page has loaded its data. */
const IS_READY = `document.querySelector('h1') !== null && document.querySelector('[aria-busy=true]') === null`;
/** Reports violations of the page's own document only. Emails in frames are expected to violate the policy. */
const REPORT_VIOLATIONS = `if (window === window.top) document.addEventListener('securitypolicyviolation', (event) =>
  console.error('CSP: ' + event.effectiveDirective + ' refused ' + (event.blockedURI || 'inline')));`;
/**
 * Console messages that the watch reports in another way (failed requests and violations), and messages about scripts
 * that a frame refuses to run.
 */
const REPORTED_ELSEWHERE =
  /^Failed to load resource|Content Security Policy|^Blocked script execution in 'about:srcdoc'/;

/** Watches a page for errors. */
export interface PageWatch {
  /** Unexpected errors, in order. */
  faults(): string[];
  /** Permits matching errors from now on. */
  allow(fault: RegExp): void;
  /** Waits until the page has a heading, has loaded its data, and makes no requests. */
  settled(): Promise<void>;
}

/**
 * Records uncaught errors, errors in the console, violations of the policy, dialogs, refused or failed requests, and
 * requests to another origin than the service's.
 */
export async function watchPage(page: Page, baseUrl: string): Promise<PageWatch> {
  const faults: string[] = [];
  const allowed: RegExp[] = [];
  const open = new Set<Request>();
  let lastAt = Date.now();
  const describeRequest = (request: Request) => `${request.method()} ${request.url().replace(baseUrl, '')}`;
  const noteRequestEnd = (request: Request) => {
    open.delete(request);
    lastAt = Date.now();
  };

  page.on('pageerror', (error) => faults.push(`error: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (isError(message)) faults.push(`console: ${message.text()}`);
  });
  page.on('dialog', async (dialog) => {
    if (dialog.type() !== 'beforeunload') faults.push(`dialog: ${dialog.message()}`);
    await dialog.accept();
  });
  page.on('request', (request) => {
    open.add(request);
    lastAt = Date.now();
    if (!isServiceUrl(request.url(), baseUrl)) faults.push(`foreign: ${describeRequest(request)}`);
  });
  page.on('requestfinished', noteRequestEnd);
  page.on('requestfailed', (request) => {
    noteRequestEnd(request);
    const why = request.failure()?.errorText ?? '';
    if (!isIntendedFailure(why, request, page)) faults.push(`request: ${describeRequest(request)}: ${why}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400)
      faults.push(`response: ${response.status()} to ${describeRequest(response.request())}`);
  });
  await page.addInitScript(REPORT_VIOLATIONS);

  return {
    faults: () => faults.filter((fault) => !allowed.some((pattern) => pattern.test(fault))),
    allow: (fault) => void allowed.push(fault),
    settled: async () => {
      await until(
        async () =>
          open.size === 0 && Date.now() - lastAt >= QUIET_MS && (await page.evaluate(IS_READY).catch(() => false)),
        `${page.url()} to settle`,
        { reasonToStop: () => (faults.length > 0 && page.isClosed() ? faults.join('\n') : undefined) },
      );
    },
  };
}

function isError(message: ConsoleMessage): boolean {
  return message.type() === 'error' && !REPORTED_ELSEWHERE.test(message.text());
}

function isServiceUrl(url: string, baseUrl: string): boolean {
  return url.startsWith(`${baseUrl}/`) || /^(data|blob|about):/.test(url);
}

/**
 * Tells whether a request failed as intended: the page navigated away, or the browser blocked an image of an email
 * because the response is not an image (Opaque Response Blocking).
 */
function isIntendedFailure(why: string, request: Request, page: Page): boolean {
  return why === 'net::ERR_ABORTED' || (why === 'net::ERR_BLOCKED_BY_ORB' && request.frame() !== page.mainFrame());
}
