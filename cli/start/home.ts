import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readPackageVersion } from '../package-root.ts';
import { StartError } from './error.ts';
import { makeFolder, writePrivate } from './private-files.ts';

/**
 * The paths of files and folders in a home. Only the owner of the home can read its secrets and data, regardless of the
 * umask.
 */
export interface Home {
  readonly folder: string;
  readonly logs: string;
  readonly bin: string;
  readonly postgresData: string;
  readonly temporalDatabase: string;
  readonly portsFile: string;
  readonly lockFile: string;
  readonly devFile: string;
}

const ONLY_OWNER = 0o700;
const SECRET_BYTES = 32;

/**
 * Opens the home, and creates missing folders.
 * @throws StartError if the home belongs to another user or a newer version, or is not writable
 */
export function openHome(path: string): Home {
  const folder = resolve(path);
  refuseOtherOwners(path, folder);
  const home = getHomePaths(folder);
  try {
    for (const needed of [folder, home.logs, home.bin, join(folder, 'temporal')]) makeFolder(needed, ONLY_OWNER);
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? cause.code : cause;
    throw new StartError(`TIDINGS_HOME ${path} cannot be written to (${why}): choose another folder.`, { cause });
  }
  refuseNewerVersion(path, folder);
  return home;
}

/**
 * Records this version of the service in the home. Call it when this version has migrated the data of the home, because
 * older versions refuse the home afterwards.
 */
export function recordVersion(home: Home): void {
  writeFileSync(join(home.folder, 'VERSION'), `${readPackageVersion()}\n`);
}

/** Returns a secret that is generated on the first start and stored in the home (mode 0600). */
export function readOrCreateSecret(home: Home, name: 'secret-key' | 'postgres-password'): string {
  const file = join(home.folder, name);
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  const secret = randomBytes(SECRET_BYTES).toString('hex');
  writePrivate(file, `${secret}\n`);
  return secret;
}

function getHomePaths(folder: string): Home {
  return {
    folder,
    logs: join(folder, 'logs'),
    bin: join(folder, 'bin'),
    postgresData: join(folder, 'postgres', 'data'),
    temporalDatabase: join(folder, 'temporal', 'temporal.db'),
    portsFile: join(folder, 'ports.json'),
    lockFile: join(folder, 'start.lock'),
    devFile: join(folder, 'dev.json'),
  };
}

/**
 * Throws if the home exists and the process does not run as its owner. Even root is refused, because root would leave
 * files that the owner cannot read.
 */
function refuseOtherOwners(path: string, folder: string): void {
  const uid = process.getuid?.();
  const entry = statEntry(path, folder);
  if (entry === undefined || uid === undefined) return;
  if (!entry.isDirectory()) throw new StartError(`TIDINGS_HOME ${path} is not a folder: choose another one.`);
  if (entry.uid === uid) return;
  throw new StartError(
    `TIDINGS_HOME ${path} belongs to another user (uid ${entry.uid}, and this is ${uid}): start as that user, or choose another folder.`,
  );
}

function statEntry(path: string, folder: string) {
  try {
    return statSync(folder, { throwIfNoEntry: false });
  } catch (cause) {
    throw new StartError(`TIDINGS_HOME ${path} cannot be reached by this user: choose another folder.`, { cause });
  }
}

function refuseNewerVersion(path: string, folder: string): void {
  const file = join(folder, 'VERSION');
  const version = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
  if (version === undefined || compareVersions(version, readPackageVersion()) <= 0) return;
  throw new StartError(
    `TIDINGS_HOME ${path} was used by version ${version}, which is newer than this one (${readPackageVersion()}): start that version, or choose another folder.`,
  );
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0));
  for (let i = 0; i < 3; i++) {
    const difference = (left?.[i] ?? 0) - (right?.[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
