import type { OpenAPIHono } from '@hono/zod-openapi';
import type { AppEnv } from '../../api/http/env.ts';
import { openApiDocument } from '../../api/openapi/document.ts';

/** An operation of the OpenAPI document, as far as suites over all operations need it. */
export interface Operation {
  method: string;
  path: string;
  /** Names of the path parameters. */
  params: string[];
  security: Record<string, string[]>[];
  /** The example of the JSON body; undefined where there is none. */
  body: unknown;
  multipart: boolean;
}

/** Every operation that the service documents. */
export function operationsOf(app: OpenAPIHono<AppEnv>): Operation[] {
  // biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON here
  const document: any = JSON.parse(JSON.stringify(openApiDocument(app)));
  return Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => toOperation(document, method, path, operation)),
  );
}

// biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON here
function toOperation(document: any, method: string, path: string, operation: any): Operation {
  const content = operation.requestBody?.content ?? {};
  const schema = content['application/json']?.schema;
  return {
    method: method.toUpperCase(),
    path,
    params: [...path.matchAll(/\{(.+?)\}/g)].map((match) => match[1] ?? ''),
    security: operation.security ?? [],
    body: schema && (content['application/json'].example ?? exampleOf(document, schema)),
    multipart: 'multipart/form-data' in content,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON here
function exampleOf(document: any, schema: any): unknown {
  const named = schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)] : schema;
  return named.example ?? named.examples?.[0];
}
