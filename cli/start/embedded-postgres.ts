import { type SpawnOptions, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { StartError } from './error.ts';
import { openLog } from './logs.ts';
import {
  choosePostgresUser,
  findPostgresBinaries,
  type PostgresBinaries,
  type PostgresUser,
} from './postgres-binaries.ts';
import { makeFolder } from './private-files.ts';
import {
  endProcess,
  identifyProcess,
  isAlive,
  listProcessesIn,
  type ProcessIdentity,
  sendSignal,
  waitForEnd,
} from './processes.ts';
import { adoptProcess, type Running, STOP_GRACE_MS, startProcess, watchChild } from './running.ts';

/** The name of the superuser, and also of the database, of the embedded Postgres. */
const USER = 'tidings';
const DATABASE = 'tidings';
const HOST = '127.0.0.1';
const MIB = 1024 * 1024;
/**
 * The time limit for the start. A start normally takes 0.2 s, but crash recovery of a few GB of WAL takes much longer.
 */
const START_TIMEOUT_MS = 120_000;
const POLL_MS = 50;
/**
 * How long the start waits for the backends of a killed postmaster to end. They usually end within two seconds, but a
 * backend in a long query may not.
 */
const ORPHAN_GRACE_MS = 3_000;
/** The time limit for an immediate shutdown, which only has to end the backends. */
const QUIT_GRACE_MS = 1_000;

/**
 * The environment of Postgres. The caller's environment is not passed, because variables such as PGPORT, or an unknown
 * LANG, would change how Postgres behaves.
 */
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C.UTF-8', LANG: 'C.UTF-8', TZ: 'UTC' };

export interface EmbeddedPostgresOptions {
  /**
   * The folder of the database cluster. Its parent folder is created if necessary, and belongs to the user that runs
   * Postgres.
   */
  readonly dataFolder: string;
  readonly logFile: string;
  readonly port: number;
  /** Password of the user `tidings`. */
  readonly password: string;
  /** Settings that differ from `createSettings()`, such as fsync=off for tests. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres extends Running {
  readonly port: number;
  /** Connection string of the database `tidings`. */
  readonly url: string;
}

/**
 * Starts the embedded Postgres of a data folder, and resolves when it accepts connections. Creates the cluster and the
 * database `tidings` if they are missing. If a postmaster of this folder already runs, uses it. Removes the lock and
 * ends the backends (server processes) that a killed postmaster left behind.
 * @throws StartError that gives the reason and names the log
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const binaries = findPostgresBinaries();
  const user = prepareParent(binaries, options.dataFolder);
  if (!existsSync(options.dataFolder)) initializeCluster(binaries, user, options);
  checkVersion(binaries, options.dataFolder);
  const running = (await adoptPostmaster(options)) ?? (await launchPostmaster(binaries, user, options));
  await ensureDatabase(running.port, options.password);
  return { ...running, url: toDatabaseUrl(running.port, options.password, DATABASE) };
}

/**
 * Returns the settings of Postgres for one machine. Data stays durable (fsync and synchronous_commit stay on), and the
 * sizes fit this machine's memory.
 */
function createSettings(): Record<string, string> {
  const sharedBuffersMib = Math.min(512, Math.floor(totalmem() / MIB / 8));
  return {
    listen_addresses: HOST,
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: `${sharedBuffersMib}MB`,
    effective_cache_size: `${Math.floor(totalmem() / MIB / 2)}MB`,
    work_mem: '16MB',
    maintenance_work_mem: '128MB',
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_wal_size: '4GB',
    min_wal_size: '256MB',
    checkpoint_timeout: '15min',
    random_page_cost: '1.1',
    // Autovacuum analyzes tables every 10 s instead of every minute. Tables of this service may fill up within seconds,
    // and without new statistics, queries would have bad plans for up to a minute.
    autovacuum_naptime: '10s',
    jit: 'off', // Compiling a query (JIT) costs more than it saves on queries of a few milliseconds.
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    log_error_verbosity: 'terse', // Details of errors would quote rows: "Key (email)=(ada@example.com) already exists."
    logging_collector: 'off',
  };
}

/**
 * Creates the parent folder, and changes its owner to the user that runs Postgres, so that initdb can create the
 * cluster in it.
 */
function prepareParent(binaries: PostgresBinaries, dataFolder: string): PostgresUser {
  const parent = dirname(dataFolder);
  const isNew = !existsSync(parent);
  makeFolder(parent, 0o700);
  const user = choosePostgresUser(
    binaries,
    isNew ? join(parent, 'data') : existsSync(dataFolder) ? dataFolder : parent,
  );
  if (user.owner) chownSync(parent, user.owner.uid, user.owner.gid);
  return user;
}

/**
 * Creates the cluster in a temporary folder and then renames the folder. If the process is killed before the rename,
 * the data folder does not exist, so no later start uses an incomplete cluster.
 */
function initializeCluster(binaries: PostgresBinaries, user: PostgresUser, options: EmbeddedPostgresOptions): void {
  const fresh = `${options.dataFolder}.new`;
  const passwordFile = `${options.dataFolder}.password`;
  rmSync(fresh, { recursive: true, force: true });
  writeFileSync(passwordFile, options.password, { mode: 0o600 });
  chmodSync(passwordFile, 0o600);
  if (user.owner) chownSync(passwordFile, user.owner.uid, user.owner.gid);
  const [command, ...args] = [
    ...user.prefix,
    binaries.initdb,
    ...['-D', fresh, '-U', USER, '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--encoding=UTF8'],
    ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C.UTF-8'],
  ] as [string, ...string[]];
  const result = spawnSync(command, args, { ...getSpawnIds(user), cwd: '/', env: ENVIRONMENT, encoding: 'utf8' });
  rmSync(passwordFile, { force: true });
  if (result.status !== 0)
    throw new StartError(`Postgres could not create its data folder: ${getLastLine(result.stderr ?? '')}`);
  renameSync(fresh, options.dataFolder);
}

function checkVersion(binaries: PostgresBinaries, dataFolder: string): void {
  const version = readFileSync(join(dataFolder, 'PG_VERSION'), 'utf8').trim();
  if (version === binaries.major) return;
  throw new StartError(
    `The data in ${dataFolder} was written by Postgres ${version}, and this release has Postgres ${binaries.major}. Dump it with the old release, then load it with this one.`,
  );
}

/**
 * Finds a running postmaster of this folder and continues to use it. If no postmaster runs, or if it does not accept
 * connections, removes the lock file and returns undefined.
 */
async function adoptPostmaster(options: EmbeddedPostgresOptions): Promise<(Running & { port: number }) | undefined> {
  const lockFile = join(options.dataFolder, 'postmaster.pid');
  if (!existsSync(lockFile)) return undefined;
  const lines = readFileSync(lockFile, 'utf8').split('\n');
  const identity = identifyProcess(Number(lines[0]));
  if (identity && isPostmasterOf(identity, options.dataFolder)) {
    const port = Number(lines[3]);
    if (await waitForConnections(identity, port, options.password))
      return { ...adoptProcess(identity, createStopFunctions(identity)), port };
  }
  rmSync(lockFile, { force: true });
  return undefined;
}

/**
 * Tells whether a process is the postmaster of this folder. Another program may have got the pid of a dead postmaster.
 * On systems other than Linux, returns true, because there the working directory of a process is not known. A later
 * connection with our password then shows whether the process is our Postgres.
 */
function isPostmasterOf(identity: ProcessIdentity, dataFolder: string): boolean {
  return (
    process.platform !== 'linux' ||
    listProcessesIn(realpathSync(dataFolder)).some((other) => other.pid === identity.pid)
  );
}

async function launchPostmaster(binaries: PostgresBinaries, user: PostgresUser, options: EmbeddedPostgresOptions) {
  await endOrphans(options.dataFolder);
  const log = openLog(options.logFile);
  const assignments = Object.entries({ ...createSettings(), ...options.settings }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const [command, ...args] = [
    ...user.prefix,
    ...[binaries.postgres, '-D', options.dataFolder, '-p', String(options.port)],
    ...assignments,
  ] as [string, ...string[]];
  const io = { stdio: ['ignore', log.descriptor, log.descriptor] } satisfies SpawnOptions;
  const started = startProcess('Postgres', command, args, { ...getSpawnIds(user), ...io, cwd: '/', env: ENVIRONMENT });
  log.close();
  const { child, identity } = await started;
  const running = { ...watchChild(child, identity, createStopFunctions(identity)), port: options.port };
  if (await waitForConnections(identity, options.port, options.password)) return running;
  running.kill();
  throw new StartError(`Postgres did not start: see ${options.logFile}.`);
}

/**
 * Ends the backends that a killed postmaster left behind. A new postmaster refuses to start while they use the shared
 * memory.
 */
async function endOrphans(dataFolder: string): Promise<void> {
  const orphans = listProcessesIn(realpathSync(dataFolder));
  await Promise.all(orphans.map((identity) => waitForEnd(identity, ORPHAN_GRACE_MS)));
  await Promise.all(orphans.filter(isAlive).map((identity) => endProcess(identity, 'SIGKILL', ORPHAN_GRACE_MS)));
}

/**
 * Waits until Postgres accepts connections. Returns false if the process has ended, for example because it was shutting
 * down, or after `START_TIMEOUT_MS`.
 */
async function waitForConnections(identity: ProcessIdentity, port: number, password: string): Promise<boolean> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (isAlive(identity) && Date.now() < deadline) {
    if (await query(port, password, 'postgres', 'SELECT 1').catch(() => undefined)) return true;
    await sleep(POLL_MS);
  }
  return false;
}

async function ensureDatabase(port: number, password: string): Promise<void> {
  const found = await query(port, password, 'postgres', `SELECT 1 FROM pg_database WHERE datname = '${DATABASE}'`);
  if (found.length === 0) await query(port, password, 'postgres', `CREATE DATABASE ${DATABASE}`);
}

async function query(port: number, password: string, database: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({
    connectionString: toDatabaseUrl(port, password, database),
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => {}); // If the server stops during a query, the query itself also fails with this error.
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

function toDatabaseUrl(port: number, password: string, database: string): string {
  return `postgres://${USER}:${encodeURIComponent(password)}@${HOST}:${port}/${database}`;
}

/**
 * Returns the functions that stop Postgres. SIGINT starts its fast shutdown. SIGQUIT starts its immediate shutdown,
 * after which the next start needs crash recovery.
 */
function createStopFunctions(identity: ProcessIdentity) {
  return {
    stop: async (graceMs = STOP_GRACE_MS) => {
      sendSignal(identity, 'SIGINT');
      if (await waitForEnd(identity, graceMs)) return;
      await endProcess(identity, 'SIGQUIT', QUIT_GRACE_MS);
    },
    kill: () => sendSignal(identity, 'SIGQUIT'),
  };
}

/**
 * Returns the user and group for the child process. Empty if the command starts with setpriv, because setpriv then
 * changes the user.
 */
function getSpawnIds(user: PostgresUser): { uid?: number; gid?: number } {
  return user.owner && user.prefix.length === 0 ? { uid: user.owner.uid, gid: user.owner.gid } : {};
}

function getLastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
