import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GRANTABLE_SCOPES, USER_SCOPES } from '../../../rules/access/scopes.ts';
import { type CallOptions, startTestApi, type TestApi } from '../../support/api.ts';
import { type ApiOperation, listOperations } from '../../support/operations.ts';
import { signIn } from '../../support/session.ts';

let api: TestApi;
let operations: ApiOperation[];
let member: Record<string, string>;

beforeAll(async () => {
  api = await startTestApi();
  operations = listOperations(api.app);
  member = await signIn(api, api.one, 'MEMBER');
});
afterAll(() => api.close());

const closed = () => operations.filter((operation) => operation.security.length > 0);
const schemes = (operation: ApiOperation) =>
  new Set(operation.security.flatMap((requirement) => Object.keys(requirement)));
const scopesOf = (operation: ApiOperation, scheme: string) =>
  operation.security.find((requirement) => scheme in requirement)?.[scheme] ?? [];

/** Calls an operation with unknown ids in its path, and the document's example as its body. */
function call(operation: ApiOperation, options: CallOptions) {
  const path = operation.path.replaceAll(/\{.+?\}/g, () => uuidv7());
  return api.call(operation.method, path, { body: operation.body, ...options });
}

/** Returns the responses of all operations in one list, so that a failure names the operation. */
async function describeResponses(
  list: ApiOperation[],
  ask: (operation: ApiOperation) => ReturnType<typeof call>,
): Promise<string[]> {
  const lines = [];
  for (const operation of list) {
    const { status, body } = await ask(operation);
    const scope = body?.error?.details?.requiredScope;
    lines.push(`${operation.method} ${operation.path} ${status} ${body?.error?.code ?? ''}${scope ? ` ${scope}` : ''}`);
  }
  return lines;
}

const expected = (list: ApiOperation[], outcome: (operation: ApiOperation) => string) =>
  list.map((operation) => `${operation.method} ${operation.path} ${outcome(operation)}`);

describe('every operation that requires credentials', () => {
  it('returns 401 UNAUTHORIZED without credentials', async () => {
    const list = closed();
    expect(await describeResponses(list, (o) => call(o, { key: null }))).toEqual(
      expected(list, () => '401 UNAUTHORIZED'),
    );
  });

  it('returns 401 INVALID_API_KEY for an unknown key', async () => {
    const key = `sk_live_${'0'.repeat(64)}`;
    const list = closed();
    expect(await describeResponses(list, (o) => call(o, { key }))).toEqual(expected(list, () => '401 INVALID_API_KEY'));
  });

  it('returns 401 INVALID_API_KEY for the public key, except in at most three operations', async () => {
    const list = closed().filter((operation) => !schemes(operation).has('publicKey'));
    expect(closed().length - list.length).toBeLessThanOrEqual(3);
    const got = await describeResponses(list, (o) => call(o, { key: api.one.publicKey }));
    expect(got).toEqual(expected(list, () => '401 INVALID_API_KEY'));
  });

  it('returns 401 INVALID_API_KEY for a secret key if only users may call it', async () => {
    const list = closed().filter((operation) => !schemes(operation).has('secretKey'));
    const got = await describeResponses(list, (o) => call(o, { key: api.one.secretKey }));
    expect(got).toEqual(expected(list, () => '401 INVALID_API_KEY'));
  });

  it('returns 403 with the required scope for a key without that scope', async () => {
    const list = closed().filter((operation) => scopesOf(operation, 'secretKey').length > 0);
    const got = await describeResponses(list, (o) => call(o, { key: api.one.bareKey }));
    expect(got).toEqual(expected(list, (operation) => `403 FORBIDDEN ${scopesOf(operation, 'secretKey')[0]}`));
  });

  it('returns 403 to a member if only managers may call it', async () => {
    const people: readonly string[] = USER_SCOPES;
    const list = closed().filter((operation) => scopesOf(operation, 'session').some((scope) => people.includes(scope)));
    const got = await describeResponses(list, (o) => call(o, { key: null, headers: member }));
    expect(got).toEqual(expected(list, (operation) => `403 FORBIDDEN ${scopesOf(operation, 'session')[0]}`));
  });

  it('requires only scopes of the catalogue, and from a key only scopes that keys can have', () => {
    const grantable: readonly string[] = GRANTABLE_SCOPES;
    for (const operation of closed()) {
      expect(scopesOf(operation, 'secretKey').filter((scope) => !grantable.includes(scope))).toEqual([]);
    }
  });
});
