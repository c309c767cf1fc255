// `npm test`: installs and builds what is missing, then lint, types and every test. The last line is the summary
// `N passed, N failed`; a lint or type failure counts as one failed test.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from './build.mjs';
import { ensureInstalled, requireNode } from './install.mjs';

const ROOT = dirname(fileURLToPath(import.meta.url));

requireNode();
await ensureInstalled();
ensureBuilt();

const checks = [
  ['lint', 'node_modules/@biomejs/biome/bin/biome', 'check', '.'],
  ['import directions', 'test/check-imports.mjs'],
  ['types', 'node_modules/typescript/bin/tsc', '--noEmit', '-p', '.'],
  ['types of the dashboard', 'node_modules/typescript/bin/tsc', '--noEmit', '-p', 'dashboard'],
];
let failed = 0;
for (const [name, ...words] of checks) {
  const ok = run(words);
  console.log(`${ok ? 'ok' : 'FAILED'}: ${name}`);
  if (!ok) failed += 1;
}

const tests = runTests();
console.log(`${tests.passed} passed, ${failed + tests.failed} failed`);
process.exitCode = failed + tests.failed === 0 ? 0 : 1;

/**
 * The counts come from vitest's own report; a file that could not be run, or an error outside of a test, is a failure.
 */
function runTests() {
  const folder = mkdtempSync(join(tmpdir(), 'tidings-report-'));
  const report = join(folder, 'report.json');
  try {
    const ok = run([
      'node_modules/vitest/vitest.mjs',
      'run',
      // Named by the reporter below; a single file that a developer runs has one try.
      '--retry=1',
      '--reporter=default',
      '--reporter=./test/support/second-try-reporter.ts',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...process.argv.slice(2),
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

function run(words) {
  return spawnSync(process.execPath, words, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}
