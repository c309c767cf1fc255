import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOpenApiDocument } from '../../api/openapi/document.ts';
import { WEBHOOK_NAMES } from '../../api/openapi/webhooks.ts';
import { ERRORS } from '../../rules/errors.ts';
import { CONTACT_EVENTS, EMAIL_EVENTS } from '../../rules/events/event-names.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

/**
 * Maximum size of the document. A client reads the whole document at once, so repeated parts are under `components`.
 */
const MAX_DOCUMENT_BYTES = 510_000;
/** Maximum size of the document of /v1 alone, which the API reference and new clients use. */
const MAX_VERSIONED_BYTES = 360_000;
/** Error codes that no operation documents, because the error occurs before an operation is chosen. */
const OF_NO_OPERATION = ['METHOD_NOT_ALLOWED'];

// biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON here
type Json = any;

let api: TestApi;
let document: Json;
let operations: { name: string; operation: Json }[];
beforeAll(async () => {
  api = await startTestApi();
  document = (await api.call('GET', '/openapi.json', { key: null })).body;
  operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  );
});
afterAll(() => api.close());

const resolveRef = (part: Json): Json => {
  const [, , kind, name] = part?.$ref?.split('/') ?? [];
  return name ? document.components[kind][name] : part;
};
/** Tells whether a schema has an example for the whole value, or one for each required member. */
const hasSchemaExample = (given: Json): boolean => {
  const schema = resolveRef(given);
  if (schema.example !== undefined || schema.enum || schema.format || schema.const !== undefined) return true;
  if (schema.allOf) return schema.allOf.every(hasSchemaExample);
  if (schema.anyOf) return schema.anyOf.some(hasSchemaExample);
  if (schema.type?.includes('null')) return true;
  if (schema.items) return hasSchemaExample(schema.items);
  const { properties = {}, required = [] } = schema;
  return schema.type !== 'string' && required.every((name: string) => hasSchemaExample(properties[name]));
};
const hasExample = (content: Json): boolean => content.examples !== undefined || hasSchemaExample(content.schema);

