import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, openWindow } from '../support/browser/browser.ts';
import { watchPage } from '../support/browser/page-watch.ts';

/**
 * A page that does everything that the watch must report. The policy permits its file `/bad.js`, but not its inline
 * script.
 */
const PAGE = `<!doctype html><html lang="en"><title>Bad</title><h1>Bad</h1><img src="/missing.png" alt="">
<script>document.title = 'ran'</script><script src="/bad.js"></script></html>`;
const SCRIPT = `console.error('complains'); alert('asks'); setTimeout(() => { throw new Error('nobody catches') }, 0);
fetch('http://127.0.0.1:9/elsewhere').catch(() => {});`;

describeInBrowser('a page that is watched', () => {
  let server: Server;
  let baseUrl: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const isScript = request.url === '/bad.js';
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.setHeader('content-security-policy', "script-src 'self'");
      response.writeHead(request.url === '/missing.png' ? 404 : 200).end(isScript ? SCRIPT : PAGE);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server?.closeAllConnections();
    server?.close();
  });

  it('the page watch reports errors, dialogs, violations of the policy, and failed or foreign requests, but nothing that is allowed', async () => {
    const { page } = await openWindow();
    const watch = await watchPage(page, baseUrl);
    watch.allow(/^request: /);
    await page.goto(`${baseUrl}/`);
    await watch.settled();
    const faults = watch.faults().join('\n');
    for (const kind of [
      ...[/^error: Error: nobody catches/m, /^console: complains/m, /^dialog: asks/m],
      ...[
        /^console: CSP: script-src\S* refused inline/m,
        /^response: 404 to GET \/missing.png/m,
        /^foreign: GET http/m,
      ],
    ])
      expect(faults).toMatch(kind);
    expect(faults).not.toMatch(/^request: /m);
    expect(await page.title()).toBe('Bad');
  });
});
