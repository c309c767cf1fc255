import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { getRequestListener } from '@hono/node-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../cli/package-root.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject, startTestApi, type TestApi } from '../support/api.ts';

const DOCS = join(packageRoot(), 'docs');
const GUIDES = readdirSync(join(DOCS, 'guides')).map((file) => `guides/${file}`);
/** The address in README's commands, which is the default of `npm start`. */
const DEFAULT_ADDRESS = 'http://127.0.0.1:3000';
const run = promisify(execFile);

const read = (page: string): string => readFileSync(join(DOCS, page), 'utf8');
const commandsOf = (page: string): string[] =>
  [...read(page).matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, commands = '']) => commands);

describe('the commands of the guides', () => {
  let api: TestApi;
  let server: Server;
  let folder: string;
  beforeAll(async () => {
    api = await startTestApi({ EMAIL_PROVIDER: 'capture', SMS_PROVIDER: 'capture' });
    server = createServer(getRequestListener(api.app.fetch));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { id: projectId, publicKey, secretKey } = await buildProject(api.db, 'guides');
    await buildDomain(api.db, { projectId, domain: 'tidings.test' });
    folder = mkdtempSync(join(tmpdir(), 'tidings-guides-'));
    mkdirSync(join(folder, '.tidings'));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    writeFileSync(join(folder, '.tidings', 'dev.json'), JSON.stringify({ baseUrl, publicKey, secretKey }));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await new Promise((resolve) => server.close(resolve));
    await api.close();
  });

  /** Runs commands in a shell that stops at the first failure, and returns their output. */
  async function runCommands(commands: string[]): Promise<string> {
    const { baseUrl } = JSON.parse(readFileSync(join(folder, '.tidings', 'dev.json'), 'utf8')) as { baseUrl: string };
    const script = ['set -euo pipefail', ...commands].join('\n').replaceAll(DEFAULT_ADDRESS, baseUrl);
    const { stdout } = await run('bash', ['-c', script], { cwd: folder, maxBuffer: 16 * 1024 * 1024 });
    return stdout;
  }

  const helpers = commandsOf('guides/api.md')[0] ?? '';
  it.each(['first-steps.md', ...GUIDES])('of %s succeed', async (page) => {
    const output = await runCommands([helpers, ...commandsOf(page)]);
    expect(output).toContain('{');
    expect(output).not.toMatch(/"error":\{"code"/);
  });

  it('in README send the first email', async () => {
    const [, commands = ''] =
      /```sh\n(curl [\s\S]*?)```/.exec(readFileSync(join(DOCS, '..', 'README.md'), 'utf8')) ?? [];
    expect(await runCommands([commands])).toMatch(/"success":true/);
  });
});
