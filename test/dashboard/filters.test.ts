import { afterAll, beforeAll, expect, it } from 'vitest';
import { chooseOption, describeInBrowser, openDashboard, type Page } from '../support/browser/browser.ts';
import { buildDashboardData, type DashboardData } from '../support/browser/dashboard-data.ts';
import { createOperatorAddresses } from '../support/operator-addresses.ts';
import { startTestService, type TestService } from '../support/service.ts';

const operators = createOperatorAddresses(2);

interface FilteredList {
  path: (data: DashboardData) => string;
  choose: (page: Page, data: DashboardData) => Promise<unknown>;
  /** The query of the URL after the choice. */
  search: string | ((data: DashboardData) => string);
  /** Reads the filter's field. */
  read: (page: Page) => Promise<unknown>;
  /** True for lists of operators. */
  operator?: true;
}

const LISTS: Record<string, FilteredList> = {
  contacts: createTextFilter('/contacts', 'Search name or email', 'a', '?search=a'),
  campaigns: createTextFilter('/campaigns', 'Search', 'e', '?search=e'),
  automations: createTextFilter('/automations', 'Search', 'e', '?search=e'),
  segments: createTextFilter('/segments', 'Search segments', 'e', '?q=e'),
  'segments of a type': createSelectFilter('/segments', 'Type', 'Dynamic', '?type=DYNAMIC'),
  templates: createTextFilter('/templates', 'Search', 'e', '?search=e'),
  'templates of a type': createSelectFilter('/templates', 'Type', 'Marketing', '?type=MARKETING'),
  images: createSegmentedFilter('/templates/pictures', 'Images', 'Unused', '?used=false'),
  deliveries: createSegmentedFilter(
    ({ webhookIds }) => `/developers/webhooks/${webhookIds[1]}`,
    'Status of deliveries',
    'Pending',
    '?status=PENDING',
  ),
  'the suppression list': {
    ...createTextFilter('/settings/suppressions', 'Search by address', '', ''),
    choose: (page, data) => page.getByLabel('Search by address').fill(getSuppressedAddress(data)),
    search: (data) => `?email=${encodeURIComponent(getSuppressedAddress(data))}`,
  },
  'an operator’s projects': {
    ...createTextFilter('/operator/projects', 'Search by name, owner or ID', 'Tea', '?q=Tea'),
    operator: true,
  },
  'an operator’s projects that send': {
    ...createSelectFilter('/operator/projects', 'Sending', 'Not paused', '?held=false'),
    operator: true,
  },
  events: createTextFilter('/developers/events', 'Event name', 'sign', '?q=sign'),
  'sent emails': createNativeSelectFilter('/messages', 'Status', 'Sent', '?status=SENT'),
  'sent SMS': createNativeSelectFilter('/messages/sms', 'Status', 'Sent', '?status=SENT'),
  requests: createSelectFilter('/developers/requests', 'Method', 'POST', '?method=POST'),
  'an automation’s runs': createNativeSelectFilter(
    ({ workflows }) => `/messages/executions/${workflows.welcome.id}`,
    'Status',
    'Waiting',
    '?status=WAITING',
  ),
  'a campaign’s recipients': createSelectFilter(
    ({ campaigns }) => `/campaigns/${campaigns.SENT}/recipients`,
    'Status',
    'Opened',
    '?outcome=opened',
  ),
};

