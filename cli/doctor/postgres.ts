import { isIP } from 'node:net';
import { isPublicAddress } from '../../channels/public-address.ts';
import { DURABILITY, type ServerFacts } from '../../db/inspection.ts';
import { listPendingMigrations } from '../../db/migrator.ts';
import { countConnections } from '../../db/pool-sizes.ts';
import { isLoopbackHost } from '../../rules/access/loopback.ts';
import type { Deployment } from './deployment.ts';
import { type DoctorCheck, type DoctorFinding, failFinding, passFinding, warnFinding } from './report.ts';

/** Maximum number of workers that `npm start` runs if WORKERS is not set. */
const WORKERS_DEFAULT = 4;

/** Checks that Postgres responds, is new enough, keeps committed data, and has enough connections. */
export const postgresCheck: DoctorCheck = {
  name: 'Postgres',
  async run(deployment) {
    const { databaseUrl, postgres } = deployment;
    if (databaseUrl === undefined) return [createNotRunningFinding()];
    const inspected = await postgres();
    const { host } = new URL(databaseUrl);
    if ('reason' in inspected) {
      return [
        failFinding(`${host} cannot be reached (${inspected.reason})`, 'check DATABASE_URL and that the server runs'),
      ];
    }
    const { facts } = inspected;
    if (!facts.supported)
      return [failFinding(`${host} is Postgres ${facts.version}, which is too old`, 'upgrade Postgres to 18 or newer')];
    const found = [
      ...checkDurability(facts),
      ...checkConnections(facts, deployment),
      ...checkEncryption(facts, databaseUrl),
      ...checkEncoding(facts),
    ];
    const pending = await listPendingMigrations(databaseUrl);
    if (pending.length > 0)
      found.push(failFinding(`the database has ${pending.length} pending migrations`, 'run npm run migrate'));
    return found.length > 0
      ? found
      : [passFinding(`${host} is Postgres ${facts.version}, keeps confirmed data, and is up to date`)];
  },
};

function createNotRunningFinding(): DoctorFinding {
  return warnFinding(
    'the Postgres of npm start is not running, so it was not checked',
    'run npm start, or set DATABASE_URL',
  );
}

/**
 * Reports the settings of `DURABILITY` that are off. Without these settings, a power failure can lose email that
 * Postgres has confirmed as stored.
 */
function checkDurability({ durability: settings }: ServerFacts): DoctorFinding[] {
  return DURABILITY.filter((name) => settings[name] === 'off').map((name) =>
    failFinding(
      `${name} is off: committed data is lost when the machine of Postgres fails`,
      `set ${name} = on in postgresql.conf and reload the configuration`,
    ),
  );
}

function checkConnections(
  { maxConnections, otherConnections }: ServerFacts,
  { settings }: Deployment,
): DoctorFinding[] {
  const workers = settings.workers ?? WORKERS_DEFAULT;
  const needed = countConnections({ workers });
  const left = maxConnections - otherConnections;
  if (needed <= left) return [];
  const message = `an API and ${workers} workers open up to ${needed} connections of ${maxConnections}, and others use ${otherConnections}`;
  const remedy = 'raise max_connections, set WORKERS lower, or put a pooler in session mode in front of Postgres';
  return [needed > maxConnections ? failFinding(message, remedy) : warnFinding(message, remedy)];
}

/** Warns about a connection without encryption if the host is public. Other hosts may be in a private network. */
function checkEncryption({ encrypted }: ServerFacts, databaseUrl: string): DoctorFinding[] {
  const host = new URL(databaseUrl).hostname.replace(/^\[|\]$/g, '');
  const isPublicHost = isIP(host) ? isPublicAddress(host) : host.includes('.') && !isLoopbackHost(host);
  if (encrypted || !isPublicHost) return [];
  return [
    warnFinding(
      `the connection to ${host} is not encrypted`,
      'add ?sslmode=verify-full to DATABASE_URL, or keep the connection in a private network',
    ),
  ];
}

function checkEncoding({ encoding }: ServerFacts): DoctorFinding[] {
  if (encoding === 'UTF8') return [];
  return [
    failFinding(
      `the database is ${encoding}, which cannot hold every name`,
      'create a database with ENCODING UTF8 and move the data',
    ),
  ];
}
