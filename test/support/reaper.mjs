/**
 * Ends the processes that a test run leaves behind, and deletes the run's folders. The run holds the other end of this
 * process's standard input, so the input closes however the run ends: in order, by SIGINT, by SIGTERM, or by SIGKILL. A
 * process belongs to the run if its command line, working folder or initial environment names a folder of the run. A run
 * that ended in order leaves no process. This file is plain JavaScript that imports only Node itself, because every run
 * starts it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time after SIGTERM in which services stop their own processes, and Postgres releases its shared memory. */
const GRACE_MS = 5_000;
const POLL_MS = 50;

const folders = process.argv.slice(2);

process.stdin.resume();
process.stdin.on('close', () => void cleanUp());

async function cleanUp() {
  signalAll('SIGTERM');
  const deadline = Date.now() + GRACE_MS;
  while (listRemaining().length > 0 && Date.now() < deadline) await sleep(POLL_MS);
  while (signalAll('SIGKILL') > 0) await sleep(POLL_MS);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

function signalAll(signal) {
  const pids = listRemaining();
  for (const pid of pids) attempt(() => process.kill(pid, signal));
  return pids.length;
}

function listRemaining() {
  return listProcesses().flatMap(({ pid, words }) =>
    pid !== process.pid && folders.some((folder) => words.includes(folder)) ? [pid] : [],
  );
}

function listProcesses() {
  if (existsSync('/proc/self/stat')) return readdirSync('/proc').flatMap((name) => readLinuxProcess(Number(name)));
  const lines = execFileSync('ps', ['-axww', '-o', 'pid=,command='], { encoding: 'utf8' }).split('\n');
  return lines.map((line) => ({ pid: Number.parseInt(line, 10), words: line }));
}

function readLinuxProcess(pid) {
  if (!(pid > 0)) return [];
  const read = (name) => attempt(() => readFileSync(`/proc/${pid}/${name}`, 'utf8')) ?? '';
  // A zombie has no command line, working folder or environment, so it counts as ended.
  const folder = attempt(() => readlinkSync(`/proc/${pid}/cwd`)) ?? '';
  return [{ pid, words: [read('cmdline'), read('environ'), folder].join('\0') }];
}

/** Returns the result of `read`, or undefined if it fails, because a process may end while its files are read. */
function attempt(read) {
  try {
    return read();
  } catch {
    return undefined;
  }
}
