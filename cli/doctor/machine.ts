import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { computeDistanceOutside } from '../../db/inspection.ts';
import { isLoopbackHost } from '../../rules/access/loopback.ts';
import { findInnermostReason } from '../database-error.ts';
import type { Deployment } from './deployment.ts';
import { type DoctorCheck, type DoctorFinding, failFinding, passFinding, warnFinding } from './report.ts';

const GIB = 1024 ** 3;
/**
 * If less space than this is free, the check fails. Postgres stops when it cannot write. A campaign with 100,000
 * recipients writes about 100 MB, in addition to the write-ahead log (WAL).
 */
const DISK_FAIL_BYTES = GIB;
const DISK_WARN_BYTES = 5 * GIB;
/**
 * A file system without free inodes can create no file. If the share of free inodes is below this value, the check
 * warns.
 */
const INODES_WARN_SHARE = 0.05;
/**
 * If the two servers' times differ by more than this, the check warns. Signed requests and certificates tolerate
 * minutes, but users would notice wrong times in their records.
 */
const CLOCK_WARN_MS = 2_000;
const CLOCK_FAIL_MS = 60_000;
/** The `Date` header has a precision of one second. */
const DATE_HEADER_MS = 1_000;
const RESPONSE_MS = 3_000;

/** Compares this machine's time with the time of Postgres and of a web server. */
export const clockCheck: DoctorCheck = {
  name: 'clock',
  async run(deployment) {
    const [postgres, other] = await Promise.all([compareWithPostgres(deployment), compareWithHttp(deployment)]);
    const found = [postgres, other].flatMap((clock) => (clock ? [judgeClock(clock)] : []));
    if (found.length > 0) return found;
    return [
      warnFinding(
        'no other clock to compare with',
        'run the doctor again when Postgres is up, and let NTP set the clock',
      ),
    ];
  },
};

/** Checks the free disk space for the home: logs, and the databases of `npm start`. */
export const diskCheck: DoctorCheck = {
  name: 'disk',
  async run({ home }) {
    const { bavail, bsize, ffree, files } = await statfs(findExistingParent(home));
    return [judgeDiskSpace({ folder: home, freeBytes: bavail * bsize, freeInodes: ffree, inodes: files })];
  },
};

/** Returns the finding for the given free space. File systems that have no inodes report 0 for them. */
export function judgeDiskSpace(p: {
  folder: string;
  freeBytes: number;
  freeInodes: number;
  inodes: number;
}): DoctorFinding {
  const message = `${(p.freeBytes / GIB).toFixed(1)} GiB are free at ${p.folder}`;
  const remedy = 'free disk space, or set TIDINGS_HOME to a larger disk';
  if (p.freeBytes < DISK_FAIL_BYTES) return failFinding(message, remedy);
  if (p.inodes > 0 && p.freeInodes < p.inodes * INODES_WARN_SHARE)
    return warnFinding(`${message}, but almost no inodes`, remedy);
  return p.freeBytes < DISK_WARN_BYTES ? warnFinding(message, remedy) : passFinding(message);
}

/** Returns the finding for the time of `owner`, which is `aheadMs` ahead of this machine's time. */
export function judgeClock(clock: { owner: string; aheadMs: number }): DoctorFinding {
  const apartMs = Math.abs(clock.aheadMs);
  const direction = clock.aheadMs < 0 ? 'ahead of' : 'behind';
  const message = `this machine's time is ${(apartMs / 1000).toFixed(1)} s ${direction} the time of ${clock.owner}`;
  const remedy =
    'let NTP set the time (chrony, systemd-timesyncd): times in records, links and signatures depend on the clock';
  if (apartMs > CLOCK_FAIL_MS) return failFinding(message, remedy);
  return apartMs > CLOCK_WARN_MS
    ? warnFinding(message, remedy)
    : passFinding(`this machine's time agrees with the time of ${clock.owner}`);
}

async function compareWithPostgres({ postgres, databaseUrl }: Deployment) {
  const inspected = await postgres();
  if ('reason' in inspected || databaseUrl === undefined) return undefined;
  const here = isLoopbackHost(new URL(databaseUrl).hostname);
  return { owner: here ? 'Postgres (on this machine)' : 'Postgres', aheadMs: inspected.facts.clockAheadMs };
}

/**
 * Compares this machine's clock with the `Date` header of the provider to which this service sends signed requests,
 * or of the reverse proxy. Undefined if the configuration has neither, or if no response arrives.
 */
async function compareWithHttp({ settings }: Deployment) {
  const { servers } = settings.email;
  const usesProvider = servers.whose === 'provider';
  const url = new URL(usesProvider ? servers.url : settings.publicUrl);
  if (isLoopbackHost(url.hostname) && !usesProvider) return undefined;
  const requestedAt = Date.now();
  const response = await fetch(url, {
    method: 'HEAD',
    redirect: 'manual',
    signal: AbortSignal.timeout(RESPONSE_MS),
  }).catch(findInnermostReason);
  const date = typeof response === 'string' ? undefined : response.headers.get('date');
  if (!date || Number.isNaN(Date.parse(date))) return undefined;
  return {
    owner: url.host,
    aheadMs: computeDistanceOutside(Date.parse(date), { from: requestedAt - DATE_HEADER_MS, to: Date.now() }),
  };
}

function findExistingParent(folder: string): string {
  return existsSync(folder) ? folder : findExistingParent(dirname(folder));
}
