import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { packageRoot } from '../../cli/package-root.ts';

const BUILT = join(packageRoot(), 'dist', 'dashboard');
/** The maximum number of bytes (gzip) that a first visit loads before a screen is shown. */
const INITIAL_MAX_BYTES = 240_000;
/** The maximum number of bytes (gzip) of a part that is loaded later, such as an editor or a canvas. */
const LAZY_MAX_BYTES = 250_000;

const read = (path: string) => readFileSync(join(BUILT, path));
const countGzipBytes = (path: string) => gzipSync(read(path), { level: 9 }).length;

/** Returns the scripts and styles that the page loads before it shows anything, with their static imports. */
function listInitialFiles(): string[] {
  const html = read('index.html').toString();
  const wanted = [...html.matchAll(/<(?:script|link)[^>]*\s(?:src|href)="\/app\/(assets\/[^"]+\.(?:js|css))"/g)].map(
    ([, path = '']) => path,
  );
  const files = new Set<string>();
  for (let path = wanted.pop(); path !== undefined; path = wanted.pop()) {
    if (files.has(path)) continue;
    files.add(path);
    if (path.endsWith('.js')) wanted.push(...listImports(path));
  }
  return [...files];
}

/** Matches `import … from"./x.js"` and `import"./x.js"`, but not `import("./x.js")`. */
function listImports(path: string): string[] {
  const found = read(path)
    .toString()
    .matchAll(/\b(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g);
  return [...found].map(([, name]) => `assets/${name}`);
}

it('the dashboard loads less than 240 kB (gzip) before its first screen is shown', () => {
  const sizes = listInitialFiles().map((path) => [path, countGzipBytes(path)] as const);
  expect(sizes.length).toBeGreaterThan(1);
  const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
  expect(total, JSON.stringify(sizes)).toBeLessThan(INITIAL_MAX_BYTES);
});

it('no part of the dashboard is larger than 250 kB (gzip)', () => {
  const assets = readdirSync(join(BUILT, 'assets')).filter((name) => /\.(js|css)$/.test(name));
  const large = assets.filter((name) => countGzipBytes(`assets/${name}`) > LAZY_MAX_BYTES);
  expect(large).toEqual([]);
});
