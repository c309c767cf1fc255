// Compiles src/ to dist/, as ES modules with types. Uses the compiler of the repository, because the package has no
// dependencies.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const here = import.meta.dirname;
const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
rmSync(join(here, 'dist'), { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [join(typescript, 'bin', 'tsc'), '-p', here], { stdio: 'inherit' });
process.exitCode = status ?? 1;