describeInBrowser('the filters of a list', () => {
  let service: TestService;
  let data: DashboardData;
  beforeAll(async () => {
    service = await startTestService({ OPERATORS: operators.all });
    data = await buildDashboardData(service);
  });
  afterAll(() => service?.close());

  it.each(Object.entries(LISTS))('are kept in the URL, by a reload and by the Back button: %s', async (_, list) => {
    const path = list.path(data);
    const search = typeof list.search === 'string' ? list.search : list.search(data);
    const email = list.operator && operators.next();
    const { page, settled } = await openDashboard({ service, project: data.project, path, email });
    const all = await countRecords(page);
    await list.choose(page, data);
    await page.waitForURL((url) => url.search === search);
    await settled();
    const value = await list.read(page);
    const shown = await countRecords(page);
    expect(shown).toBeGreaterThan(0);
    expect(shown).toBeLessThanOrEqual(all);
    const isAsChosen = async () => {
      await settled();
      expect(await list.read(page)).toBe(value);
      expect(await countRecords(page)).toBe(shown);
    };
    await page.reload();
    await isAsChosen();
    await leaveList(page);
    await page.waitForURL((url) => url.search !== search || !url.pathname.endsWith(path));
    await settled();
    await page.goBack();
    await page.waitForURL((url) => url.search === search);
    await isAsChosen();
  });

  it.each([
    ['/contacts', 'Search name or email'],
    ['/campaigns', 'Search'],
  ])('keep the space that is typed before a pause: %s', async (path, label) => {
    const { page, settled } = await openDashboard({ service, project: data.project, path });
    const field = page.getByRole('main').getByLabel(label, { exact: true });
    const waitForSearch = (search: string) => page.waitForURL((url) => url.searchParams.get('search') === search);
    await field.focus();
    await page.keyboard.type('a ');
    await waitForSearch('a');
    await settled();
    await page.keyboard.type('b');
    expect(await field.inputValue()).toBe('a b');
    await waitForSearch('a b');
    await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Home', exact: true }).click();
    await page.waitForURL((url) => !url.searchParams.has('search'));
    await page.goBack();
    await waitForSearch('a b');
    expect(await field.inputValue()).toBe('a b');
  });
});

/** Opens the first record of the list, or Home if the records are not links. */
async function leaveList(page: Page): Promise<void> {
  const records = page.getByRole('main').locator('tbody tr a:first-of-type, ul li a');
  const home = page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Home', exact: true });
  await ((await records.count()) > 0 ? records.first() : home).click();
}

function countRecords(page: Page): Promise<number> {
  return page.getByRole('main').locator('tbody tr, ul li').count();
}

/** The address of the first entry that `buildSegmentsAndTopics` adds to the suppression list. */
function getSuppressedAddress({ contacts }: DashboardData): string {
  return contacts[5]?.email ?? '';
}

/** A list with a text field. */
function createTextFilter(path: string, label: string, words: string, search: string): FilteredList {
  const find = (page: Page) => page.getByRole('main').getByLabel(label, { exact: true });
  return {
    path: () => path,
    choose: (page) => find(page).fill(words),
    search,
    read: (page) => find(page).inputValue(),
  };
}

/** A list with a select of Mantine. */
function createSelectFilter(
  path: string | FilteredList['path'],
  label: string,
  option: string,
  search: string,
): FilteredList {
  return {
    path: typeof path === 'string' ? () => path : path,
    choose: (page) => chooseOption(page, label, option),
    search,
    read: (page) => page.getByRole('textbox', { name: label, exact: true }).inputValue(),
  };
}

/** A list with a segmented control. */
function createSegmentedFilter(
  path: string | FilteredList['path'],
  label: string,
  option: string,
  search: string,
): FilteredList {
  const find = (page: Page) => page.getByRole('radiogroup', { name: label, exact: true });
  return {
    path: typeof path === 'string' ? () => path : path,
    choose: (page) => find(page).getByText(option, { exact: true }).click(),
    search,
    read: (page) => find(page).locator('input:checked').inputValue(),
  };
}

/** A list with a native select. */
function createNativeSelectFilter(
  path: string | FilteredList['path'],
  label: string,
  option: string,
  search: string,
): FilteredList {
  const find = (page: Page) => page.getByRole('main').getByLabel(label, { exact: true });
  return {
    path: typeof path === 'string' ? () => path : path,
    choose: (page) => find(page).selectOption(option),
    search,
    read: (page) => find(page).inputValue(),
  };
}
