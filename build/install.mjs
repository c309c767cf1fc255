/**
 * Installs the packages if node_modules does not match package-lock.json. This file uses only Node itself, because it
 * runs before packages are installed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const MIN_NODE = [20, 19];

/** Prints one line and ends the process if this version of Node is too old. */
export function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1])) return;
  fail(
    `Tidings needs Node ${MIN_NODE.join('.')} or newer, and this is ${process.versions.node}: see https://nodejs.org.`,
  );
}

/**
 * Runs `npm ci` if a package is missing or its version differs from the lock file. If `npm ci` fails, runs
 * `npm install`: `npm ci` refuses a lock file with a package for another platform that the registry does not have.
 * `npm install` skips such a package, and otherwise installs the same versions.
 */
export async function ensureInstalled() {
  if (isInstalled()) return;
  await withLock(join(ROOT, 'node_modules.lock'), () => {
    if (isInstalled()) return; // Another process installed the packages while this process waited for the lock.
    console.log('Installing packages (npm ci) …');
    if (runNpm('ci') || runNpm('install', '--no-save')) return;
    fail('The packages could not be installed, see the messages of npm above.');
  });
}

/** Runs npm with these arguments. Returns whether npm succeeded. */
function runNpm(...words) {
  // Install scripts are switched off, because no package needs them. test/packages/lock-file.test.ts lists the packages
  // that have an install script.
  const options = [
    '--include=dev',
    '--include=optional',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  const result = spawnSync('npm', [...words, ...options], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  return result.status === 0;
}

/**
 * Tells whether all packages are installed. npm writes node_modules/.package-lock.json at the end of an installation,
 * so the file is missing after a killed installation. Packages for other platforms are optional and may be missing.
 */
function isInstalled() {
  const installedFile = join(ROOT, 'node_modules', '.package-lock.json');
  if (!existsSync(installedFile)) return false;
  const installed = readPackages(installedFile);
  return Object.entries(readPackages(join(ROOT, 'package-lock.json'))).every(
    ([path, wanted]) =>
      path === '' ||
      (installed[path] === undefined && (wanted.optional || wanted.peer)) ||
      (installed[path]?.version === wanted.version && installed[path]?.integrity === wanted.integrity),
  );
}

function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}

function fail(line) {
  console.error(line);
  process.exit(1);
}
