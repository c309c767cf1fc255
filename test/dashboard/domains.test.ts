import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildDomain } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import {
  describeInBrowser,
  expectNoSeriousAxeViolations,
  expectNoSidewaysScroll,
  openDashboard,
  VIEWPORTS,
} from '../support/browser/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

describeInBrowser('domains in a browser', () => {
  let service: TestService;
  beforeAll(async () => {
    // With a loopback address the service has no DNS records to publish.
    service = await startTestService({ SIGNUP: 'off', PUBLIC_URL: 'http://mail.tidings.example' });
  });
  afterAll(() => service?.close());

  it('DNS records are a table on a laptop and a list on a phone, with the published values', async () => {
    const project = await buildProject(service.db, 'The shop');
    const { id } = await buildDomain(service.db, {
      projectId: project.id,
      domain: 'new.example.com',
      status: 'PENDING',
    });
    await service.db
      .updateTable('domains')
      .set({
        found: JSON.stringify({ DKIM: false, SPF: true, DMARC: false }),
        seen: JSON.stringify({ DKIM: ['v=DKIM1; p=old'], SPF: ['v=spf1 ~all'], DMARC: [] }),
      })
      .where('id', '=', id)
      .execute();
    const { page } = await openDashboard({ service, project, path: '/settings/domains' });
    const records = page.getByRole('table', { name: 'DNS records of new.example.com' });
    await records.getByRole('row', { name: /^DKIM/ }).getByText('Wrong value').waitFor();
    await records.getByRole('row', { name: /^DKIM/ }).getByText('v=DKIM1; p=old').waitFor();
    await records.getByRole('row', { name: /^SPF/ }).getByText('Found').waitFor();
    await records
      .getByRole('row', { name: /^DMARC/ })
      .getByText('Recommended')
      .waitFor();
    // On a laptop, a host name takes at most two lines, and a word of a status one.
    for (const row of (await records.getByRole('row').all()).slice(1)) {
      expect((await row.locator('td').nth(1).locator('code').boundingBox())?.height).toBeLessThan(40);
      expect((await row.locator('.status-word').boundingBox())?.height).toBeLessThan(36);
    }
    await expectNoSeriousAxeViolations(page);
    await page.setViewportSize(VIEWPORTS.phone);
    await expectNoSidewaysScroll(page);
    await expectNoSeriousAxeViolations(page);
    // On a phone, copy buttons are large enough for a thumb, a key takes three lines, and copying it copies the whole
    // key.
    const copy = records.getByRole('row', { name: /^DKIM/ }).getByRole('button', { name: 'Copy value' });
    const { width, height } = (await copy.boundingBox()) ?? { width: 0, height: 0 };
    expect(Math.min(width, height)).toBeGreaterThanOrEqual(40);
    const key = records.getByRole('row', { name: /^DKIM/ }).locator('td').nth(2).locator('code').first();
    expect((await key.boundingBox())?.height).toBeLessThanOrEqual(54);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await copy.click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await key.textContent());
  });
});
