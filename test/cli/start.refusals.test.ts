import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHomePath, removeHome, startAndWaitForExit } from '../support/start.ts';

const NOBODY = 65_534;

let home: string;
beforeEach(() => {
  home = createHomePath();
});
afterEach(() => removeHome(home));

/** Expects that npm start ends with exit code 1 and one line about the problem, and starts nothing. */
async function expectRefusal(env: Record<string, string> = {}): Promise<string> {
  const { code, output } = await startAndWaitForExit({ home, env });
  expect(output.trim().split('\n')).toHaveLength(1);
  expect(code).toBe(1);
  return output;
}

it('npm start refuses a port in use', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  try {
    expect(await expectRefusal({ PORT: String(port) })).toMatch(`Port ${port} on 127.0.0.1 is in use`);
  } finally {
    server.close();
  }
});

it('npm start refuses an address that this machine does not have', async () => {
  expect(await expectRefusal({ HOST: '192.0.2.1', PORT: '3999', ALLOW_CAPTURE: 'true' })).toMatch(
    'HOST 192.0.2.1 is not an address of this machine',
  );
});

it('npm start refuses an invalid value', async () => {
  expect(await expectRefusal({ WORKERS: 'many' })).toBe('WORKERS must be a whole number from 1 to 64, not "many".\n');
});

it('a refusal is also reported by the processes that npm start starts', async () => {
  const { code, output } = await startAndWaitForExit({ home, env: { WORKERS: 'many' }, words: ['run.mjs', 'start'] });
  expect(code).toBe(1);
  expect(output).toMatch(/^WORKERS must be .*\n$/m);
});

it('npm start refuses a TEMPORAL_CLI_PATH that is not a Temporal program', async () => {
  expect(await expectRefusal({ TEMPORAL_CLI_PATH: '/etc/passwd' })).toMatch('TEMPORAL_CLI_PATH must be');
});

it('npm start refuses a database that it cannot reach', async () => {
  const url = 'postgres://tidings:hunter2@127.0.0.1:1/tidings';
  const output = await expectRefusal({ DATABASE_URL: url });
  expect(output).toMatch('Postgres at 127.0.0.1:1 cannot be used');
  expect(output).not.toContain('hunter2');
});

it('npm start refuses a home of a newer version', async () => {
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'VERSION'), '99.1.0\n');
  expect(await expectRefusal()).toMatch('was used by version 99.1.0, which is newer');
});

it.runIf(process.getuid?.() === 0)('npm start refuses a home of another user', async () => {
  mkdirSync(home, { recursive: true });
  chownSync(home, NOBODY, NOBODY);
  expect(await expectRefusal()).toMatch('belongs to another user (uid 65534');
});

it('npm start refuses a home that is a file', async () => {
  writeFileSync(home, '');
  expect(await expectRefusal()).toMatch('is not a folder');
});
