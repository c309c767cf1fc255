import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, openDashboard, type Page } from '../support/browser/browser.ts';
import { buildDashboardData, type DashboardData } from '../support/browser/dashboard-data.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** The focused element: its name, whether it is in the menu or a dialog, and whether a user can see the focus. */
interface Focus {
  name: string;
  inMenu: boolean;
  inDialog: boolean;
  isSeen: boolean;
}

/** Reads the focused element. The focus ring may be around a part of the control, such as the track of a switch. */
const READ_FOCUS = `(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const hasRing = (one) => {
    const { outlineStyle, outlineWidth, boxShadow, strokeWidth } = getComputedStyle(one);
    const isThick = one.matches('.react-flow__edge-path') && parseFloat(strokeWidth) >= 3;
    return isThick || (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
  };
  // A focused field has a border of another color, and an email in a frame marks its own text.
  const isMarked = element.matches('input, textarea, select, [contenteditable], iframe');
  const near = [element, ...element.querySelectorAll('*'), element.nextElementSibling, element.parentElement];
  const { left, top, width, height } = element.getBoundingClientRect();
  const isInWindow = top + height > 0 && top < innerHeight && left + width > 0 && left < innerWidth;
  return {
    name: (element.getAttribute('aria-label') ?? element.innerText ?? element.id ?? '').trim().slice(0, 60) || element.outerHTML.slice(0, 80),
    inMenu: element.closest('nav') !== null,
    inDialog: element.closest('[role=dialog]') !== null,
    isSeen: isInWindow && (isMarked || near.some((one) => one && hasRing(one))),
  };
})()`;

async function pressTab(page: Page, key = 'Tab'): Promise<Focus | null> {
  await page.keyboard.press(key);
  return page.evaluate<Focus | null>(READ_FOCUS);
}

/** Presses Tab until the focus leaves the page, at most `most` times. */
async function pressTabThroughPage(page: Page, most: number): Promise<Focus[]> {
  const seen: Focus[] = [];
  for (let n = 0; n < most; n += 1) {
    const focus = await pressTab(page);
    if (!focus) break;
    seen.push(focus);
  }
  return seen;
}

const listUnseenNames = (all: readonly Focus[]) => all.filter(({ isSeen }) => !isSeen).map(({ name }) => name);

describeInBrowser('the keyboard focus in the dashboard', () => {
  let service: TestService;
  let data: DashboardData;
  beforeAll(async () => {
    service = await startTestService();
    data = await buildDashboardData(service);
  });
  afterAll(() => service?.close());

  it('reaches the menu and a list, with a visible focus at every stop', async () => {
    const { project } = data;
    const { page, settled } = await openDashboard({ service, project, path: '/contacts' });
    await page.getByRole('link', { name: String(data.contacts[0]?.email) }).waitFor();
    const links = await page.getByRole('navigation', { name: 'Menu' }).getByRole('link').allInnerTexts();
    const stops = await pressTabThroughPage(page, 60);
    expect(listUnseenNames(stops), 'focused, but nothing shows it').toEqual([]);
    const names = stops.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(links.map((name) => name.trim())));
    expect(names).toEqual(expect.arrayContaining(['Import', 'Add contact', 'Search name or email', 'Columns']));
    // Enter opens the focused link. The focus is visible at every stop of the new page too.
    await page.getByRole('link', { name: String(data.contacts[0]?.email) }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/contacts/${data.contacts[0]?.id}`);
    await page.getByRole('heading', { level: 2 }).first().waitFor();
    await settled();
    expect(listUnseenNames(await pressTabThroughPage(page, 45))).toEqual([]);
  });

  it('stays in a dialog until Escape closes it, and then returns to the element that opened it', async () => {
    const { project } = data;
    const { page } = await openDashboard({ service, project, path: '/contacts' });
    const add = page.getByRole('button', { name: 'Add contact' });
    await add.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    const stops = await pressTabThroughPage(page, 12);
    expect(stops).toHaveLength(12);
    expect(stops.filter(({ inDialog }) => !inDialog)).toEqual([]);
    expect(listUnseenNames(stops)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate<Focus | null>(READ_FOCUS)).toMatchObject({ name: 'Add contact' });
    // Keys open a menu, move in it, and close it.
    const more = page.getByRole('button', { name: 'More actions' }).first();
    await more.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menu').waitFor();
    // An open menu takes the focus a moment later. A key before that moment still goes to the button.
    const moveDown = async () => {
      await page.keyboard.press('ArrowDown');
      return page.evaluate(`document.activeElement.getAttribute('role')`);
    };
    await expect.poll(moveDown).toBe('menuitem');
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
  });

  it('returns to the button that opened a dialog, also if the dialog exists only while it is open', async () => {
    const { project, campaigns } = data;
    const { page, settled } = await openDashboard({ service, project, path: `/campaigns/${campaigns.DRAFT}/edit` });
    for (const name of ['Send test', 'Preview']) {
      await settled();
      await page.getByRole('button', { name, exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await expect.poll(() => page.evaluate<Focus | null>(READ_FOCUS)).toMatchObject({ name, isSeen: true });
    }
  });

  it.each(['/campaigns/new', '/segments/new'])('starts in the name field at %s', async (path) => {
    const { page } = await openDashboard({ service, project: data.project, path });
    await page.keyboard.type('Typed at once');
    expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('Typed at once');
  });

  it.each([
    ['the editor of automations', (d: DashboardData) => `/automations/${d.workflows.welcome.id}`],
    ['the editor of campaigns', (d: DashboardData) => `/campaigns/${d.campaigns.DRAFT}/edit`],
    ['the editor of templates', (d: DashboardData) => `/templates/${d.templateIds[1]}`],
  ])('is visible at the first 40 stops in %s', async (_, pathOf) => {
    const { page, settled } = await openDashboard({ service, project: data.project, path: pathOf(data) });
    await page.getByRole('heading', { level: 1 }).waitFor();
    await settled();
    const stops = await pressTabThroughPage(page, 40);
    expect(stops.length).toBeGreaterThan(10);
    expect(listUnseenNames(stops), 'focused, but nothing shows it').toEqual([]);
  });
});
