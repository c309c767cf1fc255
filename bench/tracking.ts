import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { Agent, request } from 'undici';
import { connect } from '../db/connection.ts';
import { saveContent } from '../db/contents/contents.ts';
import { NO_TEXT } from '../rules/content/email-text.ts';
import { createLinkTokens } from '../rules/content/link-tokens.ts';
import { buildContacts } from '../test/build/campaigns.ts';
import { createHomePath, removeHome, startService } from '../test/support/start.ts';

/**
 * Measures how long the API works on opens and clicks, from the arrival of a request to its response. The times are in
 * the API's own log. Runs with one client, with many concurrent clients, and with `--rate` requests per second, because
 * unlimited clients use the whole machine. Each email is opened once, and each of its two links is clicked once, so
 * that caches do not help. During the measurement, the API also writes the opens and clicks to Postgres in batches. The
 * baseline is the response for a path that does not exist.
 */
const { values } = parseArgs({
  options: {
    emails: { type: 'string', default: '3000' },
    clients: { type: 'string', default: '20' },
    rate: { type: 'string', default: '1000' },
  },
});
const emails = Number(values.emails);
const clients = Number(values.clients);

interface Load {
  clients: number;
  /** Requests per second of all clients together. */
  rate: number;
}
const LOADS: Load[] = [
  { clients: 1, rate: Number.POSITIVE_INFINITY },
  { clients, rate: Number(values.rate) },
  { clients, rate: Number.POSITIVE_INFINITY },
];
const AGENT = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/131.0.0.0 Safari/537.36';
const BODY =
  '<p><a href="https://shop.example.com/sale?for={{n}}">{{firstName}}</a> <a href="https://shop.example.com/all">all</a></p>';
const KINDS = {
  'nothing (404)': () => '/no-such-path',
  open: (token: string) => `/o/${token}.gif`,
  'click, address with a variable': (token: string) => `/c/${token}/0`,
  'click, address without': (token: string) => `/c/${token}/1`,
};

const home = createHomePath();
const service = await startService({ home, env: { LOG_LEVEL: 'info', RATE_LIMIT_PER_MINUTE: '0' } });
const dev = service.dev();
const secret = readFileSync(join(home, 'secret-key'), 'utf8').trim();
const { db } = connect({ connectionString: dev.databaseUrl, max: 2, applicationName: 'bench', onError: () => {} });
const agent = new Agent();
try {
  const warm = await buildSentEmails('warm', 300);
  for (const path of Object.values(KINDS))
    await measureRequests(warm.map(path), { clients, rate: Number.POSITIVE_INFINITY });
  const rows: Record<string, string | number>[] = [];
  for (const [n, load] of LOADS.entries()) {
    const tokens = await buildSentEmails(`load${n}n`, emails);
    for (const [kind, path] of Object.entries(KINDS))
      rows.push({ kind, clients: load.clients, ...(await measureRequests(tokens.map(path), load)) });
  }
  console.log(`\nServer time in ms: ${emails} emails, with one request of each kind for each email`);
  console.table(rows);
} finally {
  await agent.close();
  await db.destroy();
  service.signal('SIGTERM');
  await service.exited;
  await removeHome(home);
}

/** Inserts emails that were sent an hour ago, and returns their tracking tokens. */
async function buildSentEmails(localPart: string, count: number): Promise<string[]> {
  const { projectId } = dev;
  await buildContacts(db, { projectId, count, localPart });
  const contentId = await saveContent(db, {
    ...NO_TEXT,
    projectId,
    subject: 'News',
    body: BODY,
    type: 'MARKETING',
    from: `news@${dev.domain}`,
    fromName: 'Shop',
    templateId: null,
  });
  const { rows } = await sql<{ id: string }>`
    INSERT INTO emails (project_id, contact_id, content_id, source_type, status, to_email, sent_at)
    SELECT project_id, id, ${contentId}, 'CAMPAIGN', 'SENT', email, now() - interval '1 hour' FROM contacts
    WHERE project_id = ${projectId} AND starts_with(email, ${localPart}) RETURNING id
  `.execute(db);
  return rows.map(({ id }) => createLinkTokens(secret, id).track);
}

/** Requests each path once with `load.clients` concurrent clients, and reads each request's time from the API's log. */
async function measureRequests(paths: string[], load: Load): Promise<Record<string, number>> {
  const before = readLoggedDurations().length;
  const startedAt = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: load.clients }, async () => {
      for (let path = paths[next++]; path !== undefined; path = paths[next++]) {
        const dueMs = (next / load.rate) * 1_000 - (performance.now() - startedAt);
        if (dueMs > 0) await sleep(dueMs);
        const { body } = await request(dev.baseUrl + path, { dispatcher: agent, headers: { 'user-agent': AGENT } });
        await body.dump();
      }
    }),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  while (readLoggedDurations().length < before + paths.length) await sleep(50);
  const ms = readLoggedDurations()
    .slice(before)
    .sort((a, b) => a - b);
  const at = (share: number) => ms[Math.floor(share * (ms.length - 1))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: at(1), 'a second': Math.round(paths.length / seconds) };
}

/** Returns the API's duration of every logged request, in ms. */
function readLoggedDurations(): number[] {
  const lines = readFileSync(join(home, 'logs', 'api.log'), 'utf8').split('\n');
  return lines.flatMap((line) => {
    const ms = /"ms":([\d.]+),.*"msg":"request"|"msg":"request".*"ms":([\d.]+)/.exec(line);
    return ms ? [Number(ms[1] ?? ms[2])] : [];
  });
}
