import { readFileSync } from 'node:fs';

/** Linux counts CPU time of processes in units of 10 ms. */
const TICK_MS = 10;

/** Returns the user and system time that processes have used, in ms, from /proc; 0 on systems without /proc. */
export function readCpuMs(pids: number[]): number {
  return pids.reduce((sum, pid) => {
    const fields = readStatFields(pid);
    return sum + (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
  }, 0);
}

/**
 * Returns the CPU time of Postgres with all its processes. The CPU time of ended processes counts for the main process,
 * which waited for them.
 */
export function readPostgresCpuMs(postmaster: number | null): number {
  if (postmaster === null) return 0;
  const children = readProcFile(postmaster, `task/${postmaster}/children`)
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
  const fields = readStatFields(postmaster);
  const ended = (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * TICK_MS;
  return readCpuMs([postmaster, ...children]) + ended;
}

/** Returns the CPU time of all processes of the machine: user, nice, system, interrupts. */
export function readMachineCpuMs(): number {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = readMachineStat().split(/ +/).map(Number);
  return (user + nice + system + irq + softirq) * TICK_MS;
}

function readMachineStat(): string {
  try {
    return readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '';
  } catch {
    return '';
  }
}

/** Returns the fields of /proc/<pid>/stat from the third on. The second field, the process name, may contain spaces. */
function readStatFields(pid: number): string[] {
  return readProcFile(pid, 'stat')
    .replace(/^.*\) /, '')
    .split(' ');
}

function readProcFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
