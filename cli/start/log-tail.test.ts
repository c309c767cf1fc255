import { appendFileSync, mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { followWarnings } from './log-tail.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidings-log-'));
  file = join(folder, 'api.log');
  appendFileSync(file, '{"level":50,"msg":"of an earlier run"}\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function followAndCollect(...lines: string[]): string[] {
  const warnings: string[] = [];
  const tail = followWarnings(file, 39, (line) => warnings.push(line));
  for (const line of lines) appendFileSync(file, line);
  tail.stop();
  return warnings;
}

it('the console shows warnings and errors of this run as text', () => {
  const warnings = followAndCollect(
    '{"level":30,"msg":"request"}\n',
    '{"level":40,"msg":"Temporal is away","reason":"ECONNREFUSED"}\n{"level":50,"msg":"failed"}\n',
  );
  expect(warnings).toEqual(['warning: Temporal is away (ECONNREFUSED)', 'error: failed']);
});

it('a line that is written in two parts is shown once and complete', () => {
  expect(followAndCollect('{"level":40,"msg":"ha', 'lf"}\n')).toEqual(['warning: half']);
});

it('shows the output of a crash, and hides informational lines of Temporal', () => {
  expect(followAndCollect('2026-11-21T08:48:15.953Z [INFO] Worker state changed\n', 'ReferenceError: x\n')).toEqual([
    'ReferenceError: x',
  ]);
});

it('shows at most five lines at a time, and where the others are', () => {
  const warnings = followAndCollect(...Array.from({ length: 20 }, (_, n) => `{"level":40,"msg":"warning ${n}"}\n`));
  expect(warnings).toHaveLength(6);
  expect(warnings[5]).toContain('15 more in');
});

it('continues when someone has deleted the log', () => {
  const warnings: string[] = [];
  const tail = followWarnings(file, 39, (line) => warnings.push(line));
  appendFileSync(file, '{"level":50,"msg":"failed"}\n');
  rmSync(file);
  tail.stop();
  expect(warnings).toEqual(['error: failed']);
});

it('continues at the start of a log that someone has emptied', () => {
  const warnings: string[] = [];
  const tail = followWarnings(file, 39, (line) => warnings.push(line));
  truncateSync(file);
  appendFileSync(file, '{"level":50,"msg":"new"}\n');
  tail.stop();
  expect(warnings).toEqual(['error: new']);
});
