import { readFileSync } from 'node:fs';

/** Linux counts CPU time of processes in hundredths of a second. */
const TICK_MS = 10;

/** User and system time of processes so far, from /proc; 0 where there is none. */
export function cpuMs(pids: number[]): number {
  return pids.reduce((sum, pid) => {
    const fields = procFile(pid, 'stat')
      .replace(/^.*\) /, '')
      .split(' ');
    return sum + (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
  }, 0);
}

/** That of Postgres with all its backends. */
export function postgresCpuMs(postmaster: number | null): number {
  if (postmaster === null) return 0;
  const children = procFile(postmaster, `task/${postmaster}/children`).trim().split(' ').filter(Boolean).map(Number);
  return cpuMs([postmaster, ...children]);
}

function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
