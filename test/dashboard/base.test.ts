import { afterAll, beforeAll, expect, it } from 'vitest';
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
});
