import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOpenApiDocument } from '../../api/openapi/document.ts';
import { packageRoot } from '../../cli/package-root.ts';
import { startTestApi } from '../support/api.ts';
import { fetchNpmPackages } from '../support/npm-packages.ts';

/** Compiler options that report every type that is too open. */
const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noUnusedLocals: true,
  skipLibCheck: false,
  noEmit: true,
  target: 'ES2022',
  module: 'NodeNext',
  types: [],
};

const tools = await fetchNpmPackages(join(import.meta.dirname, 'openapi-typescript'));
const missing = typeof tools === 'string' ? tools : undefined;
const root = typeof tools === 'string' ? '' : tools.root;

// biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON here
type Json = any;

describe.skipIf(missing)(`a client made by openapi-typescript${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tidings-openapi-typescript-'));
    const api = await startTestApi();
    const document: Json = JSON.parse(JSON.stringify(createOpenApiDocument(api.app)));
    await api.close();
    write('openapi.json', JSON.stringify(document));
    const generated = runNode('openapi-typescript/bin/cli.js', 'openapi.json', '--output', 'api.ts');
    expect(generated.status, generated.output).toBe(0);
    write('package.json', JSON.stringify({ type: 'module' }));
    write('every-type.ts', createTypeCheckModule(document));
    write('tsconfig.json', JSON.stringify({ compilerOptions: STRICT, include: ['*.ts'] }));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  const runNode = (script: string, ...words: string[]) => {
    const path = script.startsWith('/') ? script : join(root, 'node_modules', script);
    const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...words], { cwd: folder, encoding: 'utf8' });
    return { status, output: (stdout + stderr).slice(0, 2_000) };
  };

  it.each([
    ['TypeScript 5', () => 'typescript/bin/tsc'],
    ['our own TypeScript', () => join(packageRoot(), 'node_modules/typescript/bin/tsc')],
  ])('has a type for every JSON body of requests and responses, under the strict rules of %s', (_, compiler) => {
    const checked = runNode(compiler(), '-p', '.');
    expect(checked.status, checked.output).toBe(0);
  });
});

/**
 * Returns a module that does not compile if the body or a response of an operation has no type, or the type `any` or
 * `unknown`.
 */
function createTypeCheckModule(document: Json): string {
  const operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).map(([method, operation]) => ({ path, method, operation })),
  );
  const types = operations.flatMap(({ path, method, operation }) => {
    const at = `paths['${path}']['${method}']`;
    const responseTypes = Object.entries<Json>(operation.responses).flatMap(([status, response]) =>
      isJson(resolveRef(document, response)) ? [`${at}['responses'][${formatStatus(status)}]`] : [],
    );
    const body = resolveRef(document, operation.requestBody);
    return [...(isJson(body) ? [`NonNullable<${at}['requestBody']>`] : []), ...responseTypes];
  });
  return [
    "import type { paths } from './api.js';",
    // `any` and `unknown` accept every value, and every type accepts `never`.
    'type IsKnown<T> = unknown extends T ? false : [T] extends [never] ? false : true;',
    "type Json<T extends { content: { 'application/json': unknown } }> = IsKnown<T['content']['application/json']>;",
    'type Holds<T extends true> = T;',
    `export type All = [\n${types.map((type) => `  Holds<Json<${type}>>,\n`).join('')}];`,
    '',
  ].join('\n');
}

function isJson(part: Json): boolean {
  return part?.content?.['application/json'] !== undefined;
}

function formatStatus(status: string): string {
  return /^\d+$/.test(status) ? status : `'${status}'`;
}

function resolveRef(document: Json, part: Json): Json {
  const [, , section, name] = part?.$ref?.split('/') ?? [];
  return name ? document.components[section][name] : part;
}
