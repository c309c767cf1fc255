import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Environment, parseSettings } from '../../rules/config.ts';
import type { DevFile } from '../start/dev-file.ts';
import { readJson } from '../start/private-files.ts';
import { runStart } from '../start/service.ts';

const HEALTH_TIMEOUT_MS = 2_000;
/**
 * The environment variables of the caller that the tour passes to its separate service. The service gets no other
 * variables of the caller, so that it never uses a real provider or database.
 */
const INHERITED_VARIABLES =
  /^(PATH|HOME|USER|LANG|TMPDIR|XDG_.*|TEMPORAL_CLI_PATH|WORKERS|LOG_LEVEL|.*_PROXY|.*_proxy)$/;

/** The service that a tour uses. */
export interface TourService {
  /** Resolves with the content of dev.json when the service is ready. */
  readonly dev: Promise<DevFile>;
  /** A text that tells the user which service the tour uses. */
  readonly description: string;
  /** Stops the service if the tour has started it. */
  close(): Promise<void>;
}

/**
 * Returns the running service of TIDINGS_HOME, or starts a service in a temporary home. `writeLine` is called with each
 * line of the start's output.
 */
export async function findOrStartService(env: Environment, writeLine: (line: string) => void): Promise<TourService> {
  const running = await findRunningService(env);
  if (running === undefined) return startOwnService({ env, settings: {}, writeLine });
  return { dev: Promise.resolve(running), description: describeRunningService(env), close: async () => {} };
}

/** Returns the content of dev.json in TIDINGS_HOME, if its service responds. */
export async function findRunningService(env: Environment): Promise<DevFile | undefined> {
  return findRunning(join(parseSettings(env).home, 'dev.json'));
}

/** Describes the running service as text. */
export function describeRunningService(env: Environment): string {
  return `running service, home ${parseSettings(env).home}`;
}

/** Asks a service whether it captures its email instead of sending it. */
export async function capturesEmail({ mailboxUrl }: DevFile): Promise<boolean> {
  const { status, headers } = await fetch(`${mailboxUrl}.json?to=nobody@example.com`);
  // With a real provider, the mailbox contains only email to the simulator, and the header `x-mailbox-of` is
  // `simulator`. The mailbox responds with 401 if only an OWNER may open it.
  return (status === 200 || status === 401) && headers.get('x-mailbox-of') !== 'simulator';
}

/**
 * Returns the headers for a request to the mailbox. If the mailbox requires a session, signs in the owner and returns
 * the session cookie. Otherwise the headers are empty.
 */
export async function createMailboxHeaders({ baseUrl, mailboxUrl, owner }: DevFile): Promise<Record<string, string>> {
  if ((await fetch(`${mailboxUrl}.json?to=nobody@example.com`)).status !== 401) return {};
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${baseUrl}/auth/login`, { method: 'POST', headers, body: JSON.stringify(owner) });
  if (!response.ok) throw new Error(`The owner of dev.json could not sign in: ${await response.text()}`);
  return {
    cookie: response.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .join('; '),
  };
}

/** Starts a service in a temporary home on free ports. `settings` are additional environment variables. */
export function startOwnService({
  env,
  settings,
  writeLine,
}: {
  env: Environment;
  settings: Readonly<Record<string, string>>;
  writeLine: (line: string) => void;
}): TourService {
  const folder = mkdtempSync(join(tmpdir(), 'tidings-demo-'));
  const service = runStart(
    {
      ...Object.fromEntries(Object.entries(env).filter(([name]) => INHERITED_VARIABLES.test(name))),
      TIDINGS_HOME: join(folder, 'home'),
      PORT: '0',
      RATE_LIMIT_PER_MINUTE: '0',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      ...settings,
    },
    writeLine,
  );
  const close = async (): Promise<void> => {
    service.stop();
    // The caller learns about a failed start from `dev`, so the error is ignored here.
    await service.done.catch(() => {});
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  return { dev: service.ready, description: 'started for this tour in a temporary home', close };
}

/**
 * Prints a line of the output of `npm start`. Skips the last lines of that output, because they help only users who
 * keep the service running.
 */
export function printStartLine(line: string): void {
  if (line && !/^(Tidings|Stopping| )/.test(line)) console.log(`   ${line}`);
}

async function findRunning(devFile: string): Promise<DevFile | undefined> {
  const dev = existsSync(devFile) ? readJson<DevFile>(devFile) : undefined;
  if (!dev) return undefined;
  const healthy = await fetch(`${dev.baseUrl}/health`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) }).then(
    (response) => response.ok,
    () => false,
  );
  return healthy ? dev : undefined; // A killed start leaves its file behind, so check that the service responds.
}
