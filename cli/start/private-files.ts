import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';

const ONLY_OWNER = 0o600;

/**
 * Writes a file that only its owner can read, regardless of the umask. The file is replaced atomically, so a reader
 * sees either the whole old content or the whole new content.
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

/**
 * Creates a folder with this mode, regardless of the umask, and missing parents. Does not change an existing folder.
 */
export function makeFolder(path: string, mode: number): void {
  const firstCreated = mkdirSync(path, { recursive: true, mode });
  if (firstCreated !== undefined) chmodSync(path, mode);
}
