import { setTimeout as sleep } from 'node:timers/promises';
import { SIGN_IN_LINK_MINUTES } from '../../rules/access/sign-in-link.ts';
import { type Environment, parseStartSettings, type Settings, toBrowserUrl } from '../../rules/config.ts';
import { type DevFile, removeDevFile, writeDevFile } from './dev-file.ts';
import { StartError } from './error.ts';
import { listStartPorts } from './exposure.ts';
import { ensureFirstProject, type FirstProjectFacts } from './first-project.ts';
import { type Home, openHome, readOrCreateSecret, recordVersion } from './home.ts';
import { takeLock } from './home-lock.ts';
import { requireInstallation } from './installation.ts';
import { endLeftovers } from './leftovers.ts';
import { createParts, type SupervisedParts } from './parts.ts';
import { requirePort, reuseOrChoosePort } from './ports.ts';
import { formatReadyLines } from './ready.ts';
import { createSignInLink } from './sign-in-link.ts';
import {
  findTemporalProgram,
  migrate,
  type StartContext,
  startApiChild,
  startDatabase,
  startTemporal,
  startWorkerChildren,
} from './start-parts.ts';

const HEALTH_TIMEOUT_MS = 30_000;
const HEALTH_POLL_MS = 50;

/** A running `npm start`. */
export interface Service {
  /** Resolves with the content of dev.json when all parts run. Rejects when the start fails. */
  readonly ready: Promise<DevFile>;
  /** Settles when all parts have stopped. Resolves after `stop`. Rejects with the reason if the start failed. */
  readonly done: Promise<void>;
  /** Stops everything in order: API, workers, Temporal, Postgres. */
  readonly stop: () => void;
  /** Stops everything at once and ends this process. */
  readonly kill: () => void;
}

/**
 * Starts the whole service on this machine, and keeps it running until it is stopped. Calls `writeLine` with each line
 * for the user (docs/operate/install.md).
 */
export function runStart(env: Environment, writeLine: (line: string) => void = console.log): Service {
  const parts = createParts();
  const stopping = new AbortController();
  const ready = createDeferred<DevFile>();
  const done = run({ env, parts, stopping: stopping.signal, writeLine, ready: ready.resolve });
  done.then(() => ready.reject(new StartError('The service was stopped before it was ready.')), ready.reject);
  return {
    ready: ready.promise,
    done,
    stop: () => {
      writeLine('Stopping …');
      stopping.abort();
    },
    kill: () => {
      writeLine('Stopping immediately …');
      void parts.killAll().then(() => process.exit(1));
    },
  };
}

interface Run {
  readonly env: Environment;
  readonly parts: SupervisedParts;
  readonly stopping: AbortSignal;
  readonly writeLine: (line: string) => void;
  readonly ready: (dev: DevFile) => void;
}

async function run({ ready, ...options }: Run): Promise<void> {
  const { env, parts, stopping, writeLine } = options;
  const settings = parseStartSettings(env);
  const home = openHome(settings.home);
  const lock = await takeLock(home.lockFile, settings.home);
  try {
    removeDevFile(home.devFile); // An earlier `npm start` that was killed left this file behind.
    ready(await startAll({ ...options, settings, home }));
    await waitForAbort(stopping);
  } catch (error) {
    if (!stopping.aborted) throw error;
  } finally {
    removeDevFile(home.devFile);
    await parts.stopAll();
    lock.release();
    if (stopping.aborted) writeLine('Tidings has stopped.');
  }
}

async function startAll(context: StartContext): Promise<DevFile> {
  const { env, settings, home, parts, stopping, writeLine } = context;
  await endLeftovers(home);
  const port = await choosePort(settings, home);
  await requireOtherPorts(settings);
  const temporalBinary = await findTemporalProgram(context);
  const databaseUrl = await startDatabase(context);
  await migrate(databaseUrl);
  recordVersion(home);
  stopping.throwIfAborted();
  const temporal = await startTemporal(context, temporalBinary);
  stopping.throwIfAborted();
  await requireInstallation(
    { ...settings, database: { url: databaseUrl }, temporal: { ...settings.temporal, ...temporal } },
    { sends: true, notifyOperator: writeLine },
  );
  stopping.throwIfAborted();
  const secretKey = settings.secretKey ?? readOrCreateSecret(home, 'secret-key');
  const baseUrl = toBrowserUrl(settings.host, port);
  const childEnv = {
    ...env,
    HOST: settings.host,
    PORT: String(port),
    PUBLIC_URL: env.PUBLIC_URL || baseUrl,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    // The web UI of Temporal's dev server can be reached only from this machine, so a link to it would not work on
    // other machines.
    TEMPORAL_UI_URL: env.TEMPORAL_UI_URL || (settings.publicHost ? '' : (temporal.ui ?? '')),
    SECRET_KEY: secretKey,
  };
  const firstProject = ensureFirstProject({ databaseUrl, secretKey, homeFolder: home.folder });
  // By default, the user who starts the service is its operator. The settings can name other operators.
  const startApi = ({ owner }: FirstProjectFacts) =>
    startApiChild(context, { ...childEnv, OPERATORS: env.OPERATORS || owner.email });
  const [facts] = await settleAll(firstProject, firstProject.then(startApi), startWorkerChildren(context, childEnv));
  await waitUntilHealthy(baseUrl, stopping);
  const content = (): DevFile => ({
    baseUrl,
    ...facts,
    databaseUrl,
    temporal,
    mailboxUrl: `${baseUrl}/mailbox`,
    pids: parts.pids(),
  });
  const { PUBLIC_URL: publicUrl } = childEnv;
  const signInLink = await createSignInLink({ ...facts, settings, publicUrl, databaseUrl, baseUrl });
  writeDevFile(home.devFile, content());
  parts.onChange(() => writeDevFile(home.devFile, content()));
  printReadyLines(context, content(), port, signInLink);
  return content();
}

