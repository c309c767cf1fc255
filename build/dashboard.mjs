/**
 * Builds dist/dashboard: the pages of the dashboard by Vite, each file that shrinks with a copy in brotli and one in
 * gzip beside it, so that the API compresses nothing. It has a stamp of its own: a change of the server's rooms does
 * not build the dashboard again, nor the other way round.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { filesOf, moveInto, read, stampOf } from './files.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Under dist/; the API looks for it there (api/routes/dashboard/built-files.ts). */
export const DASHBOARD_FOLDER = 'dashboard';
const TARGET = join(ROOT, 'dist', DASHBOARD_FOLDER);
/** Beside the folder, not in it: everything in it is served. */
const STAMP = join(ROOT, 'dist', '.dashboard-stamp');
const INPUTS = ['dashboard', 'packages/client/src', 'package-lock.json', 'build/dashboard.mjs', 'build/files.mjs'];
/** Moved into place last: it names the others. */
const PAGE = 'index.html';
const COMPRESSED = /\.(js|css|html|svg|json)$/;
/** Below this one packet carries it either way. */
const COMPRESSED_MIN_BYTES = 1_000;

/** Whether what is built was built of what is there. */
export function isDashboardBuilt() {
  return read(STAMP) === inputsStamp() && existsSync(join(TARGET, PAGE));
}

/** Builds it where something changed; the caller holds the lock of the build. */
export async function buildDashboard() {
  if (isDashboardBuilt()) return;
  const stamp = inputsStamp();
  const startedAt = Date.now();
  console.log('Building the dashboard …');
  const staging = join(ROOT, `dist.${process.pid}.tmp`);
  try {
    bundle(staging);
    await Promise.all(filesOf(staging).map(compress));
    moveInto(staging, TARGET, { last: PAGE });
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  mkdirSync(dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, stamp);
  console.log(`Built the dashboard in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`);
}

/** In a process of its own, whose memory goes with it. */
function bundle(staging) {
  const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
  const words = [vite, 'build', join(ROOT, 'dashboard'), '--outDir', staging, '--emptyOutDir', '--logLevel', 'warn'];
  const result = spawnSync(process.execPath, words, {
    cwd: ROOT,
    // React's own development build is for the dev server only, whatever the environment of the service says.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (result.status !== 0) throw new Error('Vite could not build the dashboard: its messages are above');
}

/**
 * Writes `<file>.br` and `<file>.gz` if they are smaller, at the strongest setting, since it is done once and read
 * often.
 */
async function compress(file) {
  const bytes = readFileSync(file);
  if (!COMPRESSED.test(file) || bytes.length < COMPRESSED_MIN_BYTES) return;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, { params }),
    promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  if (br.length < bytes.length) writeFileSync(`${file}.br`, br);
  if (gz.length < bytes.length) writeFileSync(`${file}.gz`, gz);
}

function inputsStamp() {
  return stampOf(INPUTS.map((name) => join(ROOT, name)));
}
