import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { getRequestListener } from '@hono/node-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDomain } from '../build/senders.ts';
import { buildProject, startTestApi, type TestApi } from '../support/api.ts';
import { fetchPythonPackages } from '../support/python-packages.ts';

const CALLS = join(import.meta.dirname, 'python-clients');
const packages = await fetchPythonPackages(CALLS);
const missing = typeof packages === 'string' ? packages : undefined;
const run = promisify(execFile);

interface Generator {
  name: string;
  /** Returns the arguments for Python to generate a client in a folder. */
  generate: (folder: string) => string[];
  calls: string;
}

const GENERATORS: Generator[] = [
  {
    name: 'openapi-python-client',
    generate: (folder) => ['-m', 'openapi_python_client', 'generate', '--path=openapi.json', `--output-path=${folder}`],
    calls: 'openapi_python_client_calls.py',
  },
  {
    name: 'the OpenAPI generator',
    generate: (folder) => [
      '-c',
      'from openapi_generator_cli import cli; cli()',
      ...['generate', '--generator-name=python', '--input-spec=openapi.json', `--output=${folder}`],
    ],
    calls: 'openapi_generator_calls.py',
  },
];

describe.skipIf(missing)(`a Python client${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let api: TestApi;
  let server: Server;
  let folder: string;
  beforeAll(async () => {
    api = await startTestApi({ EMAIL_PROVIDER: 'capture' });
    server = createServer(getRequestListener(api.app.fetch));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    folder = mkdtempSync(join(tmpdir(), 'tidings-python-'));
    const document = await (await api.app.request('/openapi.json?paths=v1')).text();
    writeFileSync(join(folder, 'openapi.json'), document);
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await new Promise((resolve) => server.close(resolve));
    await api.close();
  });

  async function runPython(words: string[], ...folders: string[]): Promise<string> {
    const PYTHONPATH = [...folders, String(typeof packages === 'string' ? '' : packages.root)].join(delimiter);
    const { stdout, stderr } = await run('python3', words, {
      cwd: folder,
      env: { ...process.env, PYTHONPATH },
      maxBuffer: 16 * 1024 * 1024,
    });
    return stdout + stderr;
  }

  it.each(GENERATORS)(
    'the client of $name sends, tracks, and reads contacts and lists',
    async ({ generate, calls }) => {
      const client = join(folder, calls.replace('.py', ''));
      const report = await runPython(generate(client));
      expect(report).not.toMatch(/Unable to process schema|Cannot parse response/);
      const { id: projectId, secretKey } = await buildProject(api.db, calls);
      await buildDomain(api.db, { projectId });
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      expect(await runPython([join(CALLS, calls), baseUrl, secretKey], client)).toBe('done\n');
    },
  );
});
