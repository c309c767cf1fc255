import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { type SinkProcess, startSinkProcess } from '../test/support/smtp/sink-process.ts';
import { createHomePath, removeHome, type StartedService, startService } from '../test/support/start.ts';
import { BODY, SUBJECT } from './campaign-content.ts';
import { insertContacts, postToApi, readResidentMegabytes, waitForSink, waitUntilSent } from './campaign-stage.ts';

/**
 * Sends a campaign at full speed on a complete service, pauses it and resumes it. Measures how long after the pause the
 * last email arrived. When the campaign has ended, measures how long the API takes for its statistics, for pages of its
 * recipients with every kind of filter, and for the CSV of all recipients. Also measures the memory of the API process
 * during the CSV download.
 */
const { values } = parseArgs({
  options: {
    recipients: { type: 'string', default: '1000000' },
    workers: { type: 'string', default: '2' },
    pauses: { type: 'string', default: '3' },
    exports: { type: 'string', default: '2' },
  },
});
const recipients = Number(values.recipients);
const pauses = Number(values.pauses);
/** If no email arrives for this long, the bench considers the campaign stopped. */
const QUIET_MS = 4_000;
const PAGES = 10;

const home = createHomePath();
const sink = await startSinkProcess(['--no-record']);
let service: StartedService | undefined;
try {
  service = await startService({
    home,
    env: {
      WORKERS: values.workers,
      EMAIL_PROVIDER: 'smtp',
      SMTP_URL: sink.url,
      DKIM_SIGN: 'off',
      RATE_LIMIT_PER_MINUTE: '0',
    },
  });
  const database = new pg.Client(service.dev().databaseUrl);
  await database.connect();
  await insertContacts(database, { projectId: service.dev().projectId, from: 1, to: recipients });
  const { data } = await postToApi(service, '/campaigns', {
    name: 'Bench',
    subject: SUBJECT,
    body: BODY,
    from: `news@${service.dev().domain}`,
    audienceType: 'ALL',
  });
  const startedAt = performance.now();
  await postToApi(service, `/campaigns/${data.id}/send`, {});
  const stops: Record<string, number>[] = [];
  for (let n = 1; n <= pauses; n++)
    stops.push(await measurePause(service, sink, data.id, (recipients * n) / (pauses + 1)));
  console.table(stops);
  await waitUntilSent(database, data.id);
  console.log(`sent to ${recipients} in ${getSecondsSince(startedAt)} s, pauses included`);
  await database.query('VACUUM ANALYZE emails');
  await database.end();
  console.table(await measureStats(service, data.id));
  console.table(await measurePages(service, data.id));
  const exports: Record<string, number>[] = [];
  for (let n = 0; n < Number(values.exports); n++) exports.push(await measureCsv(service, data.id));
  console.table(exports);
} finally {
  service?.signal('SIGTERM');
  await service?.exited;
  await sink.stop();
  await removeHome(home);
}

/** Pauses a campaign after `at` emails, measures when the last email arrives, and resumes the campaign. */
async function measurePause(running: StartedService, into: SinkProcess, id: string, at: number) {
  const before = { at: performance.now(), ...(await into.counts()) };
  const reachedAt = await waitForSink(into, at, performance.now());
  const speed = ((at - before.messages) / (reachedAt - before.at)) * 1000;
  const { messages: atPause } = await into.counts();
  const pausedAt = performance.now();
  let respondedAt: number | undefined;
  const paused = postToApi(running, `/campaigns/${id}/pause`, {}).then(() => {
    respondedAt = performance.now();
  });
  let [seen, lastAt] = [atPause, pausedAt];
  while (respondedAt === undefined || performance.now() - Math.max(lastAt, respondedAt) < QUIET_MS) {
    await sleep(10);
    const { messages } = await into.counts();
    if (messages > seen) [seen, lastAt] = [messages, performance.now()];
  }
  await paused;
  await postToApi(running, `/campaigns/${id}/resume`, {});
  return {
    'emails a second before': Math.round(speed),
    'pause response ms': Math.round(respondedAt - pausedAt),
    'last email after ms': Math.round(lastAt - pausedAt),
    'emails after the pause': seen - atPause,
  };
}

async function measureStats(running: StartedService, id: string) {
  const [first, again] = [
    await measureGet(running, `/campaigns/${id}/stats`),
    await measureGet(running, `/campaigns/${id}/stats`),
  ];
  return [{ 'stats first ms': first.ms, 'stats ms': again.ms, sent: again.body.sent }];
}

/** Measures the first pages of the recipients for each filter, at most `PAGES` pages. */
async function measurePages(running: StartedService, id: string) {
  const table: Record<string, unknown>[] = [];
  const one = `r${Math.floor(recipients / 2)}@bench.test`;
  for (const query of [
    '',
    'status=SENT',
    'status=FAILED',
    'reason=unsubscribed',
    'search=r77',
    `search=${one}`,
    'search=nobody',
  ]) {
    const times: number[] = [];
    let found = 0;
    for (let cursor: string | null = null; times.length === 0 || (cursor && times.length < PAGES); ) {
      const { ms, body } = await measureGet(
        running,
        `/campaigns/${id}/recipients?${query}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`,
      );
      times.push(ms);
      found += body.data.length;
      cursor = body.cursor;
    }
    table.push({ query, found, pages: times.length, 'first ms': times[0], 'slowest ms': Math.max(...times) });
  }
  return table;
}

/** Downloads all recipients over HTTP, and measures the memory of the API process meanwhile. */
async function measureCsv(running: StartedService, id: string) {
  const { baseUrl, secretKey, pids } = running.dev();
  const before = readResidentMegabytes(pids.api ?? 0);
  let [lines, bytes, peak] = [0, 0, before];
  const sampling = setInterval(() => {
    peak = Math.max(peak, readResidentMegabytes(pids.api ?? 0));
  }, 50);
  const from = performance.now();
  const headers = { authorization: `Bearer ${secretKey}`, accept: 'text/csv' };
  const response = await fetch(`${baseUrl}/campaigns/${id}/recipients`, { headers });
  for await (const part of response.body ?? []) {
    bytes += part.length;
    for (const byte of part) if (byte === 10) lines += 1;
  }
  clearInterval(sampling);
  const rows = lines - 1;
  return {
    'CSV rows': rows,
    MB: Math.round(bytes / 1_000_000),
    'rows a second': Math.round((rows / (performance.now() - from)) * 1000),
    'API MB before': before,
    'API MB peak': peak,
  };
}

interface ResponseBody {
  data: unknown[];
  cursor: string | null;
  sent: number;
}

async function measureGet(running: StartedService, path: string) {
  const { baseUrl, secretKey } = running.dev();
  const from = performance.now();
  const response = await fetch(baseUrl + path, { headers: { authorization: `Bearer ${secretKey}` } });
  const body = (await response.json()) as ResponseBody;
  if (!response.ok) throw new Error(`${path}: ${JSON.stringify(body)}`);
  return { ms: Math.round(performance.now() - from), body };
}

function getSecondsSince(since: number): number {
  return Math.round((performance.now() - since) / 100) / 10;
}
