import { setTimeout as sleep } from 'node:timers/promises';
import { SEARCH_ATTRIBUTE_NAMES } from '../../temporal/search-attributes.ts';
import { StartError } from './error.ts';
import { openLog } from './logs.ts';
import { endProcess, isAlive, listProcessesWithArgument, type ProcessIdentity, sendSignal } from './processes.ts';
import { type Running, STOP_GRACE_MS, startProcess, watchChild } from './running.ts';

const HOST = '127.0.0.1';
/** The time limit for the start. A start normally takes 0.2 s, but longer with a large database after a kill. */
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 100;
/**
 * The time to stop for a Temporal server that an earlier `npm start` left behind. After this time, it is killed. The
 * time is short, because the state of the server is in its database file and the server has nothing to finish.
 */
const LEFTOVER_GRACE_MS = 3_000;

/**
 * Settings of the dev server, for these reasons:
 * - Priorities and fairness of task queues are off by default in server 1.29.
 * - Each task queue gets one partition instead of four. A single server gains nothing from four partitions, and with
 *   one partition a poll finds its task at once.
 * - Eager activities, which execution steps request, are also off by default.
 * - The default request limits (`rps`) are meant for a shared cluster. Here only the machine is the limit.
 * - By default, the history service checks for new tasks only 20 times a second. With more than seven emails a
 *   second, a workflow then waited 35 ms for each of its three tasks.
 */
const DYNAMIC_CONFIG: Readonly<Record<string, string>> = {
  'matching.useNewMatcher': 'true',
  'matching.enableFairness': 'true',
  'matching.numTaskqueueReadPartitions': '1',
  'matching.numTaskqueueWritePartitions': '1',
  'system.enableActivityEagerExecution': 'true',
  'frontend.rps': '100000',
  'frontend.namespaceRPS': '100000',
  'frontend.namespaceRPS.visibility': '1000',
  'matching.rps': '100000',
  'history.rps': '100000',
  'history.transferProcessorMaxPollRPS': '1000',
  'history.timerProcessorMaxPollRPS': '1000',
  'history.visibilityProcessorMaxPollRPS': '1000',
};

/**
 * By default, the dev server reads the list of search attributes from the database eight times for each workflow, so
 * that it notices new attributes at once. This service registers its attributes before the first workflow, so the
 * server can keep the list in memory. Namespaces that are created later, as in tests, need the default.
 */
const CACHED_SEARCH_ATTRIBUTES = ['--dynamic-config-value', 'system.forceSearchAttributesCacheRefreshOnRead=false'];

/**
 * With these SQLite settings, the server is twice as fast as with the defaults, and its data survives a killed process.
 */
const PRAGMAS = ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'];

export interface TemporalServerOptions {
  readonly binary: string;
  /** The file of the database. If undefined, the server keeps its data in memory, which tests use. */
  readonly databaseFile: string | undefined;
  readonly logFile: string;
  readonly namespace: string;
  readonly port: number;
  readonly uiPort: number;
  readonly httpPort: number;
  readonly metricsPort: number;
}

export interface TemporalServer extends Running {
  /** Host and port of the frontend. */
  readonly address: string;
  /** Address of the web UI. */
  readonly ui: string;
}

/**
 * Starts Temporal's dev server on a database file, and resolves when it serves the namespace
 * (docs/operate/troubleshoot.md).
 * @throws StartError that names the log if the server does not start
 */
export async function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  const log = openLog(options.logFile);
  const started = startProcess('Temporal', options.binary, buildArguments(options), {
    cwd: '/',
    stdio: ['ignore', log.descriptor, log.descriptor],
  });
  log.close();
  const { child, identity } = await started;
  const running = watchChild(child, identity, createStopFunctions(identity));
  const address = `${HOST}:${options.port}`;
  if (await waitUntilServing(address, options.namespace, identity)) {
    return { ...running, address, ui: `http://${HOST}:${options.uiPort}` };
  }
  running.kill();
  throw new StartError(`Temporal did not start: see ${options.logFile}.`);
}

/** Ends a server that an earlier start left behind on this database file, because two servers must not write to it. */
export async function endLeftoverTemporal(databaseFile: string): Promise<void> {
  const leftovers = listProcessesWithArgument(databaseFile);
  await Promise.all(leftovers.map((identity) => endProcess(identity, 'SIGTERM', LEFTOVER_GRACE_MS)));
}

function buildArguments(options: TemporalServerOptions): string[] {
  const { databaseFile } = options;
  return [
    ...['server', 'start-dev', '--ip', HOST, '--port', String(options.port), '--ui-port', String(options.uiPort)],
    ...['--http-port', String(options.httpPort), '--metrics-port', String(options.metricsPort)],
    ...['--namespace', options.namespace, '--log-level', 'warn'],
    ...(databaseFile === undefined ? [] : ['--db-filename', databaseFile, ...PRAGMAS, ...CACHED_SEARCH_ATTRIBUTES]),
    ...SEARCH_ATTRIBUTE_NAMES.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
    ...Object.entries(DYNAMIC_CONFIG).flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${value}`]),
  ];
}

/** Waits until the server has the namespace. Returns false if the process has ended, or after `START_TIMEOUT_MS`. */
async function waitUntilServing(address: string, namespace: string, identity: ProcessIdentity): Promise<boolean> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (isAlive(identity) && Date.now() < deadline) {
    if (await hasNamespace(address, namespace)) return true;
    await sleep(POLL_MS);
  }
  return false;
}

/** Tells whether a Temporal server at this address responds in time and has the namespace in its database. */
export async function hasNamespace(address: string, namespace: string, deadlineMs = 2_000): Promise<boolean> {
  // Imported here, because loading the client takes half a second, and a start that fails earlier does not need it.
  const { Connection } = await import('@temporalio/client');
  const connection = Connection.lazy({ address, connectTimeout: 1_000 });
  try {
    await connection.withDeadline(Date.now() + deadlineMs, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return true;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}

function createStopFunctions(identity: ProcessIdentity) {
  return {
    stop: (graceMs = STOP_GRACE_MS) => endProcess(identity, 'SIGTERM', graceMs),
    kill: () => sendSignal(identity, 'SIGKILL'),
  };
}
