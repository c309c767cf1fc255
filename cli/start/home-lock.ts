import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from './error.ts';
import { readJson, writePrivate } from './private-files.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from './processes.ts';

/** The maximum wait for other starts that try to take the lock at the same time. Each of them needs milliseconds. */
const OTHER_STARTS_MS = 5_000;
const POLL_MS = 20;

/**
 * Takes the lock of a home for this process. Each start first writes its claim, and then reads the claims of the other
 * starts. It has the lock if no other living process has a claim. When two starts run concurrently, at least one of
 * them sees the other's claim, so there are never two owners. A claim is a separate file per process, named by pid and
 * start time. Removing the claim of a dead process can therefore never remove the claim of another start. The file
 * `path` names the owner. Starts of earlier versions read and write only this file.
 * @throws StartError if another `npm start` holds the lock or is about to take it
 */
export async function takeLock(
  path: string,
  homeName: string,
  own: ProcessIdentity | undefined = identifyProcess(process.pid),
): Promise<{ release(): void }> {
  if (!own) throw new StartError('The start time of this process is unknown, so the home cannot be locked.');
  refuseIfHeld(path, homeName);
  const claim = `${path}.${own.pid}-${own.startedAt.replace(/\W/g, '')}`;
  writePrivate(claim, JSON.stringify(own));
  try {
    await waitForOnlyClaim({ path, homeName, claim });
    writePrivate(path, JSON.stringify(own));
  } catch (error) {
    rmSync(claim, { force: true });
    throw error;
  }
  return {
    release: () => {
      rmSync(path, { force: true });
      rmSync(claim, { force: true });
    },
  };
}

/**
 * Returns when no other living process has a claim. If several starts are concurrent, the start with the lowest claim
 * waits, and the other starts fail.
 */
async function waitForOnlyClaim(p: { path: string; homeName: string; claim: string }): Promise<void> {
  const deadline = Date.now() + OTHER_STARTS_MS;
  while (true) {
    refuseIfHeld(p.path, p.homeName);
    const [lowest] = listOtherClaims(p.path, p.claim);
    if (!lowest) return;
    if (lowest.claim < p.claim || Date.now() >= deadline) {
      throw new StartError(
        `Another start of Tidings uses TIDINGS_HOME ${p.homeName} (process ${lowest.pid}): stop it, or choose another folder.`,
      );
    }
    await sleep(POLL_MS);
  }
}

/** @throws StartError if the lock file names a living process */
function refuseIfHeld(path: string, homeName: string): void {
  const holder = readJson<ProcessIdentity>(path);
  if (!holder || !isAlive(holder)) return;
  throw new StartError(
    `Tidings already runs on TIDINGS_HOME ${homeName} (process ${holder.pid}): stop it, or choose another folder.`,
  );
}

/** Lists the claims of other living processes, the lowest first. Removes the claims of dead processes. */
function listOtherClaims(path: string, ownClaim: string): { claim: string; pid: number }[] {
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(`${basename(path)}.`) && /\.\d+-\w+$/.test(name))
    .map((name) => join(dirname(path), name))
    .filter((claim) => claim !== ownClaim)
    .sort()
    .flatMap((claim) => {
      const claimant = readJson<ProcessIdentity>(claim);
      if (claimant && isAlive(claimant)) return [{ claim, pid: claimant.pid }];
      rmSync(claim, { force: true });
      return [];
    });
}
