import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from './package-root.ts';

interface LockedPackage {
  version?: string;
  optionalDependencies?: Record<string, string>;
}

it('the lock file names the packages of every platform, so that npm ci works on each', () => {
  const file = readFileSync(join(packageRoot(), 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(file) as { packages: Record<string, LockedPackage> };
  const named = new Set(Object.keys(packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 13)));
  const missing = Object.values(packages)
    .flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}))
    .filter((name) => !named.has(name));
  expect(missing).toEqual([]);
});