describe('the OpenAPI document', () => {
  it('is version 1.0.0 and describes every operation', () => {
    expect(document.info.version).toBe('1.0.0');
    const bare = operations.filter(
      ({ operation: { summary, description, tags, operationId } }) =>
        !summary || !description || description === `${summary}.` || !tags?.length || !operationId,
    );
    expect(bare.map(({ name }) => name)).toEqual([]);
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  });

  it('shows an example of every JSON body of requests and responses', () => {
    const without = operations.flatMap(({ name, operation }) => {
      const request = Object.entries<Json>(operation.requestBody?.content ?? {});
      const responses = Object.entries<Json>(operation.responses).flatMap(([status, response]) =>
        Object.entries<Json>(resolveRef(response).content ?? {}).map(
          ([type, content]) => [`${type} ${status}`, content] as const,
        ),
      );
      return [...request, ...responses]
        .filter(([type, content]) => type.startsWith('application/json') && !hasExample(content))
        .map(([type]) => `${name} ${type}`);
    });
    expect(without).toEqual([]);
  });

  it('describes the same at both paths of an operation, except for the errors of the versioned path', () => {
    const pickDescription = ({ parameters, requestBody, security, responses }: Json) => {
      const successes = Object.entries<Json>(responses).filter(([status]) => status < '4');
      return { parameters, requestBody, security, successes };
    };
    let compared = 0;
    for (const [path, item] of Object.entries<Json>(document.paths)) {
      for (const [method, operation] of Object.entries<Json>(item)) {
        const versioned = document.paths[`/v1${path}`]?.[method];
        if (!versioned) continue;
        expect(pickDescription(operation), path).toEqual(pickDescription(versioned));
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(100);
  });

  it('allows null for named schemas that may be null', () => {
    const { sendingWindow } = document.components.schemas.Project.properties;
    expect(sendingWindow.anyOf).toEqual([{ $ref: '#/components/schemas/SendingWindow' }, { type: 'null' }]);
    expect(JSON.stringify(document)).not.toMatch(/"allOf":\[\{"\$ref":"[^"]+"\},\{"type":\["[a-z]+","null"\]/);
  });

  it('has no enum of booleans, names every other enum, and wraps no schema in allOf to describe it', () => {
    const inline: string[] = [];
    const visit = (part: Json, path: string) => {
      if (typeof part !== 'object' || part === null) return;
      if (part.type === 'boolean' && (part.enum ?? part.const) !== undefined) inline.push(path);
      if (part.enum?.length > 1 && path.split('.').length > 1) inline.push(path);
      if (part.allOf?.length === 1) inline.push(path);
      for (const [key, inner] of Object.entries(part)) if (key !== 'example') visit(inner, `${path}.${key}`);
    };
    for (const [name, schema] of Object.entries(document.components.schemas)) visit(schema, name);
    expect(inline).toEqual([]);
  });

  it('does not depend on documents that were generated earlier', () => {
    const createDocument = (which: 'all' | 'v1') => JSON.stringify(createOpenApiDocument(api.app, which));
    const [first] = [createDocument('all'), createDocument('v1')];
    expect(createDocument('all') === first).toBe(true);
    expect(JSON.parse(first).components.schemas).toHaveProperty('CreateApiKeyScopes');
  });

  it('names every error code of the catalogue and no other code', () => {
    const named = new Set(
      operations.flatMap(({ operation }) =>
        Object.values<Json>(operation.responses).flatMap((response) => resolveRef(response)['x-error-codes'] ?? []),
      ),
    );
    expect([...named, ...OF_NO_OPERATION].sort()).toEqual(Object.keys(ERRORS).sort());
  });

  it('contains each error response only once', () => {
    expect(Buffer.byteLength(JSON.stringify(document))).toBeLessThan(MAX_DOCUMENT_BYTES);
    const inlined = operations.filter(({ operation }) =>
      Object.values<Json>(operation.responses).some((response) => response['x-error-codes']),
    );
    expect(inlined.map(({ name }) => name)).toEqual([]);
  });

  it('passes the strict rules of the linter without a warning', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tidings-openapi-'));
    const file = join(folder, 'openapi.json');
    writeFileSync(file, JSON.stringify(document));
    const linter = 'node_modules/@redocly/cli/bin/cli.js';
    const lint = spawnSync(process.execPath, [linter, 'lint', '--format=summary', file], {
      encoding: 'utf8',
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    });
    rmSync(folder, { recursive: true });
    expect({ status: lint.status, said: lint.status === 0 ? '' : lint.stdout + lint.stderr }).toEqual({
      status: 0,
      said: '',
    });
  });
});

describe('the API reference', () => {
  it('resolves every reference of every operation, and keeps one reference in a schema that contains itself', async () => {
    const source = (await api.call('GET', '/docs/start.js', { key: null })).body;
    const started: Json[] = [];
    runInNewContext(source, {
      SwaggerUIBundle: (options: Json) => started.push(options),
      // The script labels select elements when they appear. Without a page, the script finds no element.
      document: { getElementById: () => null },
      MutationObserver: class {
        observe() {}
      },
    });
    const [localReferences] = started[0].plugins;
    const { resolveSubtree } = localReferences().fn;
    const open = new Set<string>();
    for (const [path, item] of Object.entries<Json>(document.paths)) {
      for (const method of Object.keys(item)) {
        const { spec } = await resolveSubtree(document, ['paths', path, method]);
        expect(spec.operationId).toBe(item[method].operationId);
        for (const [, reference = ''] of JSON.stringify(spec).matchAll(/"\$ref":"(.+?)"/g)) open.add(reference);
      }
    }
    expect([...open]).toEqual(['#/components/schemas/Condition']);
  });
});

describe('the operation ids', () => {
  it('are unique, and a path without a version names its versioned path as the alias', () => {
    const byId = new Map(operations.map(({ name, operation }) => [operation.operationId, name]));
    expect([...byId.keys()].filter((id) => /V1$/.test(id))).toEqual([]);
    const aliases = operations.filter(({ operation }) => operation['x-alias-of'] !== undefined);
    expect(aliases.length).toBeGreaterThan(100);
    for (const { name, operation } of aliases) {
      expect(operation.operationId, name).toBe(`${operation['x-alias-of']}Unversioned`);
      expect(byId.get(operation['x-alias-of']), name).toBe(name.replace(' /', ' /v1/'));
    }
  });
});

describe('the document of /v1 alone', () => {
  let versioned: Json;
  beforeAll(async () => {
    versioned = (await api.call('GET', '/openapi.json?paths=v1', { key: null })).body;
  });

  it('has exactly the paths under /v1, and only the schemas that they use', () => {
    const paths = Object.keys(versioned.paths);
    expect(paths.filter((path) => !path.startsWith('/v1/'))).toEqual([]);
    expect(paths).toEqual(Object.keys(document.paths).filter((path) => path.startsWith('/v1/')));
    const text = JSON.stringify(versioned);
    for (const name of Object.keys(versioned.components.schemas)) {
      expect(text, name).toContain(`"#/components/schemas/${name}"`);
    }
    for (const [reference] of text.matchAll(/#\/components\/[^"]+/g)) {
      const [, , kind = '', name = ''] = reference.split('/');
      expect(versioned.components[kind]?.[name], reference).toBeDefined();
    }
    expect(text.length).toBeLessThan(MAX_VERSIONED_BYTES);
  });

  it('returns 400 for any other value or parameter', async () => {
    const wrong = await api.call('GET', '/openapi.json?paths=v2', { key: null });
    expect([wrong.status, wrong.body.error.errors[0].field]).toEqual([400, 'paths']);
    expect((await api.call('GET', '/openapi.json?path=v1', { key: null })).status).toBe(400);
  });
});

describe('the webhooks of the OpenAPI document', () => {
  it('describe every event that the service records, and events of callers', () => {
    expect(Object.keys(document.webhooks)).toEqual(expect.arrayContaining([...EMAIL_EVENTS, ...CONTACT_EVENTS]));
    expect(Object.keys(document.webhooks)).toEqual(WEBHOOK_NAMES);
  });

  it('have examples that match their schemas', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'document', ...document });
    for (const [name, item] of Object.entries<Json>(document.webhooks)) {
      const content = item.post.requestBody.content['application/json'];
      const validate = ajv.compile(JSON.parse(JSON.stringify(content.schema).replaceAll('"#/', '"document#/')));
      expect(validate(content.example), `${name} ${JSON.stringify(validate.errors)}`).toBe(true);
      expect(validate({ ...content.example, data: { event: 'no object', contact: null } }), name).toBe(false);
    }
  });
});

describe('every example of the OpenAPI document', () => {
  /** Calls `check` with each example and its schema. Examples are in schemas, parameters, requests and responses. */
  function checkExamples(part: Json, where: string, check: (where: string, schema: Json, example: Json) => void): void {
    if (typeof part !== 'object' || part === null) return;
    if (part.example !== undefined) {
      const { example: _, ...own } = part;
      check(where, part.schema ?? own, part.example);
    }
    for (const [name, example] of Object.entries<Json>((part.schema && part.examples) ?? {})) {
      check(`${where}/${name}`, part.schema, resolveRef(example).value);
    }
    for (const [name, inner] of Object.entries(part)) {
      if (name !== 'example' && name !== 'examples') checkExamples(inner, `${where}/${name}`, check);
    }
  }

  /**
   * Returns the members of a value that no alternative of its schema names. A schema for any object names all members.
   */
  function findUnknownMembers(given: Json[], value: Json, path: string): string[] {
    if (typeof value !== 'object' || value === null) return [];
    const schemas = given.flatMap(listAlternatives);
    if (Array.isArray(value)) {
      const items = schemas.flatMap((schema) => schema.items ?? []);
      return value.flatMap((item, n) => findUnknownMembers(items, item, `${path}.${n}`));
    }
    if (schemas.some(isOpen)) return [];
    return Object.entries<Json>(value).flatMap(([name, member]) => {
      const named = schemas.flatMap((schema) => schema.properties?.[name] ?? []);
      return named.length === 0 ? [`${path}.${name}`] : findUnknownMembers(named, member, `${path}.${name}`);
    });
  }
  function listAlternatives(given: Json): Json[] {
    const schema = resolveRef(given);
    const parts = [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
    return parts.length === 0 ? [schema] : [schema, ...parts.flatMap(listAlternatives)];
  }
  const isOpen = ({ additionalProperties, properties, type, items, $ref, allOf, anyOf, oneOf }: Json): boolean =>
    Boolean(additionalProperties) ||
    (!(properties ?? items ?? $ref ?? allOf ?? anyOf ?? oneOf) &&
      [type].flat().some((one) => !one || one === 'object'));

  const found: [where: string, schema: Json, example: Json][] = [];
  beforeAll(() => checkExamples(document, '', (...one) => void found.push(one)));

  it('matches its schema, including formats', () => {
    const ajv = new Ajv2020({ strict: false });
    ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/);
    ajv.addFormat('date', /^\d{4}-\d\d-\d\d$/);
    ajv.addFormat('email', /^[^@\s]+@[^@\s]+\.[a-z]+$/);
    ajv.addFormat('uri', (text: string) => URL.canParse(text));
    ajv.addFormat('byte', (text: string) => Buffer.from(text, 'base64').toString('base64') === text);
    ajv.addFormat('binary', true);
    ajv.addSchema({ $id: 'document', ...document });
    const wrong = found.flatMap(([where, schema, example]) => {
      const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')));
      return validate(example) ? [] : [`${where} ${ajv.errorsText(validate.errors)}`];
    });
    expect(wrong).toEqual([]);
    expect(found.length).toBeGreaterThan(500);
  });

  it('has only fields that its schema names', () => {
    expect(found.flatMap(([where, schema, example]) => findUnknownMembers([schema], example, where))).toEqual([]);
    const { SaveContact } = document.components.schemas;
    expect(findUnknownMembers([SaveContact], { ...SaveContact.example, emial: 'x', data: { own: 1 } }, '')).toEqual([
      '.emial',
    ]);
  });
});
