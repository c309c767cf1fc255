import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOpenApiDocument } from '../../api/openapi/document.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { buildEverything } from '../support/everything.ts';
import { listOperations } from '../support/operations.ts';

const KB = 1024;
let api: TestApi;
let idOf: (path: string, param: string) => string | undefined;

beforeAll(async () => {
  api = await startTestApi();
  idOf = await buildEverything(api.db, api.one.id);
});
afterAll(() => api.close());

// biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON here
type Json = any;

/** Returns the paths at which a schema allows objects with any names and values. */
function listFreePaths(document: Json, given: Json, path: string[] = []): string[][] {
  const schema = given.$ref ? document.components.schemas[given.$ref.split('/').at(-1)] : given;
  if (schema.allOf) {
    const open: string[][][] = schema.allOf.map((form: Json) => listFreePaths(document, form, path));
    const isPath = (other: string[]) => other.length === path.length;
    // If one of the combined schemas closes a path, the others cannot open it.
    const closed = open.some((paths) => !paths.some(isPath));
    return open.flat().filter((other) => !(closed && isPath(other)));
  }
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms) return forms.flatMap((form: Json) => listFreePaths(document, form, path));
  if ([schema.type].flat().includes('array')) return listFreePaths(document, schema.items, [...path, '0']);
  const { properties = {}, additionalProperties, type } = schema;
  // A schema with a type limits its values. Only schemas without a type are free-form.
  if (type === undefined || (additionalProperties && Object.keys(additionalProperties).length === 0)) return [path];
  if ([type].flat().includes('object') && !schema.properties && !additionalProperties) return [path];
  return Object.entries(properties).flatMap(([name, member]) =>
    path.includes(name) ? [] : listFreePaths(document, member, [...path, name]),
  );
}

function setValueAt(body: Json, [first, ...rest]: string[], value: unknown): Json {
  if (first === undefined) return value;
  if (first === '0') return [setValueAt(body?.[0], rest, value)];
  return { ...body, [first]: setValueAt(body?.[first], rest, value) };
}

it('free-form JSON in a request is refused above 64 KB, with an error at its field', async () => {
  const document: Json = JSON.parse(JSON.stringify(createOpenApiDocument(api.app)));
  const tested: string[] = [];
  for (const { method, path, params, body } of listOperations(api.app)) {
    const schema = document.paths[path][method.toLowerCase()].requestBody?.content['application/json']?.schema;
    if (!schema || (path.startsWith('/v1/') && document.paths[path.slice(3)])) continue;
    for (const field of listFreePaths(document, schema)) {
      const url = params.reduce((url, param) => url.replace(`{${param}}`, idOf(path, param) ?? ''), path);
      const given = setValueAt(body, field, { x: 'x'.repeat(64 * KB) });
      // Without `atomic`, a batch returns 200 and refuses only the email with the error.
      const large = path.endsWith('/batch') ? { ...given, atomic: true } : given;
      const response = await api.call(method, url, { body: large });
      const where = `${method} ${path} ${field.join('.')}`;
      tested.push(where);
      const fits = response.body.error?.errors?.filter((fault: Json) => fault.code === 'too_big');
      // The routes of the public key accept only bodies up to 64 KB, so they return 413.
      if (response.status === 413) expect(response.body.error.details, where).toEqual({ maxBytes: 64 * KB });
      else expect([response.status, fits?.[0]?.field], where).toEqual([422, field.join('.')]);
    }
  }
  expect(tested).toEqual(
    expect.arrayContaining(['POST /workflows/{id}/executions context', 'POST /events/track data']),
  );
  expect(tested.length).toBeGreaterThanOrEqual(15);
});
