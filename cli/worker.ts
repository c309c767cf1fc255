import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './package-root.ts';
import { readOwnRelease } from './release.ts';
import { requirePostgres } from './start/dependencies.ts';
import { runServiceProcess } from './start/service-process.ts';

/**
 * The bundle of the workflows. build/build.mjs builds it in advance, because bundling at every start would take 2 to 3
 * seconds.
 */
const WORKFLOW_BUNDLE = join(packageRoot(), 'dist', 'workflow-bundle.js');

// `npm run worker`: runs one worker process. Its settings are environment variables only.
await runServiceProcess('worker', process.env, async (config, { log, fatal }) => {
  await requirePostgres(config.database.url);
  const workflowBundle = existsSync(WORKFLOW_BUNDLE) ? { codePath: WORKFLOW_BUNDLE } : undefined;
  // The modules are imported only here, because the imports take seconds and invalid settings should be reported first.
  const { startWorker } = await import('../worker/worker.ts');
  const worker = await startWorker(config, { log, workflowBundle, release: readOwnRelease(), onFatal: fatal });
  log.info('the worker takes tasks');
  return worker;
});