/**
 * Returns the port of the API. For PORT=0, chooses a free port and stores it in the home, so that a restarted API and
 * later starts use the same port.
 * @throws StartError if PORT is not free
 */
async function choosePort(settings: Settings, home: Home): Promise<number> {
  if (settings.port === 0) return reuseOrChoosePort(home.portsFile, 'api', settings.host);
  await requirePort('PORT', settings.host, settings.port);
  return settings.port;
}

async function requireOtherPorts(settings: Settings): Promise<void> {
  const { host, inboundSmtpPort, smtpRelay, metricsHost, metricsPort } = settings;
  if (metricsPort !== undefined) await requirePort('METRICS_PORT', metricsHost, metricsPort, 'METRICS_HOST');
  const ports = { INBOUND_SMTP_PORT: inboundSmtpPort, SMTP_RELAY_PORT: smtpRelay.port };
  for (const [variable, port] of Object.entries(ports)) {
    if (port !== undefined) await requirePort(variable, host, port);
  }
}

/**
 * Works like Promise.all, but rejects only after all promises have settled. If it rejected earlier, the service would
 * stop while another part is still starting, and that part could not be stopped.
 */
async function settleAll<T extends unknown[]>(...promises: { [K in keyof T]: Promise<T[K]> }): Promise<T> {
  await Promise.allSettled(promises);
  return (await Promise.all(promises)) as T;
}

async function waitUntilHealthy(baseUrl: string, stopping: AbortSignal): Promise<void> {
  const deadline = Date.now() + HEALTH_TIMEOUT_MS;
  while (Date.now() < deadline) {
    stopping.throwIfAborted();
    const response = await fetch(`${baseUrl}/health`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) return;
    await sleep(HEALTH_POLL_MS);
  }
  throw new StartError(`${baseUrl}/health did not respond: see the log of the API.`);
}

/**
 * Prints the addresses of the service for the user. They are the last lines of the start, because users read the last
 * lines first.
 */
function printReadyLines(
  { settings, home, writeLine }: StartContext,
  dev: DevFile,
  port: number,
  signInLink: string | undefined,
): void {
  const { baseUrl, databaseUrl, domain, mailboxUrl, pids, secretKey, temporal } = dev;
  const { publicHost } = settings;
  const openPorts = listStartPorts(settings, { port, workers: pids.workers.length, databaseUrl, temporal });
  const addressOf = (name: string) => openPorts.find(({ what }) => what === name)?.address;
  const lines = formatReadyLines({
    baseUrl,
    signInLink,
    signInMinutes: SIGN_IN_LINK_MINUTES,
    hasDashboard: settings.dashboard,
    mailboxUrl: settings.email.captures || settings.sms.captures ? mailboxUrl : undefined,
    temporalUi: temporal.ui,
    relay: addressOf('SMTP relay'),
    inbound: addressOf('inbound SMTP'),
    // The output may be stored in journals and log stores. If other machines can reach the service, someone could
    // misuse a key that is printed there.
    firstEmail: publicHost ? undefined : { secretKey, from: `hello@${domain}` },
    devFile: home.devFile,
    openPorts: publicHost ? openPorts : undefined,
  });
  for (const line of lines) writeLine(line);
}

function createDeferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (reason: unknown) => void } {
  let resolve: (value: T) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  promise.catch(() => {}); // Callers that only wait for `done` do not handle a rejection of this promise.
  return { promise, resolve, reject };
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    // This process does not exit while it waits, because the handles of its child processes keep it alive.
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
