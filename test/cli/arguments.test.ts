import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../cli/package-root.ts';

/** Runs a program of the repository's root in an environment without settings. No service runs. */
function run(...words: string[]): { status: number | null; output: string } {
  const [script = '', ...rest] = words;
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(packageRoot(), script), ...rest], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '' },
  });
  return { status, output: stdout + stderr };
}

it.each([
  ['npm start', 'run.mjs', 'start'],
  ['npm run migrate', 'run.mjs', 'migrate'],
  ['npm run worker', 'run.mjs', 'worker'],
  ['npm run demo:channels', 'run.mjs', 'demo-channels'],
])('%s refuses an argument instead of ignoring it', (name, ...words) => {
  expect(run(...words, '--dry-run')).toEqual({
    status: 1,
    output: `${name} takes no arguments, but got --dry-run. Its settings are environment variables: docs/configuration.md lists them.\n`,
  });
});
