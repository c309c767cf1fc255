import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { type Environment, parseConfig, parseSettings } from '../rules/config.ts';
import { buildTemporalConnectionOptions } from '../temporal/connection.ts';
import { packageRoot } from './package-root.ts';
import type { DevFile } from './start/dev-file.ts';
import { StartError } from './start/error.ts';
import { readJson } from './start/private-files.ts';
import { describeStartError } from './start/service-process.ts';

// `npm run history:save -- <workflow id> [name] [run id]`: saves the history of a Temporal workflow in
// test/histories/<type>-<name>.json. Saves the last run, or the run with the given id. Reads the history from the
// Temporal of the running service, or from the Temporal that the environment variables name. The replay test runs the
// code of every later version against this history.
const [workflowId, name = 'run', runId] = process.argv.slice(2);
try {
  if (workflowId === undefined || !/^[\w-]+$/.test(name)) {
    throw new StartError('Usage: npm run history:save -- <workflow id> [name of letters, digits and dashes] [run id]');
  }
  console.log(await saveHistory({ workflowId, runId }, name));
} catch (error) {
  console.error(describeStartError(error));
  process.exitCode = 1;
}

async function saveHistory(
  run: { workflowId: string; runId: string | undefined },
  nameOfFile: string,
): Promise<string> {
  const { namespace, ...options } = findTemporalOptions(process.env);
  const connection = await Connection.connect(options);
  try {
    const handle = new Client({ connection, namespace }).workflow.getHandle(run.workflowId, run.runId);
    const { type } = await handle.describe();
    const history = historyToJSON(await handle.fetchHistory());
    const folder = join(packageRoot(), 'test', 'histories');
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${type}-${nameOfFile}.json`);
    writeFileSync(file, `${replaceHostNames(history)}\n`);
    return `${file}: ${JSON.parse(history).events.length} events`;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError)
      throw new StartError(`Temporal has no workflow ${run.workflowId}.`, { cause: error });
    throw error;
  } finally {
    await connection.close();
  }
}

function findTemporalOptions(env: Environment) {
  const devFile = join(parseSettings(env).home, 'dev.json');
  if (env.TEMPORAL_ADDRESS === undefined && existsSync(devFile)) {
    const dev = readJson<DevFile>(devFile);
    if (dev) return { address: dev.temporal.address, namespace: dev.temporal.namespace };
  }
  if (!env.TEMPORAL_ADDRESS)
    throw new StartError('No service runs on TIDINGS_HOME: start one, or set TEMPORAL_ADDRESS.');
  const { temporal } = parseConfig({ DATABASE_URL: 'postgres://none', SECRET_KEY: 'nothing is signed here', ...env });
  return { ...buildTemporalConnectionOptions(temporal), namespace: temporal.namespace };
}

/**
 * Replaces host names in a history. The identity of a worker and the name of its sticky task queue contain the process
 * id and the host name, which must not be published.
 */
function replaceHostNames(history: string): string {
  const plain: unknown = JSON.parse(history, (key, value) =>
    key === 'identity' || (key === 'name' && /^(?:[0-9a-f]{8}\/)?\d+@/.test(value)) ? 'tidings' : value,
  );
  return JSON.stringify(plain, null, 1);
}
