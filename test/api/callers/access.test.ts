import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GRANTABLE_SCOPES, PEOPLE_SCOPES } from '../../../rules/access/scopes.ts';
import { type CallOptions, startTestApi, type TestApi } from '../../support/api.ts';
import { buildEverything } from '../../support/everything.ts';
import { type ApiOperation, operationsOf } from '../../support/operations.ts';
import { signIn } from '../../support/session.ts';

/** Path parameters that are not record ids: another project's are simply missing. */
const NO_IDS = new Set(['field', 'eventName', 'email', 'phone']);
let api: TestApi;
let operations: ApiOperation[];
let idsOfTwo: (path: string, param: string) => string | undefined;
let owner: Record<string, string>;
let member: Record<string, string>;

beforeAll(async () => {
  api = await startTestApi();
  operations = operationsOf(api.app);
  idsOfTwo = await buildEverything(api.db, api.two.id);
  owner = await signIn(api, api.one);
  member = await signIn(api, api.one, 'MEMBER');
});
afterAll(() => api.close());

const closed = () => operations.filter((operation) => operation.security.length > 0);
const schemes = (operation: ApiOperation) =>
  new Set(operation.security.flatMap((requirement) => Object.keys(requirement)));
const scopesOf = (operation: ApiOperation, scheme: string) =>
  operation.security.find((requirement) => scheme in requirement)?.[scheme] ?? [];

/** Calls an operation with these ids in its path and the document's own example as its body. */
function call(operation: ApiOperation, options: CallOptions & { id?: (param: string) => string }) {
  const { id = () => uuidv7(), ...rest } = options;
  const path = operation.path.replaceAll(/\{(.+?)\}/g, (_, param: string) => encodeURIComponent(id(param)));
  return api.call(operation.method, path, { body: operation.body, ...rest });
}

/** Returns the responses of all operations in one list, so that a failure names the operation. */
async function answers(
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

describe('every operation that asks for credentials', () => {
  it('is 401 UNAUTHORIZED without any', async () => {
    const list = closed();
    expect(await answers(list, (o) => call(o, { key: null }))).toEqual(expected(list, () => '401 UNAUTHORIZED'));
  });

  it('is 401 INVALID_API_KEY with an unknown key', async () => {
    const key = `sk_live_${'0'.repeat(64)}`;
    const list = closed();
    expect(await answers(list, (o) => call(o, { key }))).toEqual(expected(list, () => '401 INVALID_API_KEY'));
  });

  it('is 401 INVALID_API_KEY with the public key, unless it is one of three', async () => {
    const list = closed().filter((operation) => !schemes(operation).has('publicKey'));
    expect(closed().length - list.length).toBeLessThanOrEqual(3);
    const got = await answers(list, (o) => call(o, { key: api.one.publicKey }));
    expect(got).toEqual(expected(list, () => '401 INVALID_API_KEY'));
  });

  it('is 401 INVALID_API_KEY with a secret key if only users may use it', async () => {
    const list = closed().filter((operation) => !schemes(operation).has('secretKey'));
    const got = await answers(list, (o) => call(o, { key: api.one.secretKey }));
    expect(got).toEqual(expected(list, () => '401 INVALID_API_KEY'));
  });

  it('is 403 with the required scope, with a key without it', async () => {
    const list = closed().filter((operation) => scopesOf(operation, 'secretKey').length > 0);
    const got = await answers(list, (o) => call(o, { key: api.one.bareKey }));
    expect(got).toEqual(expected(list, (operation) => `403 FORBIDDEN ${scopesOf(operation, 'secretKey')[0]}`));
  });

  it('is 403 to a member if only managers may use it', async () => {
    const people: readonly string[] = PEOPLE_SCOPES;
    const list = closed().filter((operation) => scopesOf(operation, 'session').some((scope) => people.includes(scope)));
    const got = await answers(list, (o) => call(o, { key: null, headers: member }));
    expect(got).toEqual(expected(list, (operation) => `403 FORBIDDEN ${scopesOf(operation, 'session')[0]}`));
  });

  it('needs scopes of the catalogue only, and of a key only scopes that keys can have', () => {
    const grantable: readonly string[] = GRANTABLE_SCOPES;
    for (const operation of closed()) {
      expect(scopesOf(operation, 'secretKey').filter((scope) => !grantable.includes(scope))).toEqual([]);
    }
  });
});

describe("another project's records", () => {
  it('are 404 on every operation, by key and by session, never 403', async () => {
    const list = closed().filter(
      (operation) => operation.params.some((param) => !NO_IDS.has(param)) && !operation.multipart,
    );
    expect(list.length).toBeGreaterThan(10);
    const idOf = (operation: ApiOperation) => (param: string) => {
      if (NO_IDS.has(param)) return 'x';
      const id = idsOfTwo(operation.path, param);
      if (!id) throw new Error(`${operation.path}: give {${param}} an id in test/support/everything.ts`);
      return id;
    };
    const got = await answers(list, (operation) => {
      const byKey = schemes(operation).has('secretKey');
      return call(operation, { id: idOf(operation), ...(byKey ? {} : { key: null, headers: owner }) });
    });
    expect(got).toEqual(expected(list, () => '404 NOT_FOUND'));
  });
});
