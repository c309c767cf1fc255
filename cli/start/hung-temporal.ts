import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from './processes.ts';
import type { Running } from './running.ts';

/** The pause between two checks. */
const PAUSE_MS = 15_000;
/** After this number of failed checks in a row, the server counts as hung. That is after at least two minutes. */
const FAILURES_MAX = 8;

/**
 * Kills a Temporal server whose process runs but does nothing, so that `npm start` restarts it. On a busy machine, a
 * request that is canceled in the middle of a statement can leave the server's connection to SQLite interrupted. The dev
 * server then refuses all further statements with `interrupted (9)`. Server 1.31 has a newer SQLite driver without this
 * fault. The server's data is in its database file. Resolves when the server has ended or was killed.
 * @param p.responds checks whether the server can read from its database
 */
export async function killIfHung(
  server: Pick<Running, 'identity' | 'kill'>,
  p: { responds: () => Promise<boolean>; writeLine: (line: string) => void; pauseMs?: number },
): Promise<void> {
  const { pauseMs = PAUSE_MS } = p;
  for (let failures = 0; failures < FAILURES_MAX; ) {
    await sleep(pauseMs, undefined, { ref: false });
    if (!isAlive(server.identity)) return;
    failures = (await p.responds()) ? 0 : failures + 1;
  }
  p.writeLine(`Temporal failed ${FAILURES_MAX} checks in a row and is killed (process ${server.identity.pid})`);
  server.kill();
}
