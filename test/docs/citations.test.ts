import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const tracked = listTrackedFiles();
const ROOMS = [...new Set(tracked.flatMap((file) => (file.includes('/') ? file.split('/')[0] : [])))].join('|');
/** Patterns of citations in comments: a rule of the contract, or a file by its path from the root. */
const SENTENCE = /contract((?:,? (?:and )?§\d+(?:\.\d+)?)+)/g;
const FILE = new RegExp(String.raw`(?<![\w./$-])(?:${ROOMS})/[\w./-]*\.(?:ts|tsx|mjs|md|json)\b`, 'g');
/** The pattern of a file that is cited by its name, or by the end of its path. */
const NAME = /`((?:[\w-]+\/)*[\w.-]+\.(?:ts|tsx|mjs))`/g;
const FOLDER = new RegExp(`\`((?:${ROOMS})(?:/[\\w-]+)*)/?\``, 'g');
/** The pattern of a citation in documents that names a file and something in it. */
const PLACE = /`(\w+)` (?:in|of) `([\w./-]+\.tsx?)`/g;
/** Documents outside the repository that may be named. */
const ELSEWHERE = /\b(findings|performance|running|spec)(\.md| §\d| "[A-Z])/;

const files = listSources();
const contract = readFileSync(join(ROOT, 'docs/contract.md'), 'utf8');
/** Titles of the contract's rules by number, such as `Idempotency` for 1.8. */
const TITLES = new Map(
  [...contract.matchAll(/^- \*\*(\d+\.\d+) ([^*]+)\.\*\*/gm)].map(([, number, title]) => [number, title]),
);
/** A citation of one rule in a comment, with the rule's title. */
const TITLED = /contract §(\d+\.\d+)(?![.\d])(?!,? (?:and )?§)/g;

it('every sentence of the contract that code and documents cite exists', () => {
  expect(findLines(SENTENCE).filter(({ text }) => !parseNumbers(text).every(isInContract))).toEqual([]);
});

it('every comment that cites a rule by number has the title of the rule after the number', () => {
  const untitled = files
    .filter((file) => !file.endsWith('.md'))
    .flatMap((file) => {
      const text = read(file).replaceAll(/\n\s*(?:\*|\/\/)\s?/g, ' ');
      return [...text.matchAll(TITLED)]
        .filter(
          ({ 0: citation, 1: number = '', index }) =>
            !text.startsWith(` ${TITLES.get(number)}`, index + citation.length),
        )
        .map(({ 0: citation }) => `${file}: ${citation}`);
    });
  expect(untitled).toEqual([]);
});

it('every file that code and documents name exists', () => {
  expect(findLines(FILE).filter(({ text, file }) => !existsSync(join(ROOT, text)) && !isGenerated(file))).toEqual([]);
});

it('every file that is named without its folder exists, and every folder', () => {
  const names = findMatches(NAME).filter(([, name]) => !tracked.some((file) => `/${file}`.endsWith(`/${name}`)));
  const folders = findMatches(FOLDER).filter(
    ([, folder]) => !tracked.some((file) => file.startsWith(`${folder}/`) || file.startsWith(`${folder}.`)),
  );
  expect([...names, ...folders]).toEqual([]);
});

it('every name that documents locate in a file is in that file', () => {
  const places = findMatches(PLACE);
  expect(places.length).toBeGreaterThan(0);
  expect(places.filter(([, what = '', file = '']) => !new RegExp(`\\b${what}\\b`).test(read(file)))).toEqual([]);
});

it('the check reads every room', () => {
  expect(ROOMS.split('|')).toEqual(expect.arrayContaining(['dashboard', 'db', 'packages', 'rules']));
  expect(findLines(FILE).length).toBeGreaterThan(100);
});

it('no file names a document outside the repository', () => {
  const citations = files.flatMap((file) =>
    read(file)
      .split('\n')
      .filter((line) => ELSEWHERE.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(citations).toEqual([]);
});

function listTrackedFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return listed.split('\n').filter((file) => file !== '' && existsSync(join(ROOT, file)));
}

function listSources(): string[] {
  return tracked
    .filter((file) => /\.(ts|tsx|mjs|md)$/.test(file))
    .filter((file) => file !== 'CHANGELOG.md' && !file.startsWith('test/docs/citations'));
}

/** Returns the file of each match, and the groups of the pattern. */
function findMatches(pattern: RegExp): string[][] {
  return files.flatMap((file) => [...read(file).matchAll(pattern)].map(([, ...groups]) => [file, ...groups]));
}

function findLines(pattern: RegExp): { file: string; text: string }[] {
  return files.flatMap((file) => [...read(file).matchAll(pattern)].map(([text]) => ({ file, text })));
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function parseNumbers(citation: string): string[] {
  return [...citation.matchAll(/§(\d+(?:\.\d+)?)/g)].map(([, number]) => number ?? '');
}

function isInContract(number: string): boolean {
  return number.includes('.') ? TITLES.has(number) : contract.includes(`\n## ${number}. `);
}

/** Tells whether a tool generates the file. */
function isGenerated(file: string): boolean {
  return file === 'db/migration-new.mjs';
}
