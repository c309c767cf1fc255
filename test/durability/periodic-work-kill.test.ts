import { defaultPayloadConverter } from '@temporalio/common';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readInstallation } from '../../db/installation/installation.ts';
import { PERIODIC_KINDS } from '../../rules/periodic-work.ts';
import { InstallationNames } from '../../temporal/names.ts';
import { buildSegment } from '../build/segments.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { type HostProcess, startWorkerHost } from '../support/host-process.ts';
import { connectOperator, type TestOperator } from '../support/operator.ts';
import { createTestTemporal, type TestTemporal } from '../support/services.ts';
import { until } from '../support/until.ts';

/** Less than the 24 seconds for which the Temporal SDK holds back a second heartbeat by default. */
const SAVED_MS = 20_000;
/** Pruning deletes this many rows per statement. */
const BATCH = 2_000;

let database: TestDatabase;
let temporal: TestTemporal;
let dns: DnsServer;
let operator: TestOperator;
let worker: HostProcess;
let projectId: string;

beforeAll(async () => {
  [database, temporal, dns] = await Promise.all([createTestDatabase(), createTestTemporal(), startDnsServer()]);
  projectId = (await buildProject(database.db, 'One')).id;
  const names = new InstallationNames(await readInstallation(database.db));
  operator = await connectOperator({ temporal, names });
  worker = await startWorker();
  for (const kind of PERIODIC_KINDS) await operator.client.schedule.getHandle(names.schedule(kind)).pause();
});
afterAll(async () => {
  await operator?.close();
  await worker?.stop();
  await dns?.close();
  await database?.drop();
});

const startWorker = () =>
  startWorkerHost({
    database,
    temporal,
    env: {
      DNS_SERVERS: dns.address,
      AUDIT_LOG_RETENTION_DAYS: '30',
      EMAIL_PROVIDER: 'smtp',
      SMTP_URL: 'smtp://127.0.0.1:1',
    },
  });

/** Adds entries of the audit log that are older than their retention, the oldest first. Returns their ids. */
async function buildOldEntries(p: { daysAgo: number; count: number }): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    INSERT INTO audit_log (id, project_id, action, actor)
    SELECT (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - ${p.daysAgo} * 86400000::bigint + n), 12, '0')
      || '7000800000000000' || lpad(to_hex(n), 4, '0'))::uuid, ${projectId}, 'a', 'b'
    FROM generate_series(1, ${p.count}) n RETURNING id
  `.execute(database.db);
  return rows.map(({ id }) => id).sort();
}

/** Returns the names of computed segments, with the time of each computation. */
async function readComputedSegments(): Promise<Record<string, number>> {
  const rows = await database.db.selectFrom('segments').select(['name', 'computed_at']).execute();
  return Object.fromEntries(rows.flatMap(({ name, computed_at: at }) => (at ? [[name, at.getTime()]] : [])));
}

async function countEntries(): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::int AS count FROM audit_log`.execute(database.db);
  return rows[0]?.count ?? 0;
}

type Round = Awaited<ReturnType<TestOperator['startRound']>>;

/**
 * Returns the cursors that Temporal has stored for the running activities of a round. Their next attempts start at
 * these cursors.
 */
async function readCursors(round: Round): Promise<string> {
  const { raw } = await round.describe();
  const payloads = (raw.pendingActivities ?? []).flatMap(({ heartbeatDetails }) => heartbeatDetails?.payloads ?? []);
  return payloads.map((payload) => defaultPayloadConverter.fromPayload<string>(payload)).join();
}

async function waitForCursor(round: Round, cursor: string): Promise<void> {
  let cursors = '';
  const isSaved = async () => {
    cursors = await readCursors(round);
    return cursors.includes(cursor);
  };
  await until(isSaved, 'the cursor', { timeoutMs: SAVED_MS }).catch(() => expect(cursors).toContain(cursor));
}

it('periodic work continues at the same position after its worker is killed', async () => {
  const { db } = database;
  const ids: string[] = [];
  for (const name of ['first', 'second', 'held', 'last']) ids.push(await buildSegment(db, { projectId, name }));
  const [, , held = ''] = ids;
  const entries = await buildOldEntries({ daysAgo: 40, count: BATCH + 10 });
  const domainIds: string[] = [];
  for (const domain of ['one.example', 'two.example', 'held.example'])
    domainIds.push((await buildDomain(db, { projectId, domain })).id);
  const [one = '', two = '', waiting = ''] = domainIds;

  const rounds = await db.transaction().execute(async (trx) => {
    await sql`SELECT FROM segments WHERE id = ${held} FOR UPDATE`.execute(trx);
    await sql`SELECT FROM audit_log WHERE id = ${entries.at(-1)} FOR UPDATE`.execute(trx);
    await sql`SELECT FROM domains WHERE id = ${waiting} FOR UPDATE`.execute(trx);
    const started = {
      segments: await operator.startRound('segments'),
      pruning: await operator.startRound('pruning'),
      domains: await operator.startRound('domains'),
    };
    await until(async () => Object.keys(await readComputedSegments()).length === 2, 'the segments before the held one');
    await until(async () => (await countEntries()) === entries.length - BATCH, 'the first statement of pruning');
    await waitForCursor(started.segments, held);
    await waitForCursor(started.pruning, entries[BATCH - 1] ?? '');
    await waitForCursor(started.domains, one);
    await waitForCursor(started.domains, two);
    const before = await readComputedSegments();
    expect(before).toEqual({ first: expect.any(Number), second: expect.any(Number) });
    await worker.kill();
    dns.questions.length = 0;
    // An old row before the pruned ones. Only a pruning that starts at the first row again would delete it.
    await buildOldEntries({ daysAgo: 50, count: 1 });
    worker = await startWorker();
    await until(
      async () => (await readComputedSegments()).last !== undefined,
      'the segment after the one that was interrupted',
    );
    expect(await readComputedSegments()).toEqual({ ...before, last: expect.any(Number) });
    return started;
  });

  expect(await rounds.segments.result()).toEqual({ done: 1, unfinished: 0, failed: [] });
  expect(Object.keys(await readComputedSegments()).sort()).toEqual(['first', 'held', 'last', 'second']);
  expect(await rounds.pruning.result()).toMatchObject({ unfinished: 0, failed: [] });
  const { rows } = await sql<{ days: number }>`
    SELECT round(extract(epoch FROM now() - uuid_extract_timestamp(id)) / 86400)::int AS days FROM audit_log`.execute(
    db,
  );
  expect(rows).toEqual([{ days: 50 }]);
  expect(await rounds.domains.result()).toEqual({ done: 1, unfinished: 0, failed: [] });
  expect(dns.questions.filter((question) => /one\.example|two\.example/.test(question))).toEqual([]);
  expect(dns.questions.filter((question) => question.includes('held.example'))).not.toEqual([]);
});
