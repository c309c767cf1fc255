// `npm test`: installs and builds missing parts, then runs lint, types and every test except those in
// `test/only-in-all.mjs`. `npm test -- --all` includes these. The last line is the summary `N passed, N failed`. Each
// failed check, such as lint or types, counts as one failed test.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from './build/build.mjs';
import { ensureInstalled, requireNode } from './build/install.mjs';
import { ONLY_IN_ALL } from './test/only-in-all.mjs';

const ROOT = dirname(fileURLToPath(import.meta.url));
const ALL = '--all';
const runsAll = process.argv.includes(ALL);
/**
 * The options that select the tests. The complete run retries a failed test once, and the reporter names such tests. So
 * one race condition among thousands of tests does not block a change. In the run without `--all`, a developer sees
 * each failure at once.
 */
const SELECTION = runsAll ? ['--retry=1'] : ONLY_IN_ALL.map((files) => `--exclude=${files}`);

exitWithNpm();
requireNode();
await ensureInstalled();
ensureBuilt();

/**
 * Returns the command that checks the types of a folder. With more than one checker, the compiler does some work several
 * times. The compiler stores its results, so the next check only reads files that changed, and files that import them.
 */
function buildTypeCheck(folder) {
  const results = `node_modules/.cache/types/${folder === '.' ? 'root' : folder}.tsbuildinfo`;
  const options = ['--noEmit', '--checkers', '1', '--incremental', '--tsBuildInfoFile', results];
  return ['node_modules/typescript/bin/tsc', ...options, '-p', folder];
}

const checks = [
  ['lint', 'node_modules/@biomejs/biome/bin/biome', 'check', '.'],
  ['import directions', 'test/check-imports.mjs'],
  ['names', 'test/check-names.mjs'],
  ['language', 'test/check-words.mjs'],
  ['types', ...buildTypeCheck('.')],
  ['types of the dashboard', ...buildTypeCheck('dashboard')],
];
const results = await Promise.all(checks.map(runCheck));
const failed = results.filter((ok) => !ok).length;

const tests = await runTests();
console.log(`${tests.passed} passed, ${failed + tests.failed} failed`);
process.exitCode = failed + tests.failed === 0 ? 0 : 1;

/** Runs one check. Prints its output when it ends, because the checks run concurrently. Returns whether it succeeded. */
async function runCheck([name, ...words]) {
  const child = spawn(process.execPath, words, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  process.stdout.write(output + errors);
  console.log(`${code === 0 ? 'ok' : 'FAILED'}: ${name}`);
  return code === 0;
}

/**
 * Runs the tests. Returns the numbers of passed and failed tests from vitest's report. A file that could not be run, or
 * an error outside of a test, counts as a failure.
 */
async function runTests() {
  const folder = mkdtempSync(join(tmpdir(), 'tidings-report-'));
  const report = join(folder, 'report.json');
  try {
    const ok = await runVitest([
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=default',
      '--reporter=./test/support/second-try-reporter.ts',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...SELECTION,
      ...process.argv.slice(2).filter((word) => word !== ALL),
    ]);
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const brokenFiles = testResults.filter((file) => file.status === 'failed' && !hasFailedTest(file)).length;
    const failures = numFailedTests + brokenFiles;
    return { passed: numPassedTests, failed: ok ? failures : Math.max(failures, 1) };
  } catch (error) {
    console.error(`vitest left no report: ${error.message}`);
    return { passed: 0, failed: 1 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function hasFailedTest(file) {
  return file.assertionResults.some((test) => test.status === 'failed');
}

/**
 * Runs vitest, and returns whether it succeeded. Vitest has a channel to this process. When this process ends, even by
 * a kill, the channel closes, and vitest ends too (`test/support/global-setup.ts`).
 */
async function runVitest(words) {
  const child = spawn(process.execPath, words, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [code] = await once(child, 'exit');
  return code === 0;
}

/** Ends this process when npm is killed. The kill is visible only because this process then gets another parent. */
function exitWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  setInterval(() => process.ppid !== npm && process.kill(process.pid, 'SIGTERM'), 500).unref();
}
