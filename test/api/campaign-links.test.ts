import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLinkTokens } from '../../rules/content/link-tokens.ts';
import { createCampaignBody } from '../build/campaigns.ts';
import { buildSentCampaign } from '../build/recipients.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { until } from '../support/until.ts';

const BROWSER = {
  'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/131.0.0.0 Safari/537.36',
};
const SCANNER = { 'user-agent': 'BarracudaCentral/1.0' };
const BODY =
  '<a href="https://a.test/x?n={{ n }}">a</a> <a href="https://b.test/">b</a> <a href="https://b.test/">b again</a> ' +
  '<a href="https://c.test/never">c</a> <a href="{{unsubscribeUrl}}">off</a> <a href="mailto:x@a.test">mail</a>';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id, domain: 'sender.test' });
});
afterAll(() => api?.close());

const listLinks = async (id: string) => (await api.call('GET', `/campaigns/${id}/links`)).body.data;

it('every tracked link of a campaign lists its clicks by humans, recipients and bots, also without a click', async () => {
  const id = await buildSentCampaign(api.db, { projectId: api.one.id, count: 3, body: BODY });
  await sql`UPDATE emails SET sent_at = now() - interval '1 hour' WHERE campaign_id = ${id}`.execute(api.db);
  const { rows } = await sql<{ id: string }>`SELECT id FROM emails WHERE campaign_id = ${id} ORDER BY id`.execute(
    api.db,
  );
  const click = async (recipient: number, link: number, headers: Record<string, string> = BROWSER) => {
    const { track } = createLinkTokens(TEST_SECRET_KEY, rows[recipient]?.id ?? '');
    expect((await api.call('GET', `/c/${track}/${link}`, { key: null, headers })).status).toBe(302);
  };
  await click(0, 0);
  await click(0, 0);
  await click(1, 0);
  await click(2, 1, SCANNER);
  await click(2, 1);
  // By the second clicks, the rows of the links exist.
  await until(async () => (await listLinks(id))[1].clicks === 1, 'the first clicks');
  await click(0, 0);
  await until(async () => (await listLinks(id))[0].clicks === 4, 'the last click');
  expect(await listLinks(id)).toEqual([
    { url: 'https://a.test/x?n={{ n }}', clicks: 4, uniqueClicks: 2, machineClicks: 0, variants: null },
    { url: 'https://b.test/', clicks: 1, uniqueClicks: 1, machineClicks: 1, variants: null },
    { url: 'https://c.test/never', clicks: 0, uniqueClicks: 0, machineClicks: 0, variants: null },
  ]);
  const stats = (await api.call('GET', `/campaigns/${id}/stats`)).body;
  expect(stats).toMatchObject({ clicked: 3, machineClicks: 1 });
});

it('a draft shows its current links', async () => {
  const draft = await api.call('POST', '/campaigns', { body: createCampaignBody({ body: BODY }) });
  expect((await listLinks(draft.body.data.id)).map(({ url }: { url: string }) => url)).toEqual([
    'https://a.test/x?n={{ n }}',
    'https://b.test/',
    'https://c.test/never',
  ]);
});

it('the links of a deleted campaign are deleted, and a later click still redirects to its target', async () => {
  const id = await buildSentCampaign(api.db, { projectId: api.one.id, count: 1, body: BODY });
  const { rows } = await sql<{ id: string }>`SELECT id FROM emails WHERE campaign_id = ${id}`.execute(api.db);
  const { track } = createLinkTokens(TEST_SECRET_KEY, rows[0]?.id ?? '');
  expect((await api.call('DELETE', `/campaigns/${id}`)).status).toBe(204);
  expect((await api.call('GET', `/campaigns/${id}/links`)).status).toBe(404);
  expect((await api.call('GET', `/c/${track}/1`, { key: null, headers: BROWSER })).status).toBe(302);
});
