import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../cli/package-root.ts';
import { findTemporalBinary } from '../../cli/start/temporal-binary.ts';
import { parseSettings, VARIABLES } from '../../rules/config.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

const ROOT = packageRoot();
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const PAGES = ['README.md', 'CONTRIBUTING.md', ...listPages('docs')];
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const { services } = parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, unknown> };

/** Programs of other projects, whose options are not checked here. */
const OTHER_PROGRAMS = new Set(['cat', 'openssl', 'pg_dump', 'printf', 'rm', 'swaks', 'tail']);
/** Variables in commands that are not settings of the service. */
const OTHER_VARIABLES = new Set(['POSTGRES_PASSWORD', 'TEMPORAL_DEBUG', 'TIDINGS_KEY', 'TIDINGS_URL']);
/** Pages whose commands `commands.test.ts` runs. */
const RUN = new Set(['docs/first-steps.md', 'docs/hold.md', ...listPages('docs/guides')]);

let api: TestApi;
let temporal: string;
beforeAll(async () => {
  api = await startTestApi();
  temporal = await findTemporalBinary({
    cliPath: process.env.TEMPORAL_CLI_PATH,
    binFolder: tmpdir(),
    env: process.env,
    progress: () => {},
    signal: new AbortController().signal,
  });
});
afterAll(() => api.close());

function listPages(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `${folder}/${file}`);
}

/** Returns the blocks of a page in one language, also those in lists. */
function listBlocks(page: string, language: string): string[] {
  const pattern = new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm');
  return [...read(page).matchAll(pattern)].map(([, , block = '']) => block);
}

/** One command of a shell block. */
interface Command {
  /** Variables of the command, and variables that the block has set before. */
  variables: Record<string, string>;
  words: string[];
}

/** Splits a block into commands as a shell does. Shell functions are not supported. A placeholder `<x y>` is one word. */
function splitCommands(block: string): Command[] {
  const exported: Record<string, string> = {};
  return joinLines(block).flatMap((line) => {
    const words = splitWords(line);
    if (words[0] === 'export') words.shift();
    const first = words.findIndex((word) => !/^\w+=/.test(word));
    const assigned = first < 0 ? words : words.slice(0, first);
    const variables = Object.fromEntries(assigned.map((word) => [word.split('=')[0], word.replace(/^\w+=/, '')]));
    if (first < 0) Object.assign(exported, variables);
    return { variables: { ...exported, ...variables }, words: first < 0 ? [] : words.slice(first) };
  });
}

/** Returns the lines of a block, each with the lines that continue it. */
function joinLines(block: string): string[] {
  const lines: string[] = [];
  for (const line of block.replaceAll(/ *\\\n\s*/g, ' ').split('\n')) {
    const last = lines.at(-1);
    if (last !== undefined && hasOpenQuote(last)) lines[lines.length - 1] = `${last}\n${line}`;
    else lines.push(line);
  }
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !/^(?:#|\w+\(\) \{)/.test(line));
}

function hasOpenQuote(text: string): boolean {
  let open = '';
  for (const [at, char] of [...text].entries()) {
    if (open) open = char === open ? '' : open;
    else if (char === '"' || char === "'") open = char;
    else if (char === '#' && /^\s?$/.test(text.charAt(at - 1))) return false;
  }
  return open !== '';
}

/** Splits a line into words without quotes, up to a comment or a redirection. */
function splitWords(line: string): string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/(?:<[\w ]+>|"[^"]*"|'[^']*'|\$\([^)]*\)|[^\s"'])+/g)) {
    if (word.startsWith('#') || word === '>') break;
    words.push(word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double, single) => double ?? single));
  }
  return words;
}

/** Returns why a command cannot work. Returns undefined if the check finds no problem. */
async function findFault({ variables, words }: Command): Promise<string | undefined> {
  const [program, ...args] = words;
  const unknown = Object.keys(variables).find((name) => !(name in VARIABLES) && !OTHER_VARIABLES.has(name));
  if (unknown) return `${unknown} is not a variable of the service`;
  const fault = findSettingsFault(variables);
  if (fault || program === undefined || OTHER_PROGRAMS.has(program)) return fault;
  if (program === 'npm') return findScriptFault(args);
  if (program === 'node') return findPathFault(args);
  if (program === 'psql') return findSqlFault(args.at(-1) ?? '');
  if (program === 'temporal') return findTemporalFault(args);
  if (program === 'docker') return findDockerFault(args);
  if (program === 'curl') return findApiPathFault(args);
  return `${program} is not checked: add it to this test`;
}

/** Parses settings as a process of the service does. If the reader must replace a value, the value counts as valid. */
function findSettingsFault(variables: Record<string, string>): string | undefined {
  const settings = Object.entries(variables).filter(([name, value]) => name in VARIABLES && !value.startsWith('$('));
  try {
    parseSettings(Object.fromEntries(settings.map(([name, value]) => [name, value.replace('…', 'x'.repeat(32))])));
  } catch (error) {
    return String(error);
  }
}

