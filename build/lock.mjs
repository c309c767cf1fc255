import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 200;
/** Number of polls (10 s) after which the reason of the wait is printed. */
const TOLD_AT_ROUND = 50;

/**
 * Runs `work` while holding a lock file. Waits for a living process that holds the lock, and removes the lock of a
 * dead one.
 */
export async function withLock(path, work) {
  for (let round = 0; !take(path); round++) {
    if (round === TOLD_AT_ROUND) console.log(`Waiting for process ${read(path)}, which holds ${path} …`);
    await sleep(POLL_MS);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

/** Takes the lock. A hard link appears atomically, so the lock file always contains its pid. */
function take(path) {
  const mine = `${path}.${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    linkSync(mine, path);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    removeDead(path, mine);
    return false;
  } finally {
    rmSync(mine, { force: true });
  }
}

function removeDead(path, mine) {
  const holder = read(path);
  if (holder === undefined || isAlive(Number(holder))) return;
  const aside = `${mine}.aside`;
  try {
    renameSync(path, aside);
    // Another process may have taken the lock since it was read, so it is put back.
    if (read(aside) !== holder) linkSync(aside, path);
  } catch {
    // Another process removed the lock first.
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

/** Tells whether the holder is alive. A lock with this process's own pid was left by an earlier process. */
function isAlive(pid) {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
