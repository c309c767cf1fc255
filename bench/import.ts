import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createHomePath, removeHome, startService } from '../test/support/start.ts';

/**
 * Measures CSV imports through the whole service: the files are uploaded to the API, queued, and imported by the
 * workers. The time is from the first upload to the end of the last job. Imports new contacts first, then the same
 * files with a changed column, and then these changed files again. Also prints the memory of the workers.
 */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    files: { type: 'string', default: '4' },
    workers: { type: 'string', default: '2' },
  },
});
const rows = Number(values.rows);
const files = Number(values.files);
const POLL_MS = 100;
/** The number of clock ticks a second in which Linux reports CPU times (USER_HZ). It is 100 on every Linux. */
const TICKS_A_SECOND = 100;

interface Job {
  status: string;
  result: { successCount: number; createdCount: number; failureCount: number };
}

const home = createHomePath();
const service = await startService({
  home,
  env: { PORT: '0', WORKERS: values.workers, RATE_LIMIT_PER_MINUTE: '0', LOG_LEVEL: 'warn' },
});
const dev = service.dev();
const key = { authorization: `Bearer ${dev.secretKey}` };

try {
  await measureImport('warm-up', { prefix: 'warm', total: 5_000, plan: 'pro' });
  const table = [
    await measureImport('new contacts', { prefix: 'a', total: rows, plan: 'pro' }),
    await measureImport('more new contacts', { prefix: 'b', total: rows, plan: 'pro' }),
    await measureImport('known, one value changed', { prefix: 'a', total: rows, plan: 'free' }),
    await measureImport('known, unchanged', { prefix: 'a', total: rows, plan: 'free' }),
  ];
  console.log(
    `\n${rows} rows of 6 columns in ${files} files, ${values.workers} worker processes, everything on this machine`,
  );
  console.table(table);
} finally {
  service.signal('SIGTERM');
  await service.exited;
  await removeHome(home);
}

async function measureImport(what: string, p: { prefix: string; total: number; plan: string }) {
  const perFile = Math.ceil(p.total / files);
  const contents = Array.from({ length: files }, (_, file) => buildCsv({ ...p, from: file * perFile, rows: perFile }));
  let peakMb = 0;
  const before = readCpuSeconds();
  const startedAt = performance.now();
  const jobs = await Promise.all(contents.map(uploadCsv));
  let ended: Job[] = [];
  do {
    await sleep(POLL_MS);
    peakMb = Math.max(peakMb, ...dev.pids.workers.map(readResidentMb));
    ended = await Promise.all(jobs.map(readJob));
  } while (ended.some((job) => ['QUEUED', 'RUNNING'].includes(job.status)));
  const seconds = (performance.now() - startedAt) / 1_000;
  const spent = (part: keyof typeof before) =>
    Math.round(((readCpuSeconds()[part] - before[part]) / (perFile * files)) * 1e6);
  const sum = (pick: (job: Job) => number) => ended.reduce((total, job) => total + pick(job), 0);
  return {
    what,
    'rows/s': Math.round((perFile * files) / seconds),
    seconds: Math.round(seconds * 10) / 10,
    created: sum((job) => job.result.createdCount),
    updated: sum((job) => job.result.successCount - job.result.createdCount),
    failed: sum((job) => job.result.failureCount),
    'worker MB, peak': peakMb,
    // CPU time per row does not depend on other work on the machine. Two cores have 2,000,000 µs per second.
    'µs a row: API': spent('api'),
    workers: spent('workers'),
    Postgres: spent('postgres'),
  };
}

function buildCsv(p: { prefix: string; plan: string; from: number; rows: number }): string {
  const lines = ['email,firstName,lastName,plan,seats,subscribed'];
  for (let n = p.from; n < p.from + p.rows; n += 1) {
    lines.push(`${p.prefix}${n}@import.example,Ann${n},"Smith, ${n}",${p.plan},${n % 90},true`);
  }
  return lines.join('\r\n');
}

async function uploadCsv(csv: string): Promise<string> {
  const body = new FormData();
  body.append('file', new File([csv], 'contacts.csv'));
  const response = await fetch(`${dev.baseUrl}/contacts/import`, { method: 'POST', headers: key, body });
  const started = (await response.json()) as { jobId?: string };
  if (!started.jobId) throw new Error(`the import was refused: ${JSON.stringify(started)}`);
  return started.jobId;
}

async function readJob(jobId: string): Promise<Job> {
  return (await (await fetch(`${dev.baseUrl}/contacts/import/${jobId}`, { headers: key })).json()) as Job;
}

/** Returns the CPU time that each part of the service has used, in seconds; 0 on systems other than Linux. */
function readCpuSeconds(): { api: number; workers: number; postgres: number } {
  const { api, workers, postgres } = dev.pids;
  const sum = (pids: number[]) => pids.reduce((total, pid) => total + readCpuSecondsOf(pid), 0);
  return {
    api: sum([api]),
    workers: sum(workers),
    postgres: postgres === null ? 0 : sum([postgres, ...listChildren(postgres)]),
  };
}

/** Returns the user and system time of a process and of its children that have ended (proc(5)). */
function readCpuSecondsOf(pid: number): number {
  const ticks = readStat(pid).slice(11, 15).map(Number);
  return ticks.reduce((total, tick) => total + tick, 0) / TICKS_A_SECOND;
}

function listChildren(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => readStat(pid)[1] === String(parent));
}

/** Returns the fields of /proc/<pid>/stat from the state on; empty for a process that has ended. */
function readStat(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return [];
  }
}

/** Returns the current memory of a process in MB; 0 on systems other than Linux. */
function readResidentMb(pid: number): number {
  try {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Math.round(Number(kilobytes ?? 0) / 1024);
  } catch {
    return 0;
  }
}
