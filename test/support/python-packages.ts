import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fetchOnce } from './fetched-once.ts';

const PIP_TIMEOUT_MS = 300_000;
const run = promisify(execFile);

/**
 * Fetches the packages of a folder's `requirements.txt` into `root`, for PYTHONPATH. If they are unavailable, returns
 * the reason as a sentence.
 */
export function fetchPythonPackages(folder: string): Promise<{ root: string } | string> {
  const requirements = join(folder, 'requirements.txt');
  return fetchOnce({
    kind: 'python',
    wanted: [process.platform, process.arch, readFileSync(requirements, 'utf8')].join(' '),
    refusal: "Python's packages are out of reach",
    fetch: async (staging) => {
      const options = ['--quiet', '--disable-pip-version-check', '--no-warn-conflicts', '--root-user-action=ignore'];
      const words = ['-m', 'pip', 'install', ...options, '--target', staging, '--requirement', requirements];
      await run('python3', words, { timeout: PIP_TIMEOUT_MS });
      return staging;
    },
  });
}
