// `npm run fuzz:api` runs schemathesis with /openapi.json against a service that it starts, for at most ten minutes. It
// fails on any 5xx and on any response that the document does not allow. With BASE_URL, SECRET_KEY and SESSION_COOKIE
// in the environment it tests a running service instead. `SECONDS=60 npm run fuzz:api` is a short run.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const VERSION = '4.32.5';
const CHECKS = 'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance';
/** The part of ten minutes that remains after installing, starting and stopping. */
const SECONDS = Number(process.env.SECONDS ?? 500);
/** The share of the time for operations that only signed-in users may call. */
const PEOPLE_SHARE = 0.2;
const START_SECONDS = 300;
/** Paths that only sessions may call. The last two paths would end the session of the run. */
const PEOPLE_PATHS = '^/(apikeys|audit-log|auth|project|sms/senders)';
const ENDS_SESSION = '^/auth/(logout|password)$';

const schemathesis = installSchemathesis();
const service = process.env.BASE_URL ? useRunningService() : await startService();
const folder = mkdtempSync(join(tmpdir(), 'tidings-fuzz-document-'));
const file = join(folder, 'openapi.json');
let failed = false;
try {
  const document = await (await fetch(`${service.baseUrl}/openapi.json`)).json();
  writeFileSync(file, JSON.stringify(expandStatusRanges(document)));
  const byKey = ['-H', `Authorization: Bearer ${service.secretKey}`, '--exclude-path-regex', PEOPLE_PATHS];
  const bySession = ['-H', `Cookie: ${service.cookie}`, '--include-path-regex', PEOPLE_PATHS];
  failed = !runSchemathesis(byKey, Math.round(SECONDS * (1 - PEOPLE_SHARE))) || failed;
  failed =
    !runSchemathesis([...bySession, '--exclude-path-regex', ENDS_SESSION], Math.round(SECONDS * PEOPLE_SHARE)) ||
    failed;
} finally {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.log(failed ? 'fuzz:api FAILED' : 'fuzz:api passed');
process.exitCode = failed ? 1 : 0;

function runSchemathesis(who, seconds) {
  const words = ['run', file, '--url', service.baseUrl, '--checks', CHECKS, '--max-time', String(seconds)];
  const options = [
    '--phases',
    'examples,coverage,fuzzing',
    '--continue-on-failure',
    '--no-shrink',
    '--warnings',
    'off',
  ];
  const ran = spawnSync(schemathesis, [...words, ...options, ...who], {
    stdio: 'inherit',
    cwd: tmpdir(),
    timeout: (seconds + 90) * 1000,
  });
  return ran.status === 0;
}

/**
 * Returns the document with each error at its own status, for both paths of an operation. Ranges such as 4XX would
 * allow any other error.
 */
function expandStatusRanges(document) {
  const { responses, examples } = document.components;
  const statusesOf = (range) =>
    Object.values(responses[range].content['application/json'].examples).map(
      ({ $ref }) => examples[$ref.split('/').at(-1)].value.error.statusCode,
    );
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      operation.responses = { ...(document.paths[`/v1${path}`]?.[method] ?? operation).responses };
      // The HTTP parser responds before the operation is known.
      operation.responses[431] ??= operation.responses['4XX'];
      for (const range of ['4XX', '5XX']) {
        const rangeAnswer = operation.responses[range];
        if (!rangeAnswer) continue;
        for (const status of statusesOf(range)) operation.responses[status] ??= rangeAnswer;
        delete operation.responses[range];
      }
    }
  }
  return document;
}

/** Installs schemathesis from PyPI once for each user, in a separate folder. */
function installSchemathesis() {
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tidings', `schemathesis-${VERSION}`);
  const program = join(folder, 'bin', 'schemathesis');
  if (existsSync(program)) return program;
  mkdirSync(dirname(folder), { recursive: true });
  console.log(`Installing schemathesis ${VERSION} from PyPI …`);
  const made = spawnSync('python3', ['-m', 'venv', folder], { stdio: 'inherit' });
  const pip =
    made.status === 0 &&
    spawnSync(join(folder, 'bin', 'pip'), ['install', '-q', `schemathesis==${VERSION}`], { stdio: 'inherit' });
  if (pip && pip.status === 0) return program;
  rmSync(folder, { recursive: true, force: true });
  console.error('schemathesis could not be installed: it needs Python 3.10 or newer with venv, and PyPI.');
  process.exit(2);
}

function useRunningService() {
  const { BASE_URL: baseUrl, SECRET_KEY: secretKey, SESSION_COOKIE: cookie } = process.env;
  return { baseUrl, secretKey, cookie, stop: async () => {} };
}

/** Starts a whole service in a temporary home, without rate limits and without name resolution. */
async function startService() {
  const home = mkdtempSync(join(tmpdir(), 'tidings-fuzz-'));
  const env = {
    ...process.env,
    TIDINGS_HOME: home,
    PORT: '0',
    WORKERS: '1',
    RATE_LIMIT_PER_MINUTE: '0',
    DNS_SERVERS: '127.0.0.1:1',
  };
  const child = spawn(process.execPath, [join(ROOT, 'run.mjs'), 'start'], {
    env,
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.kill('SIGTERM')) await ended;
    rmSync(home, { recursive: true, force: true });
  };
  try {
    const file = join(home, 'dev.json');
    for (let waited = 0; !existsSync(file); waited += 1) {
      if (child.exitCode !== null || waited >= START_SECONDS) throw new Error('the service did not start');
      await sleep(1000);
    }
    const { baseUrl, secretKey, owner } = JSON.parse(readFileSync(file, 'utf8'));
    return { baseUrl, secretKey, cookie: await logIn(baseUrl, owner), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function logIn(baseUrl, { email, password }) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${baseUrl}/auth/login`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ email, password }),
  });
  const cookie = response.headers.get('set-cookie')?.split(';')[0];
  if (!cookie) throw new Error(`POST /auth/login returned ${response.status}`);
  return cookie;
}
