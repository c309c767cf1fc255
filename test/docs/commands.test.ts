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
import { ensureFirstProject } from '../../cli/start/first-project.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

const DOCS = join(packageRoot(), 'docs');
const GUIDES = readdirSync(join(DOCS, 'guides')).map((file) => `guides/${file}`);
/** The address in README's commands, which is the default of `npm start`. */
const DEFAULT_ADDRESS = 'http://127.0.0.1:3000';
/** Runs a command of the service as built for the tests: `npm run tidings -- pull` is `dist/cli/tidings.js`. */
const BUILT_COMMANDS = `npm() { local name="$2"; shift 3; node '${join(packageRoot(), 'dist', 'cli')}'/"$name.js" "$@"; }`;
const run = promisify(execFile);

const read = (page: string): string => readFileSync(join(DOCS, page), 'utf8');
const listCommands = (page: string): string[] =>
  [...read(page).matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, commands = '']) => commands);

describe('the commands of the guides', () => {
  let api: TestApi;
  let server: Server;
  let folder: string;
  let project: Awaited<ReturnType<typeof ensureFirstProject>>;
  let baseUrl: string;
  beforeAll(async () => {
    api = await startTestApi({ EMAIL_PROVIDER: 'capture', SMS_PROVIDER: 'capture' });
    server = createServer(getRequestListener(api.app.fetch));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    folder = mkdtempSync(join(tmpdir(), 'tidings-guides-'));
    mkdirSync(join(folder, '.tidings'));
    const { database, secretKey } = api.deps.config;
    project = await ensureFirstProject({
      databaseUrl: database.url,
      secretKey,
      homeFolder: join(folder, '.tidings'),
    });
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    writeFileSync(join(folder, '.tidings', 'dev.json'), JSON.stringify({ ...project, baseUrl }));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await new Promise((resolve) => server.close(resolve));
    await api.close();
  });

  /** Runs commands in a shell that stops at the first failure, and returns their output. */
  async function runCommands(commands: string[]): Promise<string> {
    const script = ['set -euo pipefail', BUILT_COMMANDS, ...commands]
      .join('\n')
      .replaceAll(DEFAULT_ADDRESS, baseUrl)
      .replaceAll('sk_live_…', project.secretKey)
      .replaceAll('project <id>', `project ${project.projectId}`);
    const env = { ...process.env, DATABASE_URL: api.deps.config.database.url };
    const { stdout } = await run('bash', ['-c', script], { cwd: folder, env, maxBuffer: 16 * 1024 * 1024 });
    return stdout;
  }

  const helpers = listCommands('guides/api.md')[0] ?? '';
  it.each(['first-steps.md', ...GUIDES])('the commands of %s succeed', async (page) => {
    const output = await runCommands([helpers, ...listCommands(page)]);
    expect(output).toContain('{');
    expect(output).not.toMatch(/"error":\{"code"/);
  });

  it('in the README send the first email', async () => {
    const [, commands = ''] =
      /```sh\n(curl [\s\S]*?)```/.exec(readFileSync(join(DOCS, '..', 'README.md'), 'utf8')) ?? [];
    expect(await runCommands([commands])).toMatch(/"success":true/);
  });

  it('the commands about a hold set, show and release a hold', async () => {
    const output = await runCommands(listCommands('hold.md'));
    expect(output).not.toMatch(/"error":\{"code"/);
    expect(output.match(/"held":(true|false)/g)).toEqual(expect.arrayContaining(['"held":true', '"held":false']));
  });

  it('the commands about a project as code pull the project and push it again', async () => {
    expect(await runCommands(listCommands('as-code.md'))).toContain('settings.json');
  });

  it('the commands about limits of the operator set and remove them', async () => {
    const [commands = ''] = listCommands('operate/configure.md').filter((block) => block.includes('npm run operator'));
    const output = await runCommands([commands]);
    expect(output).toContain('monthlyEmailLimit');
    expect(output).toContain('ticket 7');
  });
});
