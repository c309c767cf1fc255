import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ROOMS =
  'activities|api|bench|channels|cli|compute|db|docs|domain|rules|temporal|test|web|worker|workflows|packages';
/** What a comment can point at: a sentence of the contract, or a file by its path from the root. */
const SENTENCE = /contract((?:,? (?:and )?§\d+(?:\.\d+)?)+)/g;
const FILE = new RegExp(String.raw`(?<![\w./$-])(?:${ROOMS})/[\w./-]*\.(?:ts|tsx|mjs|md|json)\b`, 'g');
/** Papers that are not in the repository. */
const ELSEWHERE = /\b(decisions|findings|performance|running|spec)(\.md| §\d| "[A-Z])/;

const files = sources();
const contract = readFileSync(join(ROOT, 'docs/contract.md'), 'utf8');

it('finds every sentence of the contract that code and documents name', () => {
  expect(lines(SENTENCE).filter(({ text }) => !numbers(text).every(isInContract))).toEqual([]);
});

it('finds every file that code and documents name', () => {
  expect(lines(FILE).filter(({ text, file }) => !existsSync(join(ROOT, text)) && !isExample(file))).toEqual([]);
});

it('finds nothing that points out of the repository', () => {
  const found = files.flatMap((file) =>
    read(file)
      .split('\n')
      .filter((line) => ELSEWHERE.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

function sources(): string[] {
  const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return tracked
    .split('\n')
    .filter((file) => /\.(ts|tsx|mjs|md)$/.test(file) && existsSync(join(ROOT, file)))
    .filter((file) => file !== 'CHANGELOG.md' && !file.startsWith('test/docs/citations'));
}

function lines(pattern: RegExp): { file: string; text: string }[] {
  return files.flatMap((file) => [...read(file).matchAll(pattern)].map(([text]) => ({ file, text })));
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function numbers(citation: string): string[] {
  return [...citation.matchAll(/§(\d+(?:\.\d+)?)/g)].map(([, number]) => number ?? '');
}

function isInContract(number: string): boolean {
  return contract.includes(number.includes('.') ? `**${number}**` : `\n## ${number}. `);
}

/** What a tool would write. */
function isExample(file: string): boolean {
  return file === 'db/migration-new.mjs';
}
