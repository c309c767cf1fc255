import { closeSync, openSync, renameSync, statSync } from 'node:fs';

/** A larger log is renamed to `….1` at the next start of its process. */
const ROTATE_BYTES = 50 * 1024 * 1024;
const ONLY_OWNER = 0o600;

/** A log file for the output of a child process. The parent closes its own handle once the child has inherited it. */
export interface Log {
  readonly descriptor: number;
  /** Size of the file in bytes when it was opened. New output starts here. */
  readonly offset: number;
  close(): void;
}

/** Opens a log for appending. If the log is too large, renames it and starts a new log. */
export function openLog(path: string): Log {
  if (readSize(path) > ROTATE_BYTES) renameSync(path, `${path}.1`);
  const descriptor = openSync(path, 'a', ONLY_OWNER);
  return { descriptor, offset: readSize(path), close: () => closeSync(descriptor) };
}

function readSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
