import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../cli/package-root.ts';
import { VARIABLES } from '../../rules/config.ts';
import { EMAIL_PROVIDERS } from '../../rules/emails/email-providers.ts';
import { ERRORS } from '../../rules/errors.ts';
import { STEP_TYPES } from '../../rules/executions/steps/registry.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { listOperations } from '../support/operations.ts';

const ROOT = packageRoot();
const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).flatMap((file) =>
    file.endsWith('.md') ? [join('docs', file)] : [],
  ),
];
const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8');
const findMatches = (pattern: RegExp): [string, string][] =>
  pages.flatMap((page) => [...read(page).matchAll(pattern)].map((match): [string, string] => [page, match[1] ?? '']));

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

describe('the documents', () => {
  it('link to pages that exist', () => {
    const links = findMatches(/\]\((?!https?:)([^)#]+)/g);
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter(([page, link]) => !existsSync(join(ROOT, dirname(page), link)))).toEqual([]);
  });

  it('name npm scripts and commands that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    expect(findMatches(/npm run (?:-s )?([a-z:-]+)/g).filter(([, name]) => !(name in scripts))).toEqual([]);
    expect(
      findMatches(/node run\.mjs ([a-z-]+)/g).filter(([, name]) => !existsSync(join(ROOT, 'cli', `${name}.ts`))),
    ).toEqual([]);
  });

  it('name operations of the API that exist', () => {
    const known = new Set(
      listOperations(api.app).map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '*')}`),
    );
    const calls = findMatches(/\b(?:api|as) ((?:GET|POST|PUT|PATCH|DELETE) ["']?\/[^\s"'?]+)/g).map(
      ([page, call]) => [page, call.replace(/["']/g, '').replaceAll(/\$\w+/g, '*')] as const,
    );
    expect(calls.length).toBeGreaterThan(20);
    const unknown = calls.filter(([, call]) => !known.has(call) && !known.has(call.replace(/\/[^/]+@[^/]+$/, '/*')));
    expect(unknown).toEqual([]);
  });

  it('have an item for each type of step in the guide, in the order of the API, and mention each in the contract', () => {
    const items = [...read('docs/guides/automations.md').matchAll(/^- `([A-Z_]+)`: /gm)];
    expect(items.map(([, type]) => type)).toEqual(STEP_TYPES);
    const [promise = ''] = /^- \*\*7\.2 Steps\.\*\* Steps are [^.]*\./m.exec(read('docs/contract.md')) ?? [];
    expect(promise.match(/\b[A-Z]+(?:_[A-Z]+)*\b/g)).toEqual(STEP_TYPES);
  });

  it('name environment variables that exist', () => {
    // A word that starts like the name of one of our variables must be one of them.
    const first = new Set(Object.keys(VARIABLES).flatMap((name) => (name.includes('_') ? name.split('_')[0] : [])));
    const ours = findMatches(new RegExp(`\`((?:${[...first].join('|')})_[A-Z0-9_]+)(?:=[^\`]*)?\``, 'g'));
    expect(ours.length).toBeGreaterThan(20);
    // These variables are for commands that call a running service.
    const ofClients = ['TIDINGS_URL', 'TIDINGS_KEY'];
    const known = new Set([...Object.keys(VARIABLES), ...Object.keys(ERRORS), ...STEP_TYPES, ...ofClients]);
    expect(ours.filter(([, name]) => name !== undefined && !known.has(name))).toEqual([]);
  });

  it('name the headers that emails cannot set because a provider obeys them', () => {
    const names = Object.values(EMAIL_PROVIDERS).flatMap(({ controlHeaders }) =>
      controlHeaders.map((name) => `${name}*`),
    );
    expect(names.length).toBeGreaterThan(0);
    for (const page of ['docs/guides/email.md', 'docs/smtp-relay.md']) {
      const text = read(page).toLowerCase();
      expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
    }
  });
});
