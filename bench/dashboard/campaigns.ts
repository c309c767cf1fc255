import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../load/api-client.ts';
import { percentile, type Window } from './window.ts';

const POLL_MS = 50;
/** So long it is being sent before somebody looks. */
const BEFORE_LOOK_MS = 1_000;

/** A campaign to everybody of the project, sent at once; its rate from the request to SENT, in mails a second. */
export async function sendCampaign(
  client: ApiClient,
  p: { domain: string; recipients: number },
  meanwhile: (id: string) => Promise<void> = async () => {},
): Promise<number> {
  const { data } = await client.need('POST', '/campaigns', {
    ...{ name: 'Bench', subject: 'News for {{firstName}}', from: `news@${p.domain}`, audienceType: 'ALL' },
    body: '<p>Hello {{firstName}} of {{company}}, you have {{points}} points.</p><p><a href="https://example.com/x">More</a></p>',
  });
  const from = performance.now();
  await client.need('POST', `/campaigns/${data.id}/send`, {});
  const sent = async () => {
    while ((await client.need('GET', `/campaigns/${data.id}`)).status !== 'SENT') await sleep(POLL_MS);
    return (performance.now() - from) / 1_000;
  };
  const [seconds] = await Promise.all([sent(), meanwhile(data.id)]);
  return p.recipients / seconds;
}

/** The page of a campaign that is being sent: until its figures are there, and its requests from then on until it is sent. */
export async function watchCampaign({ page, requestMs, wait }: Window, url: string) {
  await sleep(BEFORE_LOOK_MS);
  const first = await wait(async () => {
    await page.goto(url, { waitUntil: 'commit' });
    await page.getByRole('heading', { name: 'Progress' }).waitFor();
  });
  await page.getByText(/, done /).waitFor();
  const polls = requestMs(/\/campaigns\/[0-9a-f-]{36}(\/stats)?$/);
  return {
    'first figures ms': Math.round(first.ms),
    requests: polls.length,
    'request p50 ms': Math.round(percentile(polls, 0.5)),
    'request p95 ms': Math.round(percentile(polls, 0.95)),
  };
}
