import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageRoot } from '../../cli/package-root.ts';
import {
  describeInBrowser,
  expectNoSeriousAxeViolations,
  expectNoSidewaysScroll,
  openDashboard,
} from '../support/browser/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

describeInBrowser('the dashboard in a browser', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service?.close());

  it('redirects a signed-out user to the sign-in page', async () => {
    const { page, settled } = await openDashboard({
      service,
      as: null,
      path: '/contacts?search=ada',
      mayFail: [/response: 401 to GET \/auth\/me/],
    });
    expect(new URL(page.url()).pathname).toBe('/app/sign-in');
    await expectNoSeriousAxeViolations(page);
    await settled();
  });

  it.each(['desktop', 'phone'] as const)('shows the home page of the signed-in user on a %s', async (viewport) => {
    const { page } = await openDashboard({ service, path: '/', viewport });
    expect(new URL(page.url()).pathname).toBe('/app/');
    await expectNoSeriousAxeViolations(page);
    await expectNoSidewaysScroll(page);
  });

  it('names its release and links to the API reference in the account menu', async () => {
    const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));
    const { page } = await openDashboard({ service, path: '/' });
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByText(`Tidings ${version}`).waitFor();
    expect(await page.getByRole('menuitem', { name: 'API reference' }).getAttribute('href')).toBe('/docs');
  });

  it.each(['Control+k', '/'])('opens the search with %s', async (keys) => {
    const { page, settled } = await openDashboard({ service, path: '/' });
    await settled();
    await page.keyboard.press(keys);
    await page.getByPlaceholder('Search or paste an ID').waitFor();
  });
});
