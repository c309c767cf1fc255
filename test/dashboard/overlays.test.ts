import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  COLOR_RULES,
  chooseMenuAction,
  describeInBrowser,
  expectNoSeriousAxeViolations,
  openDashboard,
  type Page,
} from '../support/browser/browser.ts';
import { buildDashboardData, type DashboardData } from '../support/browser/dashboard-data.ts';
import { listScreens } from '../support/browser/dashboard-screens.ts';
import { createOperatorAddresses } from '../support/operator-addresses.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Two for the first attempt at the tests, and two for a second attempt. */
const operators = createOperatorAddresses(4);
/** Selects the buttons that open a menu or a list of choices. */
const MENUS = '[aria-haspopup=menu], [aria-haspopup=listbox]:is(button)';

/** How a dialog is opened: by a button, by an action of a "…" menu, or by a key. */
type Opener = { button: string | RegExp } | { more: string } | { key: string };

const DIALOGS: [screen: string, opener: Opener][] = [
  ['home', { key: '?' }],
  ['home', { key: '/' }],
  ['contacts', { button: 'Add contact' }],
  ['contact', { button: 'Send email' }],
  ['contact', { more: 'Change address' }],
  ['contact', { more: 'Delete' }],
  ['segment', { more: 'Delete' }],
  ['templates', { button: 'Create template' }],
  ['template', { button: 'Preview' }],
  ['template', { button: 'Send test' }],
  ['campaign-edit', { button: 'Preview' }],
  ['campaign-edit', { button: 'Send test' }],
  ['campaign-sent', { more: 'Delete' }],
  ['campaign-paused', { more: 'Cancel' }],
  ['automations', { button: 'Create automation' }],
  ['automation', { more: 'Delete automation' }],
  ['automation', { button: /^Add a step/ }],
  ['execution-waiting', { more: 'Cancel run' }],
  ['message', { button: 'Resend' }],
  ['message', { more: 'API example' }],
  ['developers-keys', { button: 'Create key' }],
  ['developers-keys', { more: 'Revoke key' }],
  ['developers-webhooks', { button: 'Create endpoint' }],
  ['developers-webhook', { more: 'Remove' }],
  ['developers-events', { button: 'Send test event' }],
  ['settings-domains', { button: 'Add domain' }],
  ['settings-domains', { more: 'Remove' }],
  ['settings-topics', { more: 'Edit' }],
  ['settings-topics', { more: 'Remove' }],
  ['operator-project', { more: 'Pause sending …' }],
];

describeInBrowser('menus and dialogs of the dashboard', () => {
  let service: TestService;
  let data: DashboardData;
  beforeAll(async () => {
    service = await startTestService({ OPERATORS: operators.all, PUBLIC_URL: 'http://mail.tidings.example' });
    data = await buildDashboardData(service);
  });
  afterAll(() => service?.close());

  it('menus of every kind on every screen pass the accessibility checker axe, in light and dark mode', async () => {
    const email = operators.next();
    const { page, open } = await openDashboard({ service, project: data.project, email });
    const kinds = new Set<string>();
    for (const { path } of listScreens(data)) {
      await open(path);
      for (const label of await listMenus(page)) {
        const kind = label.replace(/ for .*/, '');
        if (kinds.has(`${kind} ${path.split('/')[1]}`)) continue;
        kinds.add(`${kind} ${path.split('/')[1]}`);
        await page.getByRole('button', { name: label, exact: true }).first().click();
        await page.locator('[role=menu], [role=listbox], [role=dialog]').filter({ visible: true }).first().waitFor();
        await expectNoViolationsInBothModes(page);
        await page.keyboard.press('Escape');
      }
    }
    expect(kinds.size).toBeGreaterThan(12);
  });

  it('dialogs of every kind pass the accessibility checker axe, in light and dark mode, and close with Escape', async () => {
    const email = operators.next();
    const { page, open } = await openDashboard({ service, project: data.project, email });
    const paths = new Map(listScreens(data).map(({ name, path }) => [name, path]));
    for (const [screen, opener] of DIALOGS) {
      await open(String(paths.get(screen)));
      await openDialog(page, opener);
      const dialog = page.getByRole('dialog').filter({ visible: true });
      await dialog.first().waitFor();
      await expectNoViolationsInBothModes(page);
      // Pressing Escape first closes an open list of choices.
      await page.keyboard.press('Escape');
      if (await dialog.first().isVisible()) await page.keyboard.press('Escape');
      await dialog.first().waitFor({ state: 'detached' });
    }
  });
});

/** Dark mode only changes colors, so only rules about colors are checked a second time. */
async function expectNoViolationsInBothModes(page: Page): Promise<void> {
  await expectNoSeriousAxeViolations(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectNoSeriousAxeViolations(page, { rules: COLOR_RULES });
  await page.emulateMedia({ colorScheme: 'light' });
}

async function openDialog(page: Page, opener: Opener): Promise<void> {
  if ('key' in opener) await page.keyboard.press(opener.key);
  else if ('more' in opener) await chooseMenuAction(page.getByRole('main'), opener.more);
  else await page.getByRole('main').getByRole('button', { name: opener.button }).first().click();
}

/** Returns the names of the buttons that open a menu. */
async function listMenus(page: Page): Promise<string[]> {
  const buttons = await page.locator(MENUS).filter({ visible: true }).all();
  const names = await Promise.all(
    buttons.map(async (button) => (await button.getAttribute('aria-label')) ?? (await button.textContent()) ?? ''),
  );
  return [...new Set(names.map((name) => name.trim()).filter(Boolean))];
}
