import type { OpenAPIHono } from '@hono/zod-openapi';
import { v7 as uuidv7 } from 'uuid';
import type { AppEnv } from '../../api/http/env.ts';
import { createOpenApiDocument } from '../../api/openapi/document.ts';
import type { CallOptions, TestApi } from './api.ts';

/** The parts of an operation of the OpenAPI document that tests of all operations need. */
export interface ApiOperation {
  method: string;
  path: string;
  /** Names of the path parameters. */
  params: string[];
  security: Record<string, string[]>[];
  /** Example of the JSON body; undefined if the operation documents no example. */
  body: unknown;
  multipart: boolean;
}

/** Returns every operation that the service documents. */
export function listOperations(app: OpenAPIHono<AppEnv>): ApiOperation[] {
  // biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON here
  const document: any = JSON.parse(JSON.stringify(createOpenApiDocument(app)));
  return Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => toOperation(document, method, path, operation)),
  );
}

// biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON here
function toOperation(document: any, method: string, path: string, operation: any): ApiOperation {
  const content = operation.requestBody?.content ?? {};
  const schema = content['application/json']?.schema;
  return {
    method: method.toUpperCase(),
    path,
    params: [...path.matchAll(/\{(.+?)\}/g)].map((match) => match[1] ?? ''),
    security: operation.security ?? [],
    body: schema && (content['application/json'].example ?? findExample(document, schema)),
    multipart: 'multipart/form-data' in content,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON here
function findExample(document: any, schema: any): unknown {
  const named = schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)] : schema;
  return named.example ?? named.examples?.[0];
}

/** Returns the method and the path without `/v1`, so that both paths of an operation have the same name. */
export function getOperationName({ method, path }: ApiOperation): string {
  return `${method} ${path.replace(/^\/v1\//, '/')}`;
}

/**
 * Creates a function that calls operations with sufficient rights: by key, or by the session of `owner` if only a
 * session is accepted.
 */
export function createOperationCaller(p: {
  api: Pick<TestApi, 'call'>;
  owner: Record<string, string>;
  idOf: (path: string, param: string) => string | undefined;
}) {
  return (
    { method, path, security }: ApiOperation,
    { query = '', headers, ...options }: CallOptions & { query?: string },
  ) => {
    const createUnknownId = (param: string) => (param === 'phone' ? '+4915112345678' : uuidv7());
    const url =
      path.replaceAll(/\{(.+?)\}/g, (_, param: string) => p.idOf(path, param) ?? createUnknownId(param)) + query;
    const takesSecretKey = security.some((requirement) => 'secretKey' in requirement);
    const credentials = takesSecretKey
      ? { headers: { ...headers } }
      : { key: null, headers: { ...p.owner, ...headers } };
    return p.api.call(method, url, { ...options, ...credentials });
  };
}
