import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Release } from '../db/operator/processes.ts';
import { packageRoot, packageVersion } from './package-root.ts';

/** What this process was made of: the version, and what build/build.mjs says of the compiled modules. */
export function thisRelease(): Release {
  const file = join(packageRoot(), 'dist', 'build-id.txt');
  return { version: packageVersion(), build: existsSync(file) ? readFileSync(file, 'utf8').trim() : 'unknown' };
}
