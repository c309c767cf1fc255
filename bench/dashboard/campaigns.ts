import { setTimeout as sleep } from 'node:timers/promises';
import type { Pids } from '../../cli/start/dev-file.ts';
import type { Db } from '../../db/connection.ts';
import { readCpuMs, readPostgresCpuMs } from '../../test/support/process-cpu.ts';
import type { ApiClient } from '../load/api-client.ts';
import { computePercentile, type Window } from './window.ts';

const POLL_MS = 20;
/** Sending time before the viewer opens the page. */
const BEFORE_VISIT_MS = 1_000;

/** The rate and the CPU cost of sending a campaign. */
export interface SendCost {
  /** The rate from the request to send until the campaign is SENT. */
  emailsPerSecond: number;
  apiCpuMs: number;
  postgresCpuMs: number;
}

/** Sends a campaign to all contacts of the project now, and calls `meanwhile` with its id while it is being sent. */
export async function sendCampaign(
  { client, db, pids }: { client: ApiClient; db: Db; pids: Pids },
  p: { domain: string; recipients: number },
  meanwhile: (id: string) => Promise<void> = async () => {},
): Promise<SendCost> {
  const { data } = await client.callOk('POST', '/campaigns', {
    name: 'Bench',
    subject: 'News for {{firstName}}',
    from: `news@${p.domain}`,
    audienceType: 'ALL',
    body: '<p>Hello {{firstName}} of {{company}}, you have {{points}} points.</p><p><a href="https://example.com/x">More</a></p>',
  });
  const cpu = () => ({ api: readCpuMs([pids.api]), postgres: readPostgresCpuMs(pids.postgres) });
  const [before, startedAt] = [cpu(), performance.now()];
  await client.callOk('POST', `/campaigns/${data.id}/send`, {});
  const measureSeconds = async () => {
    // Read from the database, because the API would count its statistics for each read.
    const status = db.selectFrom('campaigns').select('status').where('id', '=', data.id);
    while ((await status.executeTakeFirst())?.status !== 'SENT') await sleep(POLL_MS);
    return (performance.now() - startedAt) / 1_000;
  };
  const [seconds] = await Promise.all([measureSeconds(), meanwhile(data.id)]);
  const after = cpu();
  return {
    emailsPerSecond: p.recipients / seconds,
    apiCpuMs: after.api - before.api,
    postgresCpuMs: after.postgres - before.postgres,
  };
}

/** Returns the best values of several sends as columns of the table. */
export function toTableColumns(sends: readonly SendCost[]) {
  const least = (key: keyof SendCost) => Math.round(Math.min(...sends.map((sent) => sent[key])));
  return {
    'msg/s': Math.round(Math.max(...sends.map(({ emailsPerSecond }) => emailsPerSecond))),
    'API CPU ms': least('apiCpuMs'),
    'Postgres CPU ms': least('postgresCpuMs'),
  };
}

/**
 * Opens the page of a campaign that is being sent. Measures the time until the statistics appear, and all requests for
 * the campaign that the page makes until the campaign is sent.
 */
export async function watchCampaign({ page, requestMs, wait }: Window, url: string) {
  await sleep(BEFORE_VISIT_MS);
  const first = await wait(async () => {
    await page.goto(url, { waitUntil: 'commit' });
    await page.getByRole('heading', { name: 'Progress' }).waitFor();
  });
  await page.getByText(/, done /).waitFor();
  const polls = requestMs(/\/campaigns\/[0-9a-f-]{36}(\/stats)?$/);
  return {
    'first figures ms': Math.round(first.ms),
    requests: polls.length,
    'request p50 ms': Math.round(computePercentile(polls, 0.5)),
    'request p95 ms': Math.round(computePercentile(polls, 0.95)),
  };
}
