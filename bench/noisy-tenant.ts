import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import type { Db } from '../db/connection.ts';
import { runConcurrently } from './load/api-client.ts';
import type { LoopDelay } from './loop-delay.ts';
import { type Latencies, startTenantLoad } from './tenants-load.ts';
import { type Cpu, type LoadTenant, startTenantServers, type TenantStage } from './tenants-stage.ts';

/**
 * Measures the delays of tenant B while tenant A abuses costly features: a campaign in which every message exceeds its
 * time limit, previews of such an email, files with unreadable rows, emails with the largest attachments, pages of
 * large lists. Measures the time of B's single emails from the request to the end of the SMTP command DATA. Also
 * measures the delay of the event loops of API and worker, which is more reliable on a busy machine. `--only` takes
 * names of abuses, separated by commas.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'idle,campaign,previews,csv,attachments,lists' },
    rate: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '20' },
    workers: { type: 'string', default: '1' },
  },
});
const P95_LIMIT_MS = 200;
const DRAIN_MS = 120_000;
/**
 * A costly template. For a contact without `items` it renders nothing, so the API's trial rendering accepts it. For a
 * contact with many items, the rendered text is practically endless.
 */
const COSTLY =
  '{% for a in items %}{% for b in items %}{% for c in items %}{{ a | times: b | times: c }}{% endfor %}{% endfor %}{% endfor %}';
const ITEMS = { items: Array.from({ length: 300 }, (_, n) => n) };

const ABUSES: Record<string, (stage: TenantStage, untilMs: number) => Promise<void>> = {
  idle: async (_, untilMs) => void (await sleep(untilMs - Date.now())),
  campaign: async ({ a, db }, untilMs) => {
    await sql`
      INSERT INTO contacts (project_id, email, subscribed, data)
      SELECT ${a.id}, 'noisy' || n || '@load.test', true, ${JSON.stringify(ITEMS)}::jsonb FROM generate_series(1, 150) AS n
      ON CONFLICT DO NOTHING`.execute(db);
    const content = { name: 'Noisy', subject: 'S', body: COSTLY, from: `hello@${a.domain}`, audienceType: 'ALL' };
    const { data } = await a.client.callOk('POST', '/campaigns', content);
    await a.client.callOk('POST', `/campaigns/${data.id}/send`, {});
    await sleep(untilMs - Date.now());
  },
  previews: async ({ a }, untilMs) => {
    const email = { to: 'preview@load.test', from: `hello@${a.domain}`, subject: 'S', body: COSTLY, data: ITEMS };
    const sent = await a.client.callOk('POST', '/v1/send', email);
    const id = sent.data.emails[0]?.email;
    await runConcurrently({ total: 80, concurrency: 10 }, async () => {
      if (Date.now() < untilMs) await a.client.call('GET', `/v1/emails/${id}`);
    });
    await sleep(Math.max(0, untilMs - Date.now()));
  },
  attachments: async ({ a }, untilMs) => {
    // Random bytes, like compressed files: Postgres cannot compress them and has to write all of them.
    const file = {
      filename: 'a.bin',
      contentType: 'application/octet-stream',
      content: randomBytes(9_750_000).toString('base64'),
    };
    const email = {
      to: 'big@load.test',
      from: `hello@${a.domain}`,
      subject: 'S',
      body: '<p>x</p>',
      attachments: [file],
    };
    // The body is serialized only once. Otherwise the measured latencies of the service would include the time in which
    // this process serializes.
    const body = Buffer.from(JSON.stringify(email));
    await runConcurrently({ ...repeatUntil(untilMs), concurrency: 5 }, async () => {
      const { status } = await a.client.call('POST', '/v1/send', body);
      if (status === 429) await sleep(100);
    });
  },
  lists: async ({ a, db, baseUrl }, untilMs) => {
    const segmentId = await makeLargeLists(db, a);
    const lists = [
      'contacts',
      'templates',
      `segments/${segmentId}/contacts`,
      'segments',
      'campaigns',
      'v1/emails',
      'events',
    ];
    const headers = { authorization: `Bearer ${a.secretKey}` };
    await runConcurrently({ ...repeatUntil(untilMs), concurrency: 10 }, async (n) => {
      const response = await fetch(`${baseUrl}/${lists[n % lists.length]}?limit=100&pageSize=100`, { headers });
      // The response is not parsed, because that would block the event loop that sends B's requests.
      await response.arrayBuffer();
    });
  },
  csv: async ({ a, baseUrl }, untilMs) => {
    for (let n = 0; n < 5; n += 1) {
      const form = new FormData();
      form.append('file', new File([`email,plan\n${'"\n'.repeat(400_000)}`], 'torn.csv'));
      await fetch(`${baseUrl}/contacts/import`, {
        method: 'POST',
        body: form,
        headers: { authorization: `Bearer ${a.secretKey}` },
      });
    }
    await sleep(Math.max(0, untilMs - Date.now()));
  },
};

