/**
 * Builds the pages of the dashboard with Vite into dist/dashboard. Each file that compression makes smaller gets a
 * brotli copy and a gzip copy, so that the API does not have to compress. The dashboard has a separate stamp, so a
 * change in the server's rooms does not rebuild the dashboard, and vice versa.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { computeStamp, listFiles, moveFiles, readIfExists } from './files.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
/** The folder in dist/ from which the API serves the dashboard (api/routes/dashboard/built-files.ts). */
export const DASHBOARD_FOLDER = 'dashboard';
const TARGET = join(ROOT, 'dist', DASHBOARD_FOLDER);
/** The file with the stamp. It is outside the dashboard folder, because the API serves every file of that folder. */
const STAMP = join(ROOT, 'dist', '.dashboard-stamp');
const INPUTS = ['dashboard', 'packages/client/src', 'package-lock.json', 'build/dashboard.mjs', 'build/files.mjs'];
/** The file that is moved last, because it refers to the other files. */
const PAGE = 'index.html';
const COMPRESSED = /\.(js|css|html|svg|json)$/;
/** Smaller files are not compressed, because they fit into one packet. */
const COMPRESSED_MIN_BYTES = 1_000;

/** Tells whether the dashboard is built from the current sources. */
export function isDashboardBuilt() {
  return readIfExists(STAMP) === computeInputsStamp() && existsSync(join(TARGET, PAGE));
}

/** Builds the dashboard if its sources have changed. The caller must hold the build lock. */
export async function buildDashboard() {
  if (isDashboardBuilt()) return;
  const stamp = computeInputsStamp();
  const startedAt = Date.now();
  console.log('Building the dashboard …');
  const staging = join(ROOT, `dist.${process.pid}.tmp`);
  try {
    runVite(staging);
    await Promise.all(listFiles(staging).map(compress));
    moveFiles(staging, TARGET, { last: PAGE });
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  mkdirSync(dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, stamp);
  console.log(`Built the dashboard in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`);
}

/** Runs Vite in a separate process, so that its memory is freed afterwards. */
function runVite(staging) {
  const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
  const words = [vite, 'build', join(ROOT, 'dashboard'), '--outDir', staging, '--emptyOutDir', '--logLevel', 'warn'];
  const result = spawnSync(process.execPath, words, {
    cwd: ROOT,
    // Always builds React's production version, even if the environment of the service sets NODE_ENV. Only the dev
    // server uses the development version.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (result.status !== 0) throw new Error('Vite could not build the dashboard, see its messages above');
}

/**
 * Writes `<file>.br` and `<file>.gz` if they are smaller. Uses the strongest compression, because files are
 * compressed once and read often.
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

function computeInputsStamp() {
  return computeStamp(INPUTS.map((name) => join(ROOT, name)));
}
