import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findTemporalBinary, type TemporalBinaryOptions } from '../../cli/start/temporal-binary.ts';
import { until } from '../support/until.ts';

const PROGRAM = '#!/bin/sh\necho temporal version 1.5.1\n';
/** An address on which no server listens. */
const NO_DOWNLOAD = 'http://127.0.0.1:1/temporal.tar.gz';

let folder: string;
let server: Server | undefined;
let lines: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidings-binary-'));
  lines = [];
});
afterEach(() => {
  server?.close();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

function createOptions(more: Partial<TemporalBinaryOptions> = {}): TemporalBinaryOptions {
  return {
    cliPath: undefined,
    binFolder: join(folder, 'home', 'bin'),
    env: { PATH: join(folder, 'path'), HOME: join(folder, 'user') },
    progress: (line) => lines.push(line),
    signal: new AbortController().signal,
    downloadUrl: NO_DOWNLOAD,
    goFolders: [],
    ...more,
  };
}

function writeProgram(path: string, content = PROGRAM): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, 0o755);
  return path;
}

/** Returns a tar archive with one file. */
function createTar(name: string, content: string): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  const body = Buffer.alloc(Math.ceil(content.length / 512) * 512);
  body.write(content);
  return Buffer.concat([header, body, Buffer.alloc(1024)]);
}

async function serveBody(status: number, body: Buffer): Promise<string> {
  const started = createServer((_, response) => response.writeHead(status).end(body));
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  const address = started.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`;
}

it('TEMPORAL_CLI_PATH is used before all others, and must be a program', async () => {
  writeProgram(join(folder, 'path', 'temporal'));
  const given = writeProgram(join(folder, 'given', 'temporal'));
  expect(await findTemporalBinary(createOptions({ cliPath: given }))).toBe(given);
  await expect(findTemporalBinary(createOptions({ cliPath: join(folder, 'nowhere') }))).rejects.toThrow(
    /^TEMPORAL_CLI_PATH must be the path of the temporal program/,
  );
});

it('a program on PATH is used before the one in the home, and that one before the one in the cache', async () => {
  const cached = writeProgram(join(folder, 'user', '.cache', 'tidings', 'temporal'));
  expect(await findTemporalBinary(createOptions())).toBe(cached);
  const kept = writeProgram(join(folder, 'home', 'bin', 'temporal'));
  expect(await findTemporalBinary(createOptions())).toBe(kept);
  const onPath = writeProgram(join(folder, 'path', 'temporal'));
  expect(await findTemporalBinary(createOptions())).toBe(onPath);
});

it('a program that does not run on this machine is skipped', async () => {
  writeProgram(join(folder, 'path', 'temporal'), '#!/bin/sh\nexit 1\n');
  const kept = writeProgram(join(folder, 'home', 'bin', 'temporal'));
  expect(await findTemporalBinary(createOptions())).toBe(kept);
});

it('a cached program that replies late, as on a busy machine, is used instead of another download', async () => {
  const slow = writeProgram(join(folder, 'user', '.cache', 'tidings', 'temporal'), '#!/bin/sh\nexec sleep 60\n');
  const env = { PATH: `${join(folder, 'path')}:/usr/bin:/bin`, HOME: join(folder, 'user') };
  expect(await findTemporalBinary(createOptions({ env }))).toBe(slow);
  expect(lines).toEqual([]);
});

it('the official download is unpacked and stored in the cache for the next start', async () => {
  const downloadUrl = await serveBody(200, gzipSync(createTar('temporal', PROGRAM)));
  const found = await findTemporalBinary(createOptions({ downloadUrl }));
  expect(found).toBe(join(folder, 'user', '.cache', 'tidings', 'temporal'));
  expect(readFileSync(found, 'utf8')).toBe(PROGRAM);
  expect(lines.join()).toContain('downloading');
  expect(await findTemporalBinary(createOptions())).toBe(found);
});

it('go install runs if the download is unreachable, without C and in a version that can be installed this way', async () => {
  const call = join(folder, 'call');
  writeProgram(
    join(folder, 'path', 'go'),
    `#!/bin/sh\necho "$@ CGO_ENABLED=$CGO_ENABLED" > ${call}\nprintf '#!/bin/sh\\n' > "$GOBIN/temporal"\n`,
  );
  const env = { PATH: `${join(folder, 'path')}:/usr/bin:/bin`, HOME: join(folder, 'user') };
  const found = await findTemporalBinary(createOptions({ env }));
  expect(existsSync(found)).toBe(true);
  expect(readFileSync(call, 'utf8').trim()).toBe(
    'install -ldflags=-s -w github.com/temporalio/cli/cmd/temporal@v1.5.1 CGO_ENABLED=0',
  );
});

it('a process waits for another one that builds the program, and builds it if the other one was killed', async () => {
  const cache = join(folder, 'user', '.cache', 'tidings');
  const go = writeProgram(join(folder, 'path', 'go'), `#!/bin/sh\nprintf '#!/bin/sh\\n' > "$GOBIN/temporal"\n`);
  const env = { PATH: `${join(folder, 'path')}:/usr/bin:/bin`, HOME: join(folder, 'user') };
  const other = spawn('sleep', ['600']);
  mkdirSync(join(cache, `.staging-${other.pid}`), { recursive: true });
  const waiting = findTemporalBinary(createOptions({ env }));
  await until(() => lines.length > 0, 'the first line');
  expect(lines).toEqual([expect.stringContaining('waiting for it')]);
  other.kill('SIGKILL');
  expect(await waiting).toBe(join(cache, 'temporal'));
  expect(lines.join()).toContain(`Building Temporal 1.5.1 with ${go}`);
});

it('without a program, one line names every way to get one, and no partial file remains', async () => {
  const downloadUrl = await serveBody(200, gzipSync(createTar('README', 'no program')));
  const error = await findTemporalBinary(createOptions({ downloadUrl })).catch((reason: Error) => reason);
  expect(error).toBeInstanceOf(Error);
  const { message } = error as Error;
  for (const way of ['TEMPORAL_ADDRESS', 'TEMPORAL_CLI_PATH', 'PATH', 'download', 'Go']) expect(message).toContain(way);
  expect(message).not.toContain('\n');
  expect(existsSync(join(folder, 'user', '.cache', 'tidings', 'temporal'))).toBe(false);
});