/**
 * Returns options with which `runConcurrently` repeats work until `untilMs`. They have no limit for the total, and a
 * signal that is aborted at that time.
 */
function repeatUntil(untilMs: number): { total: number; signal: AbortSignal } {
  return { total: Number.POSITIVE_INFINITY, signal: AbortSignal.timeout(Math.max(0, untilMs - Date.now())) };
}

/**
 * Stores data near a tenant's limits: contacts of 60 KB, and templates and campaigns of 500 KB. Adds all of the
 * contacts to a segment, and returns the segment's id.
 */
async function makeLargeLists(db: Db, { id: projectId, client, domain }: LoadTenant): Promise<string> {
  await sql`
    INSERT INTO contacts (project_id, email, subscribed, data)
    SELECT ${projectId}, 'large' || n || '@load.test', true, jsonb_build_object('text', repeat(md5(n::text), 1900))
    FROM generate_series(1, 500) AS n`.execute(db);
  const segment = await client.callOk('POST', '/segments', { name: 'All', type: 'STATIC' });
  await sql`
    INSERT INTO segment_members (project_id, segment_id, contact_id)
    SELECT project_id, ${segment.id}, id FROM contacts WHERE project_id = ${projectId}`.execute(db);
  const large = { subject: 'S', body: `<p>x</p><!--${'x'.repeat(500_000)}-->`, from: `hello@${domain}` };
  for (let n = 0; n < 20; n += 1) {
    await client.callOk('POST', '/templates', { ...large, name: `Large ${n}`, type: 'TRANSACTIONAL' });
    await client.callOk('POST', '/campaigns', { ...large, name: `Large ${n}`, audienceType: 'ALL' });
  }
  return segment.id;
}

/** The processes whose CPU time is measured. The process of the bench itself is the client of A and B. */
const PARTS = ['api', 'workers', 'postgres', 'temporal', 'sink', 'bench', 'others'] as const;

function computeCpuPercent(before: Cpu, after: Cpu, ms: number): Record<string, number> {
  return Object.fromEntries(PARTS.map((part) => [part, Math.round(((after[part] - before[part]) / ms) * 100)]));
}

type Row = Omit<Latencies, 'sent'> & {
  abuse: string;
  refused: number;
  'api loop': string;
  'worker loop': string;
  '': string;
};
const rows: Row[] = [];
const cpus: Record<string, string | number>[] = [];
for (const abuse of values.only.split(',')) {
  const run = ABUSES[abuse];
  if (!run) throw new Error(`--only does not know the abuse ${abuse}. It knows ${Object.keys(ABUSES).join(', ')}.`);
  console.log(`${abuse} …`);
  // Each abuse gets a new service, so that no measurement includes remaining work of the abuse before.
  const stage = await startTenantServers({ workers: values.workers });
  try {
    const b = startTenantLoad({ ...stage.b, sink: stage.sink, tag: `t-${abuse}-`, perSecond: Number(values.rate) });
    const [sinceMs, before] = [Date.now(), stage.cpu()];
    await run(stage, sinceMs + Number(values.seconds) * 1_000);
    cpus.push({ abuse, ...computeCpuPercent(before, stage.cpu(), Date.now() - sinceMs) });
    const loops = stage.loops(sinceMs);
    const { emails, refused } = await b.stop(DRAIN_MS);
    const ok = emails.p95 <= P95_LIMIT_MS && emails.missing === 0;
    const describeDelay = ({ late95, turn }: LoopDelay) => `${late95} / ${turn}`;
    const { sent: _, ...times } = emails;
    rows.push({
      abuse,
      ...times,
      refused,
      'api loop': describeDelay(loops.api),
      'worker loop': describeDelay(loops.worker),
      '': ok || abuse === 'idle' ? 'ok' : 'OVER',
    });
  } finally {
    await stage.close();
  }
}
console.log(
  `\nB's single emails while A is noisy, ms from the request to the end of DATA; p95 should be under ${P95_LIMIT_MS}.\n` +
    'Loops: 95th percentile of the longest delay in each 100 ms / longest CPU time of one iteration, in ms.',
);
console.table(rows);
console.log('Meanwhile, percent of one processor:');
console.table(cpus);
