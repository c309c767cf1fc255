import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { RecipientFilter } from '../db/campaigns/recipient-rows.ts';
import { exportRecipients, listRecipients } from '../db/campaigns/recipients.ts';
import { readStats } from '../db/campaigns/stats.ts';
import type { Db } from '../db/connection.ts';
import { insertProject } from '../db/projects/accounts.ts';
import { generatePublicKey } from '../rules/access/api-keys.ts';
import { openDatabase } from './load/database.ts';

/**
 * Measures pages of the recipients of a large campaign by every kind of filter, its statistics, and its export. The
 * baseline is one count of the campaign's emails. `--database-url` keeps the data for another run.
 */
const { values } = parseArgs({
  options: { recipients: { type: 'string', default: '1000000' }, 'database-url': { type: 'string' } },
});
const recipients = Number(values.recipients);
const FILTERS: Record<string, RecipientFilter> = {
  'no filter': {},
  SENT: { statuses: ['SENT'] },
  'CLICKED (1 in 50)': { statuses: ['CLICKED'] },
  'COMPLAINED (3 of all)': { statuses: ['COMPLAINED'] },
  'PENDING (nobody)': { statuses: ['PENDING'] },
  FAILED: { statuses: ['FAILED'] },
  'unsubscribed (1 in 10)': { reasons: ['unsubscribed'] },
  'provider_rejected (5 of all)': { reasons: ['provider_rejected'] },
  'BOUNCED (1 in 1,000)': { statuses: ['BOUNCED'] },
  'a part of many addresses': { search: 'r77' },
  'one address': { search: 'r1234@bench.test' },
  'a part of few addresses': { search: 'r12345' },
  'a part of none': { search: 'nobody' },
};

const database = await openDatabase({ url: values['database-url'], max: 2 });
const { db } = database;
try {
  const ref = (await findCampaign(db)) ?? (await makeCampaign(db));
  const table: Record<string, unknown>[] = [];
  for (const [what, filter] of Object.entries(FILTERS))
    table.push({ what, ...(await measurePages({ ...ref, ...filter })) });
  console.table(table);
  const [, countMs] = await measureWork(() =>
    sql`SELECT count(*) FROM emails WHERE campaign_id = ${ref.id} AND status <> ''`.execute(db),
  );
  const stats = () => measureWork(() => readStats(db, { ...ref, startedAt: new Date() }));
  const [, firstMs] = await stats();
  const [, statsMs] = await stats();
  await recordFeedback(ref, 20);
  const [, touchedMs] = await stats();
  const figures = { 'stats first ms': firstMs, 'stats ms': statsMs, 'stats, 20 chunks touched ms': touchedMs };
  console.table([{ 'baseline, count of all ms': countMs, ...figures, ...(await measureExport(ref)) }]);
} finally {
  await database.close();
}

interface Ref {
  projectId: string;
  id: string;
}

async function findCampaign(on: Db): Promise<Ref | undefined> {
  const { rows } = await sql<Ref>`SELECT id, project_id AS "projectId" FROM campaigns LIMIT 1`.execute(on);
  return rows[0];
}

async function makeCampaign(on: Db): Promise<Ref> {
  const ref = { projectId: await insertProject(on, { name: 'Bench', publicKey: generatePublicKey() }), id: uuidv7() };
  await makeRecipients(on, ref);
  return ref;
}

async function makeRecipients(db: Db, p: { projectId: string; id: string }): Promise<void> {
  await sql`
    INSERT INTO campaigns (id, project_id, name, subject, body, from_email, audience_type, status, started_at, send_no, audience_done)
    VALUES (${p.id}, ${p.projectId}, 'n', 's', 'b', 'a@b.test', 'ALL', 'SENT', now(), 1, true)`.execute(db);
  await sql`
    INSERT INTO contacts (project_id, email, subscribed, data)
    SELECT ${p.projectId}, 'r' || n || '@bench.test', true, '{"firstName": "Ada", "city": "London"}'
    FROM generate_series(1, ${recipients}::int) AS n`.execute(db);
  await sql`
    INSERT INTO emails (project_id, contact_id, content_id, campaign_id, source_type, status, reason, to_email, attempts, sent_at, opened_at)
    SELECT project_id, id, ${uuidv7()}, ${p.id}, 'CAMPAIGN', status,
      CASE status WHEN 'BOUNCED' THEN 'bounced:dead_mailbox' WHEN 'FAILED' THEN CASE WHEN n % 200000 = 1 THEN 'provider_rejected' ELSE 'unsubscribed' END END,
      CASE WHEN status <> 'FAILED' THEN email END, 1, CASE WHEN status <> 'FAILED' THEN now() END,
      CASE WHEN status = 'OPENED' THEN now() + interval '2 hours' END
    FROM (SELECT *, row_number() OVER (ORDER BY id) AS n FROM contacts WHERE project_id = ${p.projectId}) c, LATERAL (SELECT CASE
      WHEN n % 10 = 0 OR n % 200000 = 1 THEN 'FAILED' WHEN n % 1000 = 1 THEN 'BOUNCED' WHEN n % 50 = 2 THEN 'CLICKED'
      WHEN n % 333333 = 4 THEN 'COMPLAINED' WHEN n % 4 = 3 THEN 'OPENED' ELSE 'SENT' END AS status) s
    ORDER BY n`.execute(db);
  await sql`
    INSERT INTO campaign_chunks (campaign_id, seq, project_id, first_id, last_id, size, done_at)
    SELECT ${p.id}, n + 1, ${p.projectId}, (array_agg(id ORDER BY id))[1], (array_agg(id ORDER BY id DESC))[1], count(*), now()
    FROM (SELECT id, (row_number() OVER (ORDER BY id) - 1) / 5000 AS n FROM emails WHERE campaign_id = ${p.id}) e GROUP BY n`.execute(
    db,
  );
  await sql`VACUUM ANALYZE emails, contacts, campaign_chunks`.execute(db);
}

/** Records feedback for an email in each of this many chunks. */
async function recordFeedback(p: { projectId: string; id: string }, chunks: number) {
  await sql`
    INSERT INTO campaign_touches (campaign_id, email_id, project_id)
    SELECT campaign_id, first_id, project_id FROM campaign_chunks WHERE campaign_id = ${p.id} LIMIT ${chunks}`.execute(
    db,
  );
}

/** Requests pages from the first one until 50 rows are found, as a user would. */
async function measurePages(p: RecipientFilter & { projectId: string; id: string }) {
  const times: number[] = [];
  let [found, onFirst] = [0, 0];
  let cursor: string | undefined;
  do {
    const [page, ms] = await measureWork(() => listRecipients(db, { ...p, limit: 50, cursor }));
    times.push(ms);
    found += page.items.length;
    if (times.length === 1) onFirst = found;
    cursor = page.cursor ?? undefined;
  } while (cursor && found < 50);
  return {
    found,
    'on the first': onFirst,
    pages: times.length,
    'first ms': times[0],
    'slowest page ms': Math.max(...times),
  };
}

async function measureExport(p: { projectId: string; id: string }) {
  let rows = 0;
  let cursor: string | undefined;
  const [, ms] = await measureWork(async () => {
    do {
      const page = await exportRecipients(db, { ...p, cursor });
      rows += page.items.length;
      cursor = page.cursor ?? undefined;
    } while (cursor);
  });
  return { 'exported rows': rows, 'rows a second': Math.round((rows / ms) * 1000) };
}

async function measureWork<T>(work: () => Promise<T>): Promise<[T, number]> {
  const from = performance.now();
  const result = await work();
  return [result, Math.round(performance.now() - from)];
}
