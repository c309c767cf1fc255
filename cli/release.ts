import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Release } from '../db/operator/processes.ts';
import { packageRoot, readPackageVersion } from './package-root.ts';

/**
 * Returns the version of the release, and the build id: the hash of the compiled modules that build/build.mjs has
 * computed, or `unknown` without a build.
 */
export function readOwnRelease(): Release {
  const file = join(packageRoot(), 'dist', 'build-id.txt');
  return { version: readPackageVersion(), build: existsSync(file) ? readFileSync(file, 'utf8').trim() : 'unknown' };
}
