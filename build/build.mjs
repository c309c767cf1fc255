/**
 * Builds dist/ in two parts. The first part has the compiled modules, the files that are not TypeScript, and the
 * prebuilt bundle of the Temporal workflows. The second part is the dashboard (dashboard.mjs). Each part is skipped if
 * its sources have not changed. Two builds at the same time, or a killed build, do no harm: files are moved to dist/
 * one by one after all of them are built, and the stamp is written last. This script does not check types; `npm run
 * typecheck` does.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildDashboard, DASHBOARD_FOLDER, isDashboardBuilt } from './dashboard.mjs';
import { computeStamp, listFiles, moveFiles, readIfExists } from './files.mjs';
import { withLock } from './lock.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const DIST = join(ROOT, 'dist');
const ROOMS = [
  'api',
  'rules',
  'compute',
  'db',
  'engine',
  'temporal',
  'workflows',
  'activities',
  'channels',
  'worker',
  'cli',
  'web',
  'bench',
];
/** The rooms that workflows may import. If a file of these rooms changes, the workflow bundle changes. */
const BUNDLED_ROOMS = ['workflows', 'rules', 'temporal', 'activities'];
const OTHER_INPUTS = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'build/build.mjs',
  'build/files.mjs',
  // The benches import these files.
  'test/support',
];
const STAMP = join(DIST, '.stamp');
const BUNDLE = join(DIST, 'workflow-bundle.js');
const BUNDLE_STAMP = join(DIST, '.bundle-stamp');
/** Files in dist/ that the build writes after the compiled modules. They are not removed as leftovers. */
const KEPT = new Set(['.stamp', '.bundle-stamp', '.dashboard-stamp', 'workflow-bundle.js']);
/** The option with which `ensureBuilt` skips the dashboard. */
const WITHOUT_DASHBOARD = '--without-dashboard';

/**
 * Builds dist/ if sources have changed. The build runs in a separate process, so that the caller does not keep the
 * memory of the compiler. A command that does not serve the dashboard (`npm run openapi`, `migrate`) skips the build of
 * the dashboard.
 */
export function ensureBuilt({ dashboard = true } = {}) {
  if (readIfExists(STAMP) === computeInputsStamp() && (!dashboard || isDashboardBuilt())) return;
  const words = [fileURLToPath(import.meta.url), ...(dashboard ? [] : [WITHOUT_DASHBOARD])];
  const result = spawnSync(process.execPath, words, {
    cwd: ROOT,
    // Build output goes to stderr, so that `npm run -s openapi > openapi.json` stays clean.
    stdio: ['ignore', 2, 'inherit'],
  });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

async function build() {
  removeAbandoned();
  await buildServer();
  if (!process.argv.includes(WITHOUT_DASHBOARD)) await buildDashboard();
}

async function buildServer() {
  const hash = computeInputsStamp();
  if (readIfExists(STAMP) === hash) return;
  const startedAt = Date.now();
  console.log('Building …');
  const staging = join(ROOT, `dist.${process.pid}.tmp`);
  try {
    compile(staging);
    copyOtherFiles(staging);
    moveFiles(staging, DIST, { keeps: (path) => KEPT.has(path) || path.split(sep)[0] === DASHBOARD_FOLDER });
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  writeFileSync(join(DIST, 'build-id.txt'), computeContentHash(ROOMS).slice(0, 16));
  await bundleWorkflows();
  writeFileSync(STAMP, hash);
  console.log(`Built in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`);
}

/**
 * Removes the staging folders that killed builds left behind. The caller holds the build lock, so no other build is
 * running.
 */
function removeAbandoned() {
  for (const name of readdirSync(ROOT)) {
    if (/^dist\.\d+\.tmp$/.test(name)) rmSync(join(ROOT, name), { recursive: true, force: true });
  }
}

function compile(staging) {
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const words = [tsc, '-p', join(ROOT, 'tsconfig.build.json'), '--outDir', staging];
  const result = spawnSync(process.execPath, words, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  if (result.status !== 0) throw new Error('the compiler found errors, see above');
}

function copyOtherFiles(staging) {
  for (const file of ROOMS.flatMap((room) => listFiles(join(ROOT, room)))) {
    if (/\.(ts|tsx)$/.test(file)) continue;
    const target = join(staging, relative(ROOT, file));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(file, target);
  }
}

async function bundleWorkflows() {
  const workflowsPath = join(DIST, 'workflows', 'registry.js');
  const hash = computeContentHash(BUNDLED_ROOMS);
  if (!existsSync(workflowsPath) || (existsSync(BUNDLE) && readIfExists(BUNDLE_STAMP) === hash)) return;
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const workflowInterceptorModules = [join(DIST, 'workflows', 'interceptors.js')];
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules,
    // All runs of a process share these modules. Otherwise each run would execute the code of every module again, which
    // costs 2 ms of CPU. No module may have a variable that changes.
    preloadModules: [workflowsPath, ...workflowInterceptorModules],
    logger: new DefaultLogger('WARN'),
  });
  writeFileSync(`${BUNDLE}.tmp`, code);
  renameSync(`${BUNDLE}.tmp`, BUNDLE);
  writeFileSync(BUNDLE_STAMP, hash);
}

function computeInputsStamp() {
  return computeStamp([...ROOMS, ...OTHER_INPUTS].map((name) => join(ROOT, name)));
}

/** Returns a hash of the compiled modules in these rooms, and of the versions of their packages. */
function computeContentHash(rooms) {
  const hash = createHash('sha256').update(readFileSync(join(ROOT, 'package-lock.json')));
  for (const file of rooms.flatMap((room) => listFiles(join(DIST, room)))) {
    if (file.endsWith('.js')) hash.update(`${relative(DIST, file)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    await withLock(join(ROOT, 'dist.lock'), build);
  } catch (error) {
    console.error(`The build failed: ${error instanceof Error ? error.message : error}`);
    process.exit(1);
  }
}
