import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createLogger } from './logger.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** A log statement that passes an error's own text. */
const RAW_TEXT =
  /\blog\.(?:trace|debug|info|warn|error|fatal)\([^;]*?(?:\b(?:error|err|cause)\.(?:message|stack)\b|String\(\w*error\)|\berr:)/g;

it('the log of a process hides the values that an error quotes', () => {
  const lines: string[] = [];
  const log = createLogger('api', 'info', { write: (line) => void lines.push(line) });
  const error = Object.assign(new Error('no row for ada@example.com'), { detail: 'Key (email)=(ada@example.com)' });
  log.warn({ reason: error.message }, 'one');
  log.warn({ err: error }, 'two');
  log.warn({ to: 'ada@example.com' }, 'three');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: 'one', reason: 'no row for [address]' },
    { msg: 'two', err: 'no row for [address]' },
    { msg: 'three', to: '[private]' },
  ]);
  expect(lines.join('')).not.toContain('ada@');
});

it('logs no error message unchanged in any room', () => {
  const rooms = ['activities', 'api', 'channels', 'cli', 'compute', 'db', 'engine', 'temporal', 'worker', 'workflows'];
  const files = execFileSync('git', ['ls-files', ...rooms], { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split('\n');
  const code = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  const found = code.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(RAW_TEXT)].map(([call]) => `${file}: ${call}`),
  );
  expect(found).toEqual([]);
});