function findScriptFault([first = '', ...rest]: string[]): string | undefined {
  const [name = '', ...args] = first === 'run' ? rest.filter((word) => word !== '-s') : [first];
  if (!(name in scripts)) return `npm has no script ${name}`;
  return name === 'test:one' ? findPathFault(args) : undefined;
}

/** An argument with a slash is a path in the repository. */
function findPathFault(args: string[]): string | undefined {
  return args
    .filter((word) => word.includes('/') && !existsSync(join(ROOT, word)))
    .map((word) => `${word} does not exist`)[0];
}

async function findSqlFault(statement: string): Promise<string | undefined> {
  if (!statement.startsWith('SELECT')) return 'only a SELECT can run here';
  return sql
    .raw(statement)
    .execute(api.db)
    .then(() => undefined, String);
}

const helps = new Map<string, string>();

/** Returns the help of a command of Temporal; empty if there is no such command. */
function readHelp(command: string): string {
  const known = helps.get(command);
  if (known !== undefined) return known;
  const { status, stdout } = spawnSync(temporal, [...command.split(' '), '--help'], { encoding: 'utf8' });
  const help = status === 0 && stdout.includes(`temporal ${command} [flags]`) ? stdout : '';
  helps.set(command, help);
  return help;
}

/** Returns the problem of a command of Temporal, according to Temporal's own help. */
function findTemporalFault(args: string[]): string | undefined {
  const first = args.findIndex((word) => word.startsWith('-'));
  const command = (first < 0 ? args : args.slice(0, first)).join(' ');
  const help = readHelp(command);
  if (help === '') return `no command ${command}`;
  const isKnown = (option: string) => new RegExp(`\\s${option}[,\\s]`).test(help);
  return args.filter((word) => /^--?[a-z]/.test(word) && !isKnown(word)).map((option) => `no option ${option}`)[0];
}

function findDockerFault([compose, action, ...rest]: string[]): string | undefined {
  if (compose !== 'compose') return 'only docker compose is known';
  const service = action === 'exec' ? rest[0] : /^(\w+)=/.exec(rest.at(-1) ?? '')?.[1];
  if (!(service && service in services)) return `docker-compose.yml has no service ${service}`;
  return action === 'exec' && rest[1] === 'npm' ? findScriptFault(rest.slice(2)) : undefined;
}

async function findApiPathFault(args: string[]): Promise<string | undefined> {
  const url = args.find((word) => /^(?:\$BASE_URL|http)/.test(word)) ?? '';
  const { status } = await api.app.request(url.replace(/^\$BASE_URL|^https?:\/\/[^/]+/, ''));
  return status === 404 ? `${url} is not a path of the API` : undefined;
}

describe('the shell blocks of the documents', () => {
  it.each(PAGES.filter((page) => !RUN.has(page) && listBlocks(page, 'sh').length > 0))(
    'shell blocks of %s have commands that exist, with valid options and settings',
    async (page) => {
      const commands = listBlocks(page, 'sh').flatMap(splitCommands);
      expect(commands.length).toBeGreaterThan(0);
      const faults = await Promise.all(
        commands.map(async (command) => [command.words.join(' '), await findFault(command)] as const),
      );
      expect(faults.filter(([, fault]) => fault !== undefined)).toEqual([]);
    },
  );

  it('have one of the languages json, mermaid and sh', () => {
    const languages = PAGES.flatMap((page) => [...read(page).matchAll(/^ *```(\w+)$/gm)].map(([, name]) => name));
    expect([...new Set(languages)].sort()).toEqual(['json', 'mermaid', 'sh']);
  });

  it.each([
    ['an unknown script', 'npm run nothing'],
    ['an unknown variable', 'NO_SUCH_SETTING=1 npm start'],
    ['a setting that is refused', 'PORT=http npm start'],
    ['a missing file', 'npm run test:one -- test/nothing'],
    ['a wrong column', `psql "$DATABASE_URL" -c "SELECT nothing\n  FROM emails"`],
    ['an unknown command of Temporal', 'temporal workflow forget -w <workflow id>'],
    ['an unknown option of Temporal', 'temporal workflow show --everything'],
    ['an unknown service', 'docker compose exec nothing npm run doctor'],
    ['an unknown path', 'curl -s "$BASE_URL/nothing"'],
    ['an unknown program', 'mystery --help'],
  ])('are checked: the check finds %s', async (_fault, block) => {
    const [command] = splitCommands(block);
    expect(command && (await findFault(command))).toEqual(expect.any(String));
  });
});

it('each JSON block of the documents is valid JSON', () => {
  const blocks = PAGES.flatMap((page) => listBlocks(page, 'json').map((block) => [page, block] as const));
  expect(blocks.length).toBeGreaterThan(4);
  for (const [page, block] of blocks) expect(() => JSON.parse(block), page).not.toThrow();
});
