import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { insertAudiencePage } from '../db/campaigns/audience.ts';
import type { CampaignStart } from '../db/campaigns/campaigns.ts';
import { findChunkTiming } from '../db/campaigns/chunk-clock.ts';
import { claimRange, listUnsentRanges, nextClaimNumber } from '../db/campaigns/claims.ts';
import { recordSentEmails } from '../db/campaigns/completions.ts';
import type { Db } from '../db/connection.ts';
import { createSuppressionPads } from '../db/contacts/suppressions.ts';
import { insertProject } from '../db/projects/accounts.ts';
import { inTransaction } from '../db/transaction.ts';
import { generatePublicKey } from '../rules/access/api-keys.ts';
import { openDatabase } from './load/database.ts';

/**
 * Measures the cost of each statement of a campaign in Postgres for one recipient. One connection creates, claims and
 * completes the rows, and the CPU time of its backend is read between the statements. No other work runs, and no email
 * is sent. The first round is a warm-up.
 */
const { values } = parseArgs({
  options: {
    recipients: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '4' },
    claim: { type: 'string', default: '500' },
    complete: { type: 'string', default: '100' },
  },
});
const recipients = Number(values.recipients);
const claimSize = Number(values.claim);
const completeSize = Number(values.complete);
const DATA_KEYS = ['firstName', 'lastName', 'city', 'plan', 'points', 'company'];
const pads = createSuppressionPads(Buffer.alloc(32, 7));

const database = await openDatabase({ max: 1 });
const { db } = database;
try {
  const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(db);
  const pid = rows[0]?.pid ?? 0;
  const project = await insertBenchProject(db);
  const table: Record<string, string | number>[] = [];
  for (let round = 0; round < Number(values.rounds); round++)
    table.push(await measureStatements(db, pid, project, round));
  console.table(table.slice(1));
} finally {
  await database.close();
}

async function measureStatements(db: Db, pid: number, projectId: string, round: number) {
  const start = await insertCampaign(db, projectId);
  const spent: Record<string, { postgres: number; node: number }> = {};
  const measure = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const [before, node] = [readBackendCpuMicros(pid), process.cpuUsage()];
    const result = await work();
    const { user, system } = process.cpuUsage(node);
    const sum = spent[what] ?? { postgres: 0, node: 0 };
    spent[what] = { postgres: sum.postgres + readBackendCpuMicros(pid) - before, node: sum.node + user + system };
    return result;
  };
  for (let done = false; !done; ) {
    const page = await measure('insert', () =>
      inTransaction(db, (trx) => insertAudiencePage(trx, { ...start, suppressionPads: pads })),
    );
    if (page.outcome === 'stopped') throw new Error('the campaign was stopped');
    done = page.done;
  }
  const { rows } = await sql<{ seq: number }>`
    SELECT seq FROM campaign_chunks WHERE campaign_id = ${start.campaignId} ORDER BY seq`.execute(db);
  for (const { seq } of rows) await sendChunk({ ...start, seq });
  await sql`VACUUM ANALYZE emails`.execute(db);
  const columns = Object.entries(spent).flatMap(([what, { postgres: p, node: n }]) => [
    [`${what}: Postgres µs`, p / recipients],
    [`${what}: Node µs`, n / recipients],
  ]);
  const rounded = columns.map(([name, micros]) => [name, Math.round(Number(micros) * 10) / 10]);
  return { round, ...Object.fromEntries(rounded), 'HOT %': await readHeapOnlyPercent(db) };

  async function sendChunk(chunk: CampaignStart & { seq: number }): Promise<void> {
    const claim = await nextClaimNumber(db);
    const clock = { key: (await findChunkTiming(db, chunk))?.key ?? '', closesAt: null };
    const ranges = await measure('list ranges', () =>
      listUnsentRanges(db, { ...chunk, size: claimSize, from: undefined }),
    );
    for (const range of ranges) {
      const request = { ...chunk, claim, range, dataKeys: DATA_KEYS, suppressionPads: pads, sendRate: null, clock };
      const claimed = await measure('claim', () => claimRange(db, request));
      if (claimed.length !== range.rows) throw new Error(`claimed ${claimed.length} of ${range.rows}`);
      for (let at = 0; at < claimed.length; at += completeSize) {
        const batch = claimed.slice(at, at + completeSize);
        const sent = {
          ids: batch.map(({ id }) => id),
          claims: batch.map(() => claim),
          providerIds: batch.map(() => null),
          projectIds: [projectId],
          source: 'smtp' as const,
        };
        const { counted } = await measure('complete', () => recordSentEmails(db, sent));
        if (counted !== batch.length) throw new Error(`completed ${counted} of ${batch.length}`);
      }
    }
  }
}

/** Returns the percentage of all updates of the ledger that wrote to no index. */
async function readHeapOnlyPercent(db: Db): Promise<number> {
  const { rows } = await sql<{ percent: number }>`
    SELECT (100.0 * n_tup_hot_upd / n_tup_upd)::float8 AS percent FROM pg_stat_user_tables WHERE relname = 'emails'`.execute(
    db,
  );
  return Math.round(rows[0]?.percent ?? 0);
}

async function insertBenchProject(db: Db): Promise<string> {
  const id = await insertProject(db, { name: 'Bench', publicKey: generatePublicKey() });
  await sql`
    INSERT INTO contacts (project_id, email, subscribed, data)
    SELECT ${id}, 'r' || n || '@bench.test', true, jsonb_build_object('firstName', 'Ada ' || n, 'lastName', 'Lovelace', 'city', 'London',
      'plan', 'pro', 'points', n, 'company', 'Analytical Engines ' || (n % 100), 'unused', repeat('x', 100))
    FROM generate_series(1, ${recipients}::int) AS n`.execute(db);
  await sql`VACUUM ANALYZE contacts`.execute(db);
  return id;
}

async function insertCampaign(db: Db, projectId: string): Promise<CampaignStart> {
  const { rows } = await sql<{ id: string }>`
    WITH k AS (
      INSERT INTO contents (project_id, hash, subject, body, from_email, type)
      VALUES (${projectId}, sha256(uuidv7()::text::bytea), 'News', '<p>News</p>', 'news@bench.test', 'MARKETING') RETURNING id)
    INSERT INTO campaigns (project_id, name, subject, body, from_email, audience_type, status, send_no, mode, content_id, started_at)
    SELECT ${projectId}, 'Bench', 'News', '<p>News</p>', 'news@bench.test', 'ALL', 'SENDING', 1, 'live', k.id, now() FROM k
    RETURNING id`.execute(db);
  return { projectId, campaignId: rows[0]?.id ?? '', sendNo: 1 };
}

/** On-CPU time of a process, in microseconds. */
function readBackendCpuMicros(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
}
