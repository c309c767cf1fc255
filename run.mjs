// `node run.mjs <command> …`: installs missing packages, builds dist/ if its sources have changed, and runs
// dist/cli/<command>.js with the remaining arguments. The command runs in this same process, so that signals of a
// terminal or a supervisor reach it. This file uses only Node itself, because it runs before `npm ci`. The container
// image has no sources, so nothing is built there.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The commands that serve the dashboard. The other commands do not wait until the dashboard is built. */
const SERVING = new Set(['start', 'api', 'demo', 'demo-channels']);

/**
 * The commands that take no arguments. They refuse every argument. If `migrate --dry-run` ignored its argument, it
 * would change the database, which the user did not want.
 */
const WITHOUT_ARGUMENTS = new Set(['start', 'api', 'worker', 'migrate', 'demo', 'demo-channels']);

const ROOT = dirname(fileURLToPath(import.meta.url));
const [command, ...rest] = process.argv.slice(2);
if (!/^[a-z][a-z-]*$/.test(command ?? '')) {
  console.error('Usage: node run.mjs <command> …, such as start, api, worker, migrate, demo');
  process.exit(1);
}
if (WITHOUT_ARGUMENTS.has(command) && rest.length > 0) {
  const script = command === 'start' ? 'start' : `run ${command.replace('-', ':')}`;
  console.error(
    `npm ${script} takes no arguments, but got ${rest.join(' ')}. Its settings are environment variables: docs/configuration.md lists them.`,
  );
  process.exit(1);
}
if (existsSync(join(ROOT, 'build', 'build.mjs'))) await prepareSources();
const module = join(ROOT, 'dist', 'cli', `${command}.js`);
if (!existsSync(module)) {
  console.error(`There is no command ${command}.`);
  process.exit(1);
}
process.argv = [process.argv[0], module, ...rest];
await import(pathToFileURL(module).href);

async function prepareSources() {
  const { ensureInstalled, requireNode } = await import('./build/install.mjs');
  requireNode();
  await ensureInstalled();
  const { ensureBuilt } = await import('./build/build.mjs');
  ensureBuilt({ dashboard: SERVING.has(command) || (command === 'bench' && rest[0] === 'dashboard') });
}
