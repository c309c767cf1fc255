// `node run.mjs <command> …`: installs and builds what is missing or stale, then runs dist/cli/<command>.js in this
// same process with the rest of the words as its arguments, so that the signals of a terminal or a supervisor reach it.
// Plain Node without dependencies: it runs before `npm ci`. The image has no sources, so nothing is built there.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The commands behind which people look at the dashboard; the others do not wait until it is built. */
const SERVING = new Set(['start', 'api', 'demo', 'demo-channels']);

/** The commands that take no arguments. An ignored one, such as `migrate --dry-run`, would do what nobody asked for. */
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
