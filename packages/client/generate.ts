/**
 * Generates src/operations.generated.ts from the OpenAPI document: the types of every schema and operation, and a
 * table of their paths. Run it as `npm run client:types` at the root of the repository. A test fails if the file is
 * out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The keywords of JSON Schema 2020-12 that the document uses. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  description?: string;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema?: Schema;
}

interface Content {
  content?: Record<string, { schema?: Schema }>;
  required?: boolean;
}

interface Operation {
  operationId: string;
  'x-alias-of'?: string;
  summary?: string;
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content>;
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, unknown>>;
}

const HEAD = `// Generated from the OpenAPI document by packages/client/generate.ts. Change the document, then run \`npm run client:types\`.
`;

/** Returns the TypeScript source of src/operations.generated.ts. */
export function generate(document: OpenApiDocument): string {
  const schemas = Object.entries(document.components.schemas ?? {}) as [string, Schema][];
  const operations = listOperations(document);
  const types = schemas
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([name, schema]) =>
        `${formatDocComment(schema.description)}export type ${toTypeName(name)} = ${generateType(schema)};\n`,
    );
  const entries = operations.map(({ id, path, method, operation }) =>
    generateOperationType(document, { id, path, method, operation }),
  );
  const table = operations.map(({ id, method, path, operation }) => {
    const idempotent = resolveParameters(document, operation).some(({ name }) => name === 'Idempotency-Key');
    return `  ${id}: { method: '${method.toUpperCase()}', path: '${path}', idempotencyKey: ${idempotent} },\n`;
  });
  return [
    HEAD,
    ...types,
    `/** The input and the response of every operation. */\nexport interface Operations {\n${entries.join('')}}\n`,
    `/** Method and path of every operation. */\nexport const OPERATIONS = {\n${table.join('')}} as const;\n`,
  ].join('\n');
}

/**
 * Returns the operations of the document. Most operations have two paths, with and without `/v1`. Skips the path
 * without `/v1` (`x-alias-of`), because the API guarantees compatibility only for paths under `/v1`.
 */
function listOperations(document: OpenApiDocument) {
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
  return all
    .filter(({ operation }) => operation['x-alias-of'] === undefined)
    .map((entry) => ({ id: entry.operation.operationId, ...entry }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

function generateOperationType(
  document: OpenApiDocument,
  { id, path, method, operation }: { id: string; path: string; method: string; operation: Operation },
): string {
  const parameters = resolveParameters(document, operation);
  const lines = [
    ['params', parameters.filter((parameter) => parameter.in === 'path')] as const,
    ['query', parameters.filter((parameter) => parameter.in === 'query')] as const,
  ].flatMap(([name, list]) => {
    if (list.length === 0) return [];
    const optional = list.every(({ required }) => !required);
    const members = list.map(
      (one) => `${quotePropertyName(one.name)}${one.required ? '' : '?'}: ${generateType(one.schema ?? {})}`,
    );
    return [`    ${name}${optional ? '?' : ''}: { ${members.join('; ')} };\n`];
  });
  const body = operation.requestBody;
  const json = body?.content?.['application/json']?.schema;
  const multipart = body?.content?.['multipart/form-data'];
  if (json) lines.push(`    body${body?.required ? '' : '?'}: ${generateType(json)};\n`);
  if (multipart) lines.push('    body: FormData;\n');
  const summary = `  /** ${operation.summary ?? id}: \`${method.toUpperCase()} ${path}\` */\n`;
  return `${summary}  ${id}: {\n${lines.join('')}    response: ${generateResponseType(document, operation)};\n  };\n`;
}

function resolveParameters(document: OpenApiDocument, operation: Operation): Parameter[] {
  return (operation.parameters ?? []).map((parameter) => resolveReference<Parameter>(document, parameter));
}

/** Returns the type of an operation's successful response: the type of its JSON, or `string` for any other content. */
function generateResponseType(document: OpenApiDocument, { responses }: Operation): string {
  const successes = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, response]) => {
      const { content } = resolveReference<Content>(document, response);
      if (!content) return 'undefined';
      const schema = content['application/json']?.schema;
      return schema ? generateType(schema) : 'string';
    });
  return [...new Set(successes)].join(' | ') || 'undefined';
}

/** Returns the component to which `node` refers. Returns `node` unchanged if it is not a reference. */
function resolveReference<T>(document: OpenApiDocument, node: T | { $ref: string }): T {
  if (typeof node !== 'object' || node === null || !('$ref' in node)) return node as T;
  const [, , section = '', name = ''] = node.$ref.split('/');
  return document.components[section]?.[name] as T;
}

function generateType(schema: Schema): string {
  if (schema.$ref) return toTypeName(schema.$ref.split('/').at(-1) ?? '');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return joinAsUnion(schema.enum.map((value) => JSON.stringify(value)));
  if (schema.allOf) return schema.allOf.map((part) => parenthesize(generateType(part))).join(' & ');
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return joinAsUnion(alternatives.map(generateType));
  if (Array.isArray(schema.type)) return joinAsUnion(schema.type.map((type) => generateType({ ...schema, type })));
  return generateSingleType(schema);
}

/** Returns the type of a schema without `enum`, `anyOf` and the like, which has at most one `type`. */
function generateSingleType(schema: Schema): string {
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `${parenthesize(generateType(schema.items ?? {}))}[]`;
    case 'object':
      return generateObjectType(schema);
    default:
      return schema.properties ? generateObjectType(schema) : 'unknown';
  }
}

function generateObjectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  const members = Object.entries(properties).map(
    ([name, schema]) =>
      `${formatDocComment(schema.description)}${quotePropertyName(name)}${required.includes(name) ? '' : '?'}: ${generateType(schema)};`,
  );
  if (typeof additionalProperties === 'object' || additionalProperties === true) {
    const value = typeof additionalProperties === 'object' ? generateType(additionalProperties) : 'unknown';
    if (members.length === 0) return `Record<string, ${value}>`;
    members.push('[name: string]: unknown;');
  }
  return members.length === 0 ? 'Record<string, unknown>' : `{\n${members.map(indent).join('\n')}\n}`;
}

function joinAsUnion(types: string[]): string {
  const all = [...new Set(types)];
  return all.includes('unknown') ? 'unknown' : all.join(' | ') || 'unknown';
}

function parenthesize(type: string): string {
  return / [|&] /.test(type) ? `(${type})` : type;
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}

function formatDocComment(text: string | undefined): string {
  return text ? `/** ${text.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n` : '';
}

/**
 * Returns the name of a schema's type. The schema `Error` gets another name, because `Error` is a JavaScript global.
 */
function toTypeName(name: string): string {
  return name === 'Error' ? 'ErrorEnvelope' : name.replaceAll(/[^A-Za-z0-9_]/g, '_');
}

function quotePropertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const source = generate(JSON.parse(readFileSync(0, 'utf8')));
  writeFileSync(join(import.meta.dirname, 'src', 'operations.generated.ts'), source);
}
