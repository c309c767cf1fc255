// `npm start`: installs and builds what is missing or stale, then becomes the service in this same process, so that
// the signals of a terminal or a supervisor reach it. Plain Node without dependencies: it runs before `npm ci`.
import { ensureBuilt } from './build/build.mjs';
import { ensureInstalled, requireNode } from './build/install.mjs';

requireNode();
await ensureInstalled();
ensureBuilt();
await import('./dist/cli/start.js');
