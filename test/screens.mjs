/** `npm run screens` visits every screen as the tests do, and stores the screenshots in docs/screens/. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { convertToPalette } from './palette-png.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const PICTURES = join(ROOT, 'docs', 'screens');

rmSync(PICTURES, { recursive: true, force: true });
const { status } = spawnSync(
  process.execPath,
  [
    join(ROOT, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    'test/dashboard/screens.test.ts',
    ...process.argv.slice(2),
  ],
  { cwd: ROOT, stdio: 'inherit', env: { ...process.env, SCREENS: PICTURES } },
);
for (const name of readdirSync(PICTURES)) {
  const file = join(PICTURES, name);
  writeFileSync(file, convertToPalette(readFileSync(file)));
}
process.exit(status ?? 1);
