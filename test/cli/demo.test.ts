import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../cli/package-root.ts';
import { processesWithArgument } from '../../cli/processes.ts';

const homes = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('tidings-demo-'));

/** Runs the tour without a terminal and without a running service, as a CI would. */
async function runDemo(): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join('dist', 'cli', 'demo.js')], {
    cwd: packageRoot(),
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TIDINGS_HOME: '/nonexistent/home', WORKERS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

it('npm run demo tours a service of its own, counts what arrived, and leaves nothing behind', {
  timeout: 300_000,
}, async () => {
  const before = new Set(homes());
  const { code, output } = await runDemo();
  expect(code, output).toBe(0);
  expect(output).toContain('types of step that it went through: 7 of 7');
  expect(output).toMatch(/mails in the mailbox: ([\d,]+) of \1\n/);
  expect(output).toContain('calls of the WEBHOOK step: 1 of 1');
  expect(output).not.toContain('WRONG');
  expect(output).not.toContain('\x1b');
  const left = homes().filter((home) => !before.has(home));
  expect(left.filter((home) => existsSync(join(tmpdir(), home)))).toEqual([]);
  expect(left.flatMap((home) => processesWithArgument(home))).toEqual([]);
});
