import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 200;
/** After this many polls, which take 10 s, the reason of the wait is printed. */
const TOLD_AT_ROUND = 50;

/**
 * Runs `work` while this process holds a lock file. Waits while another living process holds the lock. Removes a lock
 * whose process is dead.
 */
export async function withLock(path, work) {
  for (let round = 0; !takeLock(path); round++) {
    if (round === TOLD_AT_ROUND) console.log(`Waiting for process ${read(path)}, which holds ${path} …`);
    await sleep(POLL_MS);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

/**
 * Tries to take the lock. The lock file is created as a hard link to a file that already contains the pid, so other
 * processes never see a lock file without a pid.
 */
function takeLock(path) {
  const mine = `${path}.${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    linkSync(mine, path);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    removeDeadLock(path, mine);
    return false;
  } finally {
    rmSync(mine, { force: true });
  }
}

function removeDeadLock(path, mine) {
  const holder = read(path);
  if (holder === undefined || isAlive(Number(holder))) return;
  const aside = `${mine}.aside`;
  try {
    renameSync(path, aside);
    // Another process has taken the lock after this process had read it, so the lock is restored.
    if (read(aside) !== holder) linkSync(aside, path);
  } catch {
    // Another process has already removed the lock.
  }
  rmSync(aside, { force: true });
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * Tells whether the process with this pid is alive and can hold the lock. If the pid is the pid of this process, an
 * earlier process with the same pid left the lock behind.
 */
function isAlive(pid) {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
