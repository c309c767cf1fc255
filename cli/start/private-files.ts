import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';

const ONLY_OWNER = 0o600;

/**
 * Writes a file that only its owner reads, whatever the umask; readers see the old content or the new, never a part.
 */
export function writePrivate(path: string, content: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  const file = openSync(temporary, 'w', ONLY_OWNER);
  try {
    writeSync(file, content);
    fsyncSync(file); // A power cut after the rename must not leave an empty file with secrets.
  } finally {
    closeSync(file);
  }
  chmodSync(temporary, ONLY_OWNER);
  renameSync(temporary, path);
}

/** Returns the content of a JSON file. Undefined when it does not exist or is invalid. */
export function readJson<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch {
    return undefined;
  }
}

/** Makes a folder, and those above it, with this mode whatever the umask; leaves one that is there as it is. */
export function makeFolder(path: string, mode: number): void {
  const made = mkdirSync(path, { recursive: true, mode });
  if (made !== undefined) chmodSync(path, mode);
}
