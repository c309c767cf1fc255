import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { DAY_MS, toInstant, toWallTime, writeLocalTime } from '../rules/time/local-time.ts';
import { readInstallationNames } from '../test/support/names.ts';
import { type SinkProcess, startSinkProcess } from '../test/support/smtp/sink-process.ts';
import { createHomePath, removeHome, type StartedService, startService } from '../test/support/start.ts';
import { insertContacts, postToApi } from './campaign-stage.ts';

/**
 * Measures the cost in Temporal of a campaign that is sent at the recipients' local time. The audience is in many time
 * zones. The first zone reaches this time soon, the others within a day. Prints the number of timers and activities in
 * the history of the campaign's workflow at two moments: while all zones wait, and after the emails to the first zone
 * were sent.
 */
const { values } = parseArgs({
  options: {
    recipients: { type: 'string', default: '1000000' },
    zones: { type: 'string', default: '40' },
    workers: { type: 'string', default: '2' },
    // Time from the start of the service until the first zone reaches the local time. The audience must be stored by
    // then.
    minutes: { type: 'string', default: '4' },
  },
});
const recipients = Number(values.recipients);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const WAIT_MAX_MS = 1_800_000;

const home = createHomePath();
const sink = await startSinkProcess(['--no-record']);
let service: StartedService | undefined;
try {
  service = await startService({
    home,
    env: { WORKERS: values.workers, EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url, DKIM_SIGN: 'off' },
  });
  const database = new pg.Client(service.dev().databaseUrl);
  await database.connect();
  const hourMs = Math.ceil((Date.now() + Number(values.minutes) * MINUTE_MS) / MINUTE_MS) * MINUTE_MS;
  const { first, zones } = chooseZones(hourMs, Number(values.zones));
  await insertContacts(database, { projectId: service.dev().projectId, from: 1, to: recipients, zones });
  const { data } = await postToApi(service, '/campaigns', {
    name: 'Bench',
    subject: 'News',
    body: '<p>Hello {{firstName}}</p>',
    audienceType: 'ALL',
    from: `news@${service.dev().domain}`,
    sendAtLocal: writeLocalTime(toWallTime(first, hourMs)),
  });
  const startedAt = performance.now();
  await postToApi(service, `/campaigns/${data.id}/send`, {});
  await waitUntilZonesWait(database, data.id);
  const takenSeconds = Math.round((performance.now() - startedAt) / 100) / 10;
  const { temporal } = service.dev();
  const connection = await Connection.connect({ address: temporal.address });
  const client = new Client({ connection, namespace: temporal.namespace });
  const names = await readInstallationNames(service);
  const cost = () => countHistory(client, names.campaign(data.id, 1));
  const table: Record<string, unknown>[] = [{ when: 'all zones wait', ...(await cost()) }];
  const { messages } = await sink.counts();
  const due = Math.ceil(recipients / zones.length);
  await waitForEmails(sink, messages + due);
  await waitUntilZonesWait(database, data.id);
  table.push({ when: 'after the first hour', ...(await cost()) });
  console.table(table);
  console.table([
    {
      recipients,
      zones: zones.length,
      chunks: await countChunks(database, data.id),
      'audience taken in s': takenSeconds,
      'late by s': Math.round((Date.now() - hourMs) / 100) / 10,
      'emails of that hour': due,
    },
  ]);
  await connection.close();
  await database.end();
} finally {
  service?.signal('SIGTERM');
  await service?.exited;
  await sink.stop();
  await removeHome(home);
}

/**
 * Chooses the time zones of the contacts. `first` is the zone that is farthest ahead of UTC at `atMs`, up to UTC+13.
 * The campaign is sent at the local time that `first` has at `atMs`. Other zones reach this local time later. They are
 * grouped by the instant at which they do, and `zones` takes them from the groups in turn, after `first`. Zones at
 * UTC+14 reach this local time an hour before `atMs`, so the service starts the campaign at once.
 */
function chooseZones(atMs: number, count: number): { first: string; zones: string[] } {
  const latest = toWallTime('UTC', atMs) + 13 * HOUR_MS;
  const known = Intl.supportedValuesOf('timeZone').filter((zone) => toWallTime(zone, atMs) <= latest);
  const ahead = known.toSorted((a, b) => toWallTime(b, atMs) - toWallTime(a, atMs));
  const [first = 'UTC'] = ahead;
  const hours = new Map<number, string[]>();
  for (const zone of ahead) {
    const at = toInstant(zone, toWallTime(first, atMs));
    hours.set(at, [...(hours.get(at) ?? []), zone]);
  }
  // Skips other zones with the same local time as `first`, so that the cost of its emails can be measured separately.
  const [, ...later] = hours.values();
  const rounds = Math.max(...later.map((zones) => zones.length));
  const others = Array.from({ length: rounds }, (_, n) => later.flatMap((zones) => zones[n] ?? [])).flat();
  return { first, zones: [first, ...others.slice(0, count - 1)] };
}

async function waitUntilZonesWait(database: pg.Client, id: string): Promise<void> {
  for (const from = performance.now(); performance.now() - from < WAIT_MAX_MS; ) {
    const { rows } = await database.query(
      `SELECT (SELECT audience_done FROM campaigns WHERE id = $1) AND NOT EXISTS (
         SELECT FROM campaign_chunks WHERE campaign_id = $1 AND done_at IS NULL AND (not_before IS NULL OR not_before < now())) AS waits`,
      [id],
    );
    if (rows[0]?.waits) return;
    await sleep(200);
  }
  throw new Error('some zones do not wait');
}

async function waitForEmails(into: SinkProcess, count: number): Promise<void> {
  for (const from = performance.now(); performance.now() - from < DAY_MS; ) {
    if ((await into.counts()).messages >= count) return;
    await sleep(100);
  }
}

async function countChunks(database: pg.Client, id: string): Promise<number> {
  const { rows } = await database.query('SELECT count(*)::int AS n FROM campaign_chunks WHERE campaign_id = $1', [id]);
  return rows[0]?.n ?? 0;
}

/** Reads the histories of all runs of the workflow, which continues as a new run when its history grows long. */
async function countHistory(client: Client, workflowId: string) {
  const sum = {
    'timers started': 0,
    'timers that fired': 0,
    'timers open': 0,
    'activities of chunks': 0,
    events: 0,
    runs: 0,
  };
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const count = (of: (event: NonNullable<typeof events>[number]) => unknown) => events?.filter(of).length ?? 0;
    const started = count((event) => event.timerStartedEventAttributes);
    const fired = count((event) => event.timerFiredEventAttributes);
    const cancelled = count((event) => event.timerCanceledEventAttributes);
    const ended = count((event) => event.workflowExecutionContinuedAsNewEventAttributes) > 0;
    sum['timers started'] += started;
    sum['timers that fired'] += fired;
    sum['timers open'] += ended ? 0 : started - fired - cancelled;
    sum['activities of chunks'] += count(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'sendCampaignChunk',
    );
    sum.events += events?.length ?? 0;
    sum.runs += 1;
  }
  return sum;
}
