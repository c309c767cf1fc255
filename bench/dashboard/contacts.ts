import type { Page } from 'playwright-core';
import { type PageWait, toTableRow, type Window } from './window.ts';

/** A condition that 1 % of the contacts match. */
const CONDITION = {
  logic: 'AND',
  groups: [{ filters: [{ field: 'data.company', operator: 'equals', value: 'Analytical Engines 7' }] }],
};
/** The time from the last key press in the search field to its request. The result does not include this time. */
const TYPING_MS = 300;

/**
 * Measures waiting times in a list of contacts: until the first rows and the total appear, until more rows are loaded,
 * and until the rows of a search and of a condition appear.
 */
export async function measureContactList(
  { page, requestMs, wait }: Window,
  p: { baseUrl: string; total: number; rounds: number },
) {
  const times = new Map<string, PageWait[]>();
  const measureAndRecord = async (what: string, work: () => Promise<unknown>, waitedMs = 0) => {
    const { ms, pageMs } = await wait(work);
    times.set(what, [...(times.get(what) ?? []), { ms: ms - waitedMs, pageMs }]);
  };
  const waitForText = (text: string) => page.getByText(text).waitFor();
  const all = p.total.toLocaleString('en-US');
  for (let round = 0; round < p.rounds; round += 1) {
    await measureAndRecord('contacts: opened', async () => {
      await page.goto(`${p.baseUrl}/app/contacts`, { waitUntil: 'commit' });
      await page.locator('tbody tr').nth(49).waitFor();
    });
    await waitForText(`50 of ${all} shown`);
    await page.getByRole('button', { name: 'Show more' }).scrollIntoViewIfNeeded();
    await measureAndRecord('contacts: next page', async () => {
      await page.getByRole('button', { name: 'Show more' }).click();
      await waitForText(`100 of ${all} shown`);
    });
    const search = page.getByLabel('Search by address');
    await measureAndRecord(
      'contacts: part of an address',
      async () => {
        await search.fill(`77${round}@load`);
        await waitForChange(page, ` of ${all} shown`);
      },
      TYPING_MS,
    );
    await measureAndRecord('contacts: condition in the URL, including the app', async () => {
      const condition = encodeURIComponent(JSON.stringify(CONDITION));
      await page.goto(`${p.baseUrl}/app/contacts?condition=${condition}`, { waitUntil: 'commit' });
      await page.locator('tbody tr').nth(49).waitFor();
    });
    await waitForText(`50 of ${(p.total / 100).toLocaleString('en-US')} shown`);
  }
  const requests = requestMs(/\/contacts$/).map((ms) => ({ ms }));
  return [
    ...[...times].map(([what, ms]) => toTableRow(what, ms)),
    toTableRow(`contacts: the ${requests.length} requests of the list`, requests),
  ];
}

async function waitForChange(page: Page, from: string): Promise<void> {
  await page
    .getByText(/^\d[\d,]* of [\d,]+ shown$/)
    .and(page.locator(`:not(:has-text("${from}"))`))
    .waitFor();
}
