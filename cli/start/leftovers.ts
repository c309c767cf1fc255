import { homeArgument } from './child.ts';
import type { Home } from './home.ts';
import { endProcess, processesWithArgument } from './processes.ts';
import { endLeftoverTemporal } from './temporal-server.ts';

/** Children end when their parent is gone. A child that hangs or is suspended is killed after this time. */
const GRACE_MS = 5_000;

/**
 * Ends the processes that a killed `npm start` left behind on this home: API, workers and Temporal. The new start keeps
 * using its Postgres. Call it while holding the lock of the home.
 */
export async function endLeftovers(home: Home): Promise<void> {
  const children = processesWithArgument(homeArgument(home));
  await Promise.all(children.map((mark) => endProcess(mark, 'SIGTERM', GRACE_MS)));
  await endLeftoverTemporal(home.temporalDatabase);
}
