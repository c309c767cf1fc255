// `npm test`: installs and builds missing parts, then runs lint, types and every test except those in
// `test/only-in-all.mjs`. `npm test -- --all` includes these. The last line is the summary `N passed, N failed`; a
// lint or type failure counts as one failed test.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from './build/build.mjs';
import { ensureInstalled, requireNode } from './build/install.mjs';
import { ONLY_IN_ALL } from './test/only-in-all.mjs';

const ROOT = dirname(fileURLToPath(import.meta.url));
const ALL = '--all';
const runsAll = process.argv.includes(ALL);
/**
 * Only the complete run tries a failed test again, and the reporter names it: one race among thousands of tests then
 * does not stop a change. A developer sees each failure at once.
 */
const SELECTION = runsAll ? ['--retry=1'] : ONLY_IN_ALL.map((files) => `--exclude=${files}`);

endWithNpm();
requireNode();
await ensureInstalled();
ensureBuilt();

/** More checkers do the same work several times: on two cores one is as fast, for a fifth less processor time. */
const TYPES = ['--noEmit', '--checkers', '1'];
const checks = [
  ['lint', 'node_modules/@biomejs/biome/bin/biome', 'check', '.'],
  ['import directions', 'test/check-imports.mjs'],
  ['names', 'test/check-names.mjs'],
  ['language', 'test/check-words.mjs'],
  ['types', 'node_modules/typescript/bin/tsc', ...TYPES, '-p', '.'],
  ['types of the dashboard', 'node_modules/typescript/bin/tsc', ...TYPES, '-p', 'dashboard'],
];
let failed = 0;
for (const [name, ...words] of checks) {
  const ok = run(words);
  console.log(`${ok ? 'ok' : 'FAILED'}: ${name}`);
  if (!ok) failed += 1;
}

const tests = await runTests();
console.log(`${tests.passed} passed, ${failed + tests.failed} failed`);
process.exitCode = failed + tests.failed === 0 ? 0 : 1;

/**
 * The counts come from vitest's own report; a file that could not be run, or an error outside of a test, is a failure.
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
    const known = numFailedTests + brokenFiles;
    return { passed: numPassedTests, failed: ok ? known : Math.max(known, 1) };
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

/** Vitest ends when the channel to this process does, however this process ends (`test/support/global-setup.ts`). */
async function runVitest(words) {
  const child = spawn(process.execPath, words, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [code] = await once(child, 'exit');
  return code === 0;
}

/** Nothing tells a script that npm was killed, except that it gets another parent. */
function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  setInterval(() => process.ppid !== npm && process.kill(process.pid, 'SIGTERM'), 500).unref();
}

function run(words) {
  return spawnSync(process.execPath, words, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}
