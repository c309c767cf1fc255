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

const listClosedOperations = () => operations.filter((operation) => operation.security.length > 0);
const getSchemes = (operation: ApiOperation) =>
  new Set(operation.security.flatMap((requirement) => Object.keys(requirement)));
const getScopes = (operation: ApiOperation, scheme: string) =>
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

const describeExpected = (list: ApiOperation[], outcome: (operation: ApiOperation) => string) =>
  list.map((operation) => `${operation.method} ${operation.path} ${outcome(operation)}`);

describe('every operation that requires credentials', () => {
  it('returns 401 UNAUTHORIZED without credentials', async () => {
    const list = listClosedOperations();
    expect(await describeResponses(list, (o) => call(o, { key: null }))).toEqual(
      describeExpected(list, () => '401 UNAUTHORIZED'),
    );
  });

  it('returns 401 INVALID_API_KEY for an unknown key', async () => {
    const key = `sk_live_${'0'.repeat(64)}`;
    const list = listClosedOperations();
    expect(await describeResponses(list, (o) => call(o, { key }))).toEqual(
      describeExpected(list, () => '401 INVALID_API_KEY'),
    );
  });

  it('returns 401 INVALID_API_KEY for the public key, except in at most three operations', async () => {
    const list = listClosedOperations().filter((operation) => !getSchemes(operation).has('publicKey'));
    expect(listClosedOperations().length - list.length).toBeLessThanOrEqual(3);
    const got = await describeResponses(list, (o) => call(o, { key: api.one.publicKey }));
    expect(got).toEqual(describeExpected(list, () => '401 INVALID_API_KEY'));
  });

  it('returns 401 INVALID_API_KEY for a secret key if only users may call it', async () => {
    const list = listClosedOperations().filter((operation) => !getSchemes(operation).has('secretKey'));
    const got = await describeResponses(list, (o) => call(o, { key: api.one.secretKey }));
    expect(got).toEqual(describeExpected(list, () => '401 INVALID_API_KEY'));
  });

  it('returns 403 with the required scope for a key without that scope', async () => {
    const list = listClosedOperations().filter((operation) => getScopes(operation, 'secretKey').length > 0);
    const got = await describeResponses(list, (o) => call(o, { key: api.one.bareKey }));
    expect(got).toEqual(describeExpected(list, (operation) => `403 FORBIDDEN ${getScopes(operation, 'secretKey')[0]}`));
  });

  it('returns 403 to a member if only managers may call it', async () => {
    const people: readonly string[] = USER_SCOPES;
    const list = listClosedOperations().filter((operation) =>
      getScopes(operation, 'session').some((scope) => people.includes(scope)),
    );
    const got = await describeResponses(list, (o) => call(o, { key: null, headers: member }));
    expect(got).toEqual(describeExpected(list, (operation) => `403 FORBIDDEN ${getScopes(operation, 'session')[0]}`));
  });

  it('requires only scopes of the catalogue, and from a key only scopes that keys can have', () => {
    const grantable: readonly string[] = GRANTABLE_SCOPES;
    for (const operation of listClosedOperations()) {
      expect(getScopes(operation, 'secretKey').filter((scope) => !grantable.includes(scope))).toEqual([]);
    }
  });
});
