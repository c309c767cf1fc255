import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './package-root.ts';
import { thisRelease } from './release.ts';
import { requirePostgres } from './start/dependencies.ts';
import { runServiceProcess } from './start/service-process.ts';

/** Built by build/build.mjs, because bundling at every start would take 2 to 3 seconds. */
const WORKFLOW_BUNDLE = join(packageRoot(), 'dist', 'workflow-bundle.js');

// `npm run worker`: runs one worker process, configured by environment alone.
await runServiceProcess('worker', process.env, async (config, { log, fatal }) => {
  await requirePostgres(config.database.url);
  const workflowBundle = existsSync(WORKFLOW_BUNDLE) ? { codePath: WORKFLOW_BUNDLE } : undefined;
  // Imported only here, so that invalid settings are reported before the imports, which take seconds.
  const { startWorker } = await import('../worker/worker.ts');
  const worker = await startWorker(config, { log, workflowBundle, release: thisRelease(), onFatal: fatal });
  log.info('the worker takes tasks');
  return worker;
});
