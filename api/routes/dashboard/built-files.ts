import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';

/** Content encodings, the best first. The build writes a compressed copy with this ending if the copy is smaller. */
const ENCODINGS = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const;

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** One segment without a leading dot, as Vite names its files. */
const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}$/;

/** A file in an encoding that the client accepts. */
export interface BuiltFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  /** Undefined if the file is not compressed. */
  readonly encoding: string | undefined;
  /** Value of the header `ETag`: a hash of the bytes, in quotes. */
  readonly etag: string;
}

/** Files that the build of `dashboard/` has produced. */
export interface BuiltFiles {
  /** Returns `index.html` of the latest build. Undefined if nothing is built. */
  readPage(acceptEncoding: string | undefined): Promise<BuiltFile | undefined>;
  /** Returns a file of `assets/`, whose name contains a hash of its content. Undefined if it does not exist. */
  readAsset(name: string, acceptEncoding: string | undefined): Promise<BuiltFile | undefined>;
}

/**
 * Creates a cache of the files in a folder. A file is read at its first request. An asset is cached as long as the
 * process runs, because its name changes with its content. The page is cached until its file changes. The cache
 * contains a file once for each set of encodings that clients accept, so at most four times.
 */
export function openBuiltFiles(folder: string = findBuiltFolder()): BuiltFiles {
  const assets = new Map<string, BuiltFile>();
  const pages = new Map<string, { file: BuiltFile; mtimeMs: number }>();
  const pagePath = join(folder, 'index.html');

  return {
    async readPage(acceptEncoding) {
      const mtimeMs = await readModifiedTime(pagePath);
      if (mtimeMs === undefined) return undefined;
      const encodings = parseAcceptedEncodings(acceptEncoding);
      const cached = pages.get(encodings.join());
      if (cached?.mtimeMs === mtimeMs) return cached.file;
      const file = await readBuiltFile(pagePath, encodings);
      if (file) pages.set(encodings.join(), { file, mtimeMs });
      return file;
    },
    async readAsset(name, acceptEncoding) {
      if (!FILE_NAME.test(name) || !(extname(name) in TYPES)) return undefined;
      const encodings = parseAcceptedEncodings(acceptEncoding);
      const key = `${encodings.join()} ${name}`;
      const file = assets.get(key) ?? (await readBuiltFile(join(folder, 'assets', name), encodings));
      if (file) assets.set(key, file);
      return file;
    },
  };
}

/** Returns the path of `dist/dashboard`. Works for code that runs from the sources and for code in `dist`. */
function findBuiltFolder(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return join(folder, 'dist', 'dashboard');
}

/**
 * Returns the supported encodings that a client accepts (RFC 9110 §12.5.3), the best first. `*` is ignored, because
 * no client sends it alone.
 */
function parseAcceptedEncodings(header: string | undefined): string[] {
  const weights = new Map(
    (header ?? '').split(',').map((part) => {
      const [name = '', ...parameters] = part.split(';').map((word) => word.trim().toLowerCase());
      const weight = parameters.find((word) => word.startsWith('q='))?.slice(2);
      return [name, weight === undefined ? 1 : Number(weight)];
    }),
  );
  return ENCODINGS.map(({ name }) => name).filter((name) => (weights.get(name) ?? 0) > 0);
}

async function readBuiltFile(path: string, encodings: readonly string[]): Promise<BuiltFile | undefined> {
  const type = TYPES[extname(path)] ?? 'application/octet-stream';
  for (const { name, ending } of ENCODINGS) {
    const bytes = encodings.includes(name) ? await readBytes(path + ending) : undefined;
    if (bytes) return { bytes, type, encoding: name, etag: computeEtag(bytes) };
  }
  const bytes = await readBytes(path);
  return bytes && { bytes, type, encoding: undefined, etag: computeEtag(bytes) };
}

function computeEtag(bytes: Uint8Array): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
}

async function readBytes(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  return readFile(path).then((bytes) => new Uint8Array(bytes), rethrowUnlessMissing);
}

async function readModifiedTime(path: string): Promise<number | undefined> {
  return stat(path).then(({ mtimeMs }) => mtimeMs, rethrowUnlessMissing);
}

function rethrowUnlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
