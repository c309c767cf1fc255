import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openBuiltFiles } from './built-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidings-built-'));
  mkdirSync(join(folder, 'assets'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const textOf = (file: { bytes: Uint8Array } | undefined) => file && Buffer.from(file.bytes).toString();

describe('the page', () => {
  it('is the page of the latest build, also without a restart', async () => {
    const files = openBuiltFiles(folder);
    expect(await files.readPage(undefined)).toBeUndefined();
    write('index.html', 'one');
    utimesSync(join(folder, 'index.html'), 1_000, 1_000);
    const first = await files.readPage(undefined);
    expect([textOf(first), first?.type]).toEqual(['one', 'text/html; charset=utf-8']);
    expect(await files.readPage(undefined)).toBe(first);
    write('index.html', 'two');
    const second = await files.readPage(undefined);
    expect([textOf(second), second?.etag === first?.etag]).toEqual(['two', false]);
  });
});

describe('an asset', () => {
  beforeEach(() => {
    write('assets/index-Ab_1.js', 'code');
    writeFileSync(join(folder, 'assets/index-Ab_1.js.br'), brotliCompressSync('code'));
    writeFileSync(join(folder, 'assets/index-Ab_1.js.gz'), gzipSync('code'));
  });

  it.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['GZIP;q=0.5, br;q=0', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['identity', undefined],
    [undefined, undefined],
  ])('for a client that accepts %s is sent with the encoding %s', async (header, encoding) => {
    const files = openBuiltFiles(folder);
    for (let time = 0; time < 2; time += 1) {
      const file = await files.readAsset('index-Ab_1.js', header);
      expect([file?.encoding, file?.type]).toEqual([encoding, 'text/javascript; charset=utf-8']);
    }
  });

  it('is sent uncompressed if the build wrote no compressed copy, as for a file that compression does not make smaller', async () => {
    write('assets/tiny.css', 'a{}');
    const file = await openBuiltFiles(folder).readAsset('tiny.css', 'br, gzip');
    expect([textOf(file), file?.encoding]).toEqual(['a{}', undefined]);
  });

  it('is still served from the cache after a later build has removed it', async () => {
    const files = openBuiltFiles(folder);
    await files.readAsset('index-Ab_1.js', undefined);
    rmSync(join(folder, 'assets'), { recursive: true });
    expect(textOf(await files.readAsset('index-Ab_1.js', undefined))).toBe('code');
    expect(await files.readAsset('index-Ab_2.js', undefined)).toBeUndefined();
  });

  it.each([
    '../index.html',
    '..',
    '.stamp.js',
    'a/b.js',
    'x\0.js',
    'index-Ab_1.js.br',
    'index-Ab_1',
    '',
    `${'x'.repeat(300)}.js`,
  ])('is never served for the path %j', async (name) => {
    write('index.html', 'the page');
    expect(await openBuiltFiles(folder).readAsset(name, 'br')).toBeUndefined();
  });
});
