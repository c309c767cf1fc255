// Functions about files, for both parts of the build (build.mjs, dashboard.mjs). They use only Node itself.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/**
 * Lists the files below a path, sorted by name and without packages and tests. If the path is a file, lists only this
 * file. If the path does not exist, returns an empty list.
 */
export function listFiles(path) {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  const entries = readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : listFiles(inside);
    return /\.test\.tsx?$/.test(entry.name) ? [] : [inside];
  });
}

/**
 * Returns a stamp of files and folders. The stamp changes when a name, a size, a modification time or the version of
 * Node changes. Computing the stamp is fast enough for every start.
 */
export function computeStamp(inputs) {
  const hash = createHash('sha256').update(process.version);
  for (const input of inputs) {
    const files = listFiles(input);
    if (files.length === 0) hash.update(`${relative(ROOT, input)}\0none\n`);
    for (const file of files) {
      const { size, mtimeMs } = statSync(file);
      hash.update(`${relative(ROOT, file)}\0${size}\0${mtimeMs}\n`);
    }
  }
  return hash.digest('hex');
}

/**
 * Moves the files of a staging folder to a target folder. Replaces changed files one by one and then removes leftovers,
 * so that a running service always finds its files.
 * @param keeps tells which existing files do not belong to this build
 * @param last the file that refers to the others, and is therefore moved last
 */
export function moveFiles(staging, target, { keeps = () => false, last = undefined } = {}) {
  const paths = listFiles(staging).map((file) => relative(staging, file));
  const wanted = new Set(paths);
  for (const path of [...paths.filter((path) => path !== last), ...paths.filter((path) => path === last)]) {
    const [file, place] = [join(staging, path), join(target, path)];
    if (readIfExists(place, null)?.equals(readFileSync(file))) continue;
    mkdirSync(dirname(place), { recursive: true });
    renameSync(file, place);
  }
  for (const file of listFiles(target)) {
    const path = relative(target, file);
    if (!wanted.has(path) && !keeps(path)) rmSync(file);
  }
}

/** Returns a file's content. Undefined if the file cannot be read, for example because it does not exist. */
export function readIfExists(path, encoding = 'utf8') {
  try {
    return readFileSync(path, encoding);
  } catch {
    return undefined;
  }
}
