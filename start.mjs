// `npm start`: installs and builds what is missing or stale, then becomes the service in this same process, so that
// the signals of a terminal or a supervisor reach it. Plain Node without dependencies: it runs before `npm ci`.
import { ensureBuilt } from './build/build.mjs';
import { ensureInstalled, requireNode } from './build/install.mjs';

const [unknown] = process.argv.slice(2);
if (unknown !== undefined) {
  console.error(
    `npm start takes no arguments, but got ${unknown}. Its settings are environment variables: docs/configuration.md lists them.`,
  );
  process.exit(1);
}
requireNode();
await ensureInstalled();
ensureBuilt();
await import('./dist/cli/start.js');
