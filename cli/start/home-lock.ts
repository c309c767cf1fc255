import { linkSync, renameSync, rmSync } from 'node:fs';
import { StartError } from './error.ts';
import { readJson, writePrivate } from './private-files.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from './processes.ts';

/**
 * The maximum number of attempts to take the lock. After an attempt that has removed the lock of a dead process, the
 * next attempt takes the lock, unless another start takes or moves the lock at the same time.
 */
const ATTEMPTS = 10;

/**
 * Takes the lock of a home for this process. Removes a lock whose process is dead. A lock contains the pid and the
 * start time of its process, so a later process with the same pid is not mistaken for the owner of the lock.
 * @throws StartError if another running `npm start` holds the lock
 */
export function takeLock(path: string, homeName: string): { release(): void } {
  const ownPath = `${path}.${process.pid}`;
  writePrivate(ownPath, JSON.stringify(identifyProcess(process.pid)));
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (tryLink(ownPath, path)) return { release: () => rmSync(path, { force: true }) };
      const holder = readJson<ProcessIdentity>(path);
      if (holder && isAlive(holder)) {
        throw new StartError(
          `Tidings already runs on TIDINGS_HOME ${homeName} (process ${holder.pid}): stop it, or choose another folder.`,
        );
      }
      removeDeadLock(path, holder);
    }
    throw new StartError(`The lock ${path} could not be taken.`);
  } finally {
    rmSync(ownPath, { force: true });
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes the lock of the dead process `holder`. First renames the lock file and reads it again. If another `npm start`
 * has taken the lock in the meantime, restores its lock.
 */
function removeDeadLock(path: string, holder: ProcessIdentity | undefined): void {
  const movedPath = `${path}.${process.pid}.aside`;
  try {
    renameSync(path, movedPath);
  } catch {
    return;
  }
  const moved = readJson<ProcessIdentity>(movedPath);
  if (moved && moved.pid !== holder?.pid && isAlive(moved)) tryLink(movedPath, path);
  rmSync(movedPath, { force: true });
}
