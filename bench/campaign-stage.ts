import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { SinkProcess } from '../test/support/smtp/sink-process.ts';
import type { StartedService } from '../test/support/start.ts';

/** Maximum wait for the sink's messages. */
const WAIT_MAX_MS = 1_800_000;

/** Waits until the sink has `count` messages; returns the time by `performance.now()`. */
export async function waitForSink(sink: SinkProcess, count: number, since: number): Promise<number> {
  for (;;) {
    const { messages } = await sink.counts();
    if (messages >= count) return performance.now();
    if (performance.now() - since > WAIT_MAX_MS) throw new Error(`the sink has ${messages} of ${count} messages`);
    await sleep(5);
  }
}

/** Waits until a campaign is SENT; then returns `performance.now()`. */
export async function waitUntilSent(database: pg.Client, id: string): Promise<number> {
  for (;;) {
    const { rows } = await database.query('SELECT status FROM campaigns WHERE id = $1', [id]);
    if (rows[0]?.status === 'SENT') return performance.now();
    await sleep(20);
  }
}

/** Inserts contacts with the numbers `from` to `to`. The contacts get the time zones of `zones` in turn. */
export async function insertContacts(
  database: pg.Client,
  p: { projectId: string; from: number; to: number; zones?: readonly string[] },
): Promise<void> {
  const { projectId, from, to, zones = [] } = p;
  await database.query(
    `INSERT INTO contacts (project_id, email, subscribed, data)
     SELECT $1, 'r' || n || '@bench.test', true, jsonb_strip_nulls(jsonb_build_object('firstName', 'Ada ' || n, 'lastName', 'Lovelace',
       'city', 'London', 'plan', 'pro', 'points', n, 'company', 'Analytical Engines ' || (n % 100), 'unused', repeat('x', 100),
       'timezone', ($4::text[])[1 + n % greatest(1, cardinality($4::text[]))]))
     FROM generate_series($2::int, $3::int) AS n`,
    [projectId, from, to, zones],
  );
  await database.query('VACUUM ANALYZE contacts');
}

/** Calls the API with the key of the first project. @throws for any response that is not 2xx */
// biome-ignore lint/suspicious/noExplicitAny: responses have several shapes, and each is read in one place
export async function postToApi(running: StartedService, path: string, body: unknown): Promise<any> {
  const { baseUrl, secretKey } = running.dev();
  const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' };
  const response = await fetch(baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const result = await response.json();
  if (!response.ok) throw new Error(`${path}: ${JSON.stringify(result)}`);
  return result;
}

/** Returns the peak memory of a process in MB. */
export function readPeakMegabytes(pid: number): number {
  return readStatusMegabytes(pid, 'VmHWM');
}

/** Returns the current memory of a process in MB. */
export function readResidentMegabytes(pid: number): number {
  return readStatusMegabytes(pid, 'VmRSS');
}

function readStatusMegabytes(pid: number, field: string): number {
  return Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readProcFile(pid, 'status'))?.[1] ?? 0) / 1024);
}

/** Reads a file of a process in /proc. Returns an empty string if the file cannot be read. */
function readProcFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
