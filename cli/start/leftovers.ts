import { toHomeArgument } from './child.ts';
import type { Home } from './home.ts';
import { endProcess, listProcessesWithArgument } from './processes.ts';
import { endLeftoverTemporal } from './temporal-server.ts';

/**
 * Children of a killed `npm start` notice that it has ended, and stop. A child that hangs or is suspended is killed
 * after this time.
 */
const GRACE_MS = 5_000;

/**
 * Ends the API, the workers and the Temporal server that a killed `npm start` of this home left behind. Its Postgres
 * keeps running, and the new start uses it. Call this function while this process holds the lock of the home.
 */
export async function endLeftovers(home: Home): Promise<void> {
  const children = listProcessesWithArgument(toHomeArgument(home));
  await Promise.all(children.map((identity) => endProcess(identity, 'SIGTERM', GRACE_MS)));
  await endLeftoverTemporal(home.temporalDatabase);
}
