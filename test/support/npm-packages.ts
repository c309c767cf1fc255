import { execFile } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fetchOnce } from './fetched-once.ts';

const NPM_TIMEOUT_MS = 180_000;
const FILES = ['package.json', 'package-lock.json'];
const run = promisify(execFile);

/**
 * Installs the packages of a folder's lock file into `<root>/node_modules`, for tests that need other versions than the
 * repository, or packages that only tests use. If they are unavailable, returns the reason as a sentence.
 */
export function fetchNpmPackages(folder: string): Promise<{ root: string } | string> {
  return fetchOnce({
    kind: 'npm',
    wanted: [
      process.version,
      process.platform,
      process.arch,
      ...FILES.map((file) => readPackageFile(folder, file)),
    ].join(' '),
    refusal: "npm's packages are out of reach",
    fetch: async (staging) => {
      for (const file of FILES) copyFileSync(join(folder, file), join(staging, file));
      const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
      await run('npm', ['ci', ...options], { cwd: staging, timeout: NPM_TIMEOUT_MS });
      return staging;
    },
  });
}

function readPackageFile(folder: string, file: string): string {
  return readFileSync(join(folder, file), 'utf8');
}
