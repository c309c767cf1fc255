import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { fetchOnce } from './fetched-once.ts';

/** Time limit for a download of a few megabytes, including the package lists if the machine has none. */
const APT_TIMEOUT_MS = 180_000;
/** Packages of the C library are not unpacked, because programs must use the C library of the machine. */
const SKIPPED_PACKAGES = /^(libc6|libc-bin)_/;
const run = promisify(execFile);

/** Unpacked packages. */
export interface DebianFiles {
  /** The folder that replaces `/`. */
  root: string;
  /**
   * Variables for the unpacked programs: PATH, LD_LIBRARY_PATH and PERL5LIB with the unpacked files first, and
   * SASL_PATH for the plugins.
   */
  env: NodeJS.ProcessEnv;
}

/**
 * Returns the files of Debian packages and of their missing dependencies. They are unpacked in the user's cache folder
 * once for each machine. Nothing is installed, started or changed in the system, and no root rights are needed. If this
 * is impossible, returns the reason as a sentence. In CI it throws instead, so that no test is skipped there.
 */
export async function fetchDebianFiles(packages: readonly string[]): Promise<DebianFiles | string> {
  if (!existsSync('/etc/debian_version')) return 'This machine is no Debian.';
  const version = readFileSync('/etc/debian_version', 'utf8').trim();
  const found = await fetchOnce({
    kind: 'debian',
    wanted: [version, process.arch, ...packages].join(' '),
    refusal: `Debian's packages ${packages.join(', ')} are out of reach`,
    fetch: async (staging) => {
      await unpack(packages, staging);
      return join(staging, 'root');
    },
  });
  return typeof found === 'string' ? found : { root: found.root, env: createEnvironment(found.root) };
}

async function unpack(packages: readonly string[], staging: string): Promise<void> {
  const [archives, lists, root] = ['archives', 'lists', 'root'].map((name) => join(staging, name));
  for (const folder of [archives, lists]) mkdirSync(join(folder ?? '', 'partial'), { recursive: true });
  const own = [`Dir::Cache=${staging}`, 'Debug::NoLocking=1', 'APT::Sandbox::User=', 'Acquire::Retries=2'];
  const download = ['install', '--yes', '--reinstall', '--download-only', '--no-install-recommends', ...packages];
  const ownLists = [...own, `Dir::State::lists=${lists}`];
  await runApt(own, download).catch(async () => {
    // If the machine's package lists are missing or old, new lists are fetched into another folder.
    await runApt(ownLists, ['update']);
    await runApt(ownLists, download);
  });
  const found = readdirSync(archives ?? '').filter((file) => file.endsWith('.deb') && !SKIPPED_PACKAGES.test(file));
  for (const file of found) await run('dpkg-deb', ['--extract', join(archives ?? '', file), root ?? '']);
}

async function runApt(settings: string[], words: string[]): Promise<void> {
  const options = settings.flatMap((setting) => ['-o', setting]);
  const env = { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['-q', ...options, ...words], { env, timeout: APT_TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 });
}

function createEnvironment(root: string): NodeJS.ProcessEnv {
  const libraries = findFolders(join(root, 'usr', 'lib'), /-linux-gnu/);
  // The libraries of the packages find each other by their installation paths.
  const pulseaudio = libraries.map((folder) => join(folder, 'pulseaudio'));
  const perl = [join(root, 'usr', 'share'), ...libraries].flatMap((folder) => [
    ...findFolders(join(folder, 'perl5'), /^5\./),
    ...findFolders(join(folder, 'perl'), /^5\./),
    join(folder, 'perl5'),
  ]);
  const programs = ['usr/sbin', 'usr/bin', 'sbin', 'bin'].map((folder) => join(root, folder));
  return {
    ...process.env,
    PATH: [...programs, process.env.PATH].join(delimiter),
    LD_LIBRARY_PATH: [join(root, 'usr', 'lib', 'postfix'), ...libraries, ...pulseaudio].join(delimiter),
    PERL5LIB: perl.join(delimiter),
    SASL_PATH: libraries.map((folder) => join(folder, 'sasl2')).join(delimiter),
  };
}

function findFolders(folder: string, name: RegExp): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((entry) => name.test(entry))
    .map((entry) => join(folder, entry));
}
