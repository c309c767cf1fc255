import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDomain } from '../build/senders.ts';
import { type CallOptions, type CallResult, startTestApi, type TestApi } from '../support/api.ts';
import { forgeCursor } from '../support/cursors.ts';
import { buildEverything } from '../support/everything.ts';
import { type ApiOperation, createOperationCaller, getOperationName, listOperations } from '../support/operations.ts';
import { signIn } from '../support/session.ts';
import { buildStartable, FORMS, type Start } from '../support/startable.ts';

/**
 * One row for each operation of the OpenAPI document, with its responses to five kinds of input: an unknown field, an
 * unknown query parameter, values of a wrong type, a reused Idempotency-Key, and ids of another project. Source:
 * contract §1.7 Status codes, §1.8 Idempotency, §1.9 Unknown input.
 */
interface Row {
  unknownField: 'refused' | 'named as ignored' | 'no body' | 'taken';
  unknownParameter: 'refused' | 'taken';
  /** Covers each member of the body, and the parameters in `BAD_PARAMETERS`. */
  wrongType: 'refused' | 'no input';
  /** `same input` for an operation that has one input only. */
  reusedKey: 'refused, other input too' | 'refused, same input' | 'no key';
  foreignId: 'not found' | 'no id';
}
type Cell = keyof Row;

/** Operations that send or start something. If they ignored a field, they might do more than the caller asked. */
const REFUSING_FIELDS = [
  'POST /apikeys',
  'POST /campaigns',
  'POST /campaigns/{id}/cancel',
  'POST /campaigns/{id}/pause',
  'POST /campaigns/{id}/resume',
  'POST /campaigns/{id}/retry',
  'POST /campaigns/{id}/send',
  'POST /campaigns/{id}/test',
  'POST /campaigns/{id}/winner',
  'POST /contacts/bulk-delete',
  'POST /contacts/bulk-subscribe',
  'POST /contacts/bulk-unsubscribe',
  'POST /contacts/import',
  'POST /contacts/import/preview',
  'POST /emails/{id}/resend',
  'POST /send',
  'POST /send/batch',
  'POST /sms/send',
  'POST /templates/test',
  'POST /workflows/{id}/executions',
  'POST /workflows/{id}/executions/cancel-all',
  'POST /workflows/{id}/executions/{executionId}/advance',
  'POST /workflows/{id}/executions/{executionId}/retry',
  'PUT /campaigns/{id}',
];
/** Pages of customers and health checks add other query parameters. */
const ANY_PARAMETER = ['GET /health', 'GET /health/live', 'GET /health/ready', 'POST /pixel', 'POST /track'];
/** Callbacks of providers are authenticated by a signature and accept any field that the provider sends. */
const CALLBACKS = ['POST /webhooks/twilio/status', 'POST /webhooks/twilio/inbound', 'POST /webhooks/sns'];
/** Operations that create and start nothing, and so take no idempotency key. */
const WITHOUT_KEY = [
  'POST /contacts/import/preview',
  'POST /contacts/lookup',
  'POST /segments/preview',
  'POST /templates/preview',
  'POST /verify',
  'POST /workflows/{id}/preview',
];
/** Operations with neither a body nor a path parameter, so all their requests are equal. */
const ONE_INPUT = ['POST /apikeys/public/rotate', 'POST /project/release'];
/** Path parameters that are not ids of records. Values of another project do not exist in this one. */
const NO_IDS = new Set(['field', 'eventName', 'email', 'phone']);
/** Operations that only operators see. They return 404 to other users, for any input. */
const isForOperators = ({ path }: ApiOperation) => path.startsWith('/operator');
const BAD_PARAMETERS: Record<string, string> = {
  limit: 'many',
  // A cursor of another list is refused like an unreadable cursor.
  cursor: forgeCursor({ projectId: undefined, path: '/another', query: {} }, [uuidv7()]),
  startDate: 'soon',
  endDate: 'soon',
  status: 'X',
  subscribed: 'maybe',
  createdAfter: 'soon',
  createdBefore: 'soon',
  updatedAfter: 'soon',
  campaignId: 'x',
  contactId: 'x',
  templateId: '',
};

// biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON here
type Json = any;

let api: TestApi;
let document: Json;
let operations: ApiOperation[];
let owner: Record<string, string>;
let idOf: (path: string, param: string) => string | undefined;
let foreignIdOf: (path: string, param: string) => string | undefined;
let starts: Record<string, Start>;

beforeAll(async () => {
  api = await startTestApi();
  operations = listOperations(api.app);
  document = await (await api.app.request('/openapi.json')).json();
  await buildDomain(api.db, { projectId: api.one.id });
  // The example bodies of the OpenAPI document send from this domain.
  await buildDomain(api.db, { projectId: api.one.id, domain: 'example.com' });
  owner = await signIn(api, api.one);
  starts = await buildStartable(api);
  idOf = await buildEverything(api.db, api.one.id);
  foreignIdOf = await buildEverything(api.db, api.two.id);
});
afterAll(() => api.close());

const isRead = ({ method }: ApiOperation) => method === 'GET';
const isKeyed = (operation: ApiOperation) =>
  operation.method === 'POST' &&
  operation.security.some(
    (one) => Object.values(one).some((scopes) => scopes.length > 0) || 'publicKey' in one || 'secretKey' in one,
  ) &&
  !WITHOUT_KEY.includes(getOperationName(operation));
const hasForeignId = ({ params, security }: ApiOperation) =>
  security.length > 0 && params.some((param) => !NO_IDS.has(param));

/** Returns the row that the contract requires. */
function getExpectedRow(operation: ApiOperation): Row {
  const name = getOperationName(operation);
  const isCallback = CALLBACKS.includes(name);
  const unnamed = isRead(operation) ? 'no body' : 'named as ignored';
  return {
    unknownField: isCallback ? 'taken' : REFUSING_FIELDS.includes(name) ? 'refused' : unnamed,
    unknownParameter: isCallback || ANY_PARAMETER.includes(name) ? 'taken' : 'refused',
    wrongType: createWrongInputs(operation).length === 0 ? 'no input' : 'refused',
    reusedKey: !isKeyed(operation)
      ? 'no key'
      : ONE_INPUT.includes(name)
        ? 'refused, same input'
        : 'refused, other input too',
    foreignId: hasForeignId(operation) ? 'not found' : 'no id',
  };
}

/**
 * Compares one column of the table with the contract. If a response fits none of the words for a cell, the failure
 * shows the response itself.
 */
async function expectColumn(cell: Cell, ask: (operation: ApiOperation) => Promise<string>): Promise<void> {
  const collectRows = async (one: (operation: ApiOperation) => Promise<string> | string) => {
    const rows: Record<string, string> = {};
    for (const operation of operations) rows[`${operation.method} ${operation.path}`] = await one(operation);
    return rows;
  };
  expect(await collectRows(ask)).toEqual(await collectRows((operation) => getExpectedRow(operation)[cell]));
}

/** Calls an operation with sufficient rights. Records of the other calls are not changed. */
async function callAlone(operation: ApiOperation, options: CallOptions & { query?: string }): Promise<CallResult> {
  // A sign-out or a password change ends the session, so they get a session of their own.
  const session = operation.path.startsWith('/auth/') ? await signIn(api, api.one) : owner;
  const ids = isRead(operation) ? idOf : () => undefined;
  return createOperationCaller({ api, owner: session, idOf: ids })(operation, options);
}

const describeResult = ({ status, body }: CallResult) => `${status} ${JSON.stringify(body?.error ?? body)}`;

describe('every operation of the API', () => {
  it('refuses an unknown field, or names it as ignored', () =>
    expectColumn('unknownField', async (operation) => {
      if (isRead(operation)) return 'no body';
      if (CALLBACKS.includes(getOperationName(operation))) return 'taken';
      const form = operation.multipart ? FORMS[getOperationName(operation)]?.()[0] : undefined;
      form?.set('utm_nonsense', '1');
      const given = { ...(operation.body as object), utm_nonsense: 1 };
      const response = form ? await sendForm(operation.path, form) : await callAlone(operation, { body: given });
      const [fault] = response.body?.error?.errors ?? [];
      const isNamed = fault?.code === 'unrecognized_keys' && fault.field === 'utm_nonsense';
      if (response.status === 422 && isNamed) return 'refused';
      return response.headers.get('x-ignored-fields') === 'utm_nonsense'
        ? 'named as ignored'
        : describeResult(response);
    }));

  it('refuses an unknown query parameter by name, except operations that pages and probes call', () =>
    expectColumn('unknownParameter', async (operation) => {
      if (CALLBACKS.includes(getOperationName(operation))) return 'taken';
      const response = await callAlone(operation, { query: '?utm_nonsense=1' });
      const { error } = response.body ?? {};
      const [fault] = error?.errors ?? [];
      if (fault?.code !== 'unrecognized_keys') return 'taken';
      const isRight = response.status === 400 && error.code === 'VALIDATION_ERROR' && fault.field === 'utm_nonsense';
      return isRight ? 'refused' : describeResult(response);
    }));

  it('refuses values of a wrong type, and names the field or parameter', async () => {
    let inputCount = 0;
    await expectColumn('wrongType', async (operation) => {
      const inputs = createWrongInputs(operation);
      if (inputs.length === 0) return 'no input';
      inputCount += inputs.length;
      for (const { name, status, options } of inputs) {
        const response = await callAlone(operation, options);
        const faults: { field: string }[] = response.body?.error?.errors ?? [];
        const isNamed = faults.some(({ field }) => field.split('.')[0] === name);
        if (!isNamed || !status.includes(response.status)) return `${name}: ${describeResult(response)}`;
      }
      return 'refused';
    });
    expect(inputCount).toBeGreaterThan(700);
  });

  it('returns 404, never 403, for another project’s id, by key and by session', () =>
    expectColumn('foreignId', async (operation) => {
      if (!hasForeignId(operation)) return 'no id';
      const getForeignId = (path: string, param: string) => {
        if (NO_IDS.has(param)) return 'x';
        const id = foreignIdOf(path, param);
        if (!id) throw new Error(`${path}: give {${param}} an id in test/support/everything.ts`);
        return id;
      };
      const call = createOperationCaller({ api, owner, idOf: getForeignId });
      const { status, body } = await call(operation, { body: operation.body });
      return status === 404 && body.error.code === 'NOT_FOUND' ? 'not found' : `${status} ${JSON.stringify(body)}`;
    }));

  it('refuses a reused key if it creates or starts something, and shows the first response only for the same input', () => {
    const done = new Map<string, string>();
    return expectColumn('reusedKey', async (operation) => {
      const name = getOperationName(operation);
      if (!isKeyed(operation)) return 'no key';
      // The versioned and the unversioned path of an operation share their idempotency keys.
      const cell = done.get(name) ?? (await reuseKey(operation));
      done.set(name, cell);
      return cell;
    });
  });

  it('accepts an Idempotency-Key if it creates or starts something, and the OpenAPI document says so', () => {
    const hasIdempotencyKey = ({ method, path }: ApiOperation) =>
      (document.paths[path][method.toLowerCase()].parameters ?? []).some(
        ({ name, $ref }: { name?: string; $ref?: string }) => /idempotency-?key/i.test(name ?? $ref ?? ''),
      );
    expect(operations.filter(hasIdempotencyKey).map(getOperationName)).toEqual(
      operations.filter(isKeyed).map(getOperationName),
    );
  });

  it('returns no server error when it reads existing records', async () => {
    const call = createOperationCaller({ api, owner, idOf });
    const failed: string[] = [];
    for (const operation of operations.filter(isRead)) {
      const { status, body } = await call(operation, {});
      if (status >= 500) failed.push(`${operation.path} ${status} ${JSON.stringify(body)}`);
    }
    expect(failed).toEqual([]);
  });
});

/** Sends three requests with one idempotency key: a request, the same request, and a different request. */
async function reuseKey(operation: ApiOperation): Promise<string> {
  const name = getOperationName(operation);
  const { ids = {}, body = operation.body as object | undefined, otherBody, otherIds } = starts[name] ?? {};
  const headers = { 'idempotency-key': uuidv7() };
  const call = createOperationCaller({ api, owner, idOf: (path, param) => ids[param] ?? idOf(path, param) });
  const [form, otherForm] = operation.multipart ? (FORMS[name]?.() ?? []) : [];
  const ask = () => (form ? sendForm(operation.path, form, headers) : call(operation, { headers, body }));
  const first = await ask();
  if (first.status >= 400) return `the first request: ${describeResult(first)}`;
  const second = await ask();
  const { code, details } = second.body?.error ?? {};
  if (second.status !== 409 || code !== 'IDEMPOTENCY_KEY_REUSED' || details.sameRequest !== true)
    return describeResult(second);
  const firstBody = first.body === undefined || first.body === '' ? null : first.body;
  expect(firstBody, name).toMatchObject(details.originalResponse ?? {});
  if (ONE_INPUT.includes(name)) return 'refused, same input';
  const elsewhere = createOperationCaller({ api, owner, idOf: (_, param) => otherIds?.[param] });
  const bodies = otherBody ? [otherBody] : changeEachValue(body ?? {});
  const others: (() => Promise<CallResult>)[] = otherForm
    ? [() => sendForm(operation.path, otherForm, headers)]
    : body
      ? bodies.map((other) => () => call(operation, { headers, body: other }))
      : [() => elsewhere(operation, { headers })];
  const responses: CallResult[] = [];
  for (const other of others) {
    const response = await other();
    responses.push(response);
    if (response.status !== 409) continue;
    const { sameRequest, originalResponse } = response.body.error.details;
    return sameRequest === false && originalResponse === null ? 'refused, other input too' : describeResult(response);
  }
  return `other input: ${responses.map(describeResult).join(', ')}`;
}

/** Returns copies of a body that each differ in one value. The operation may accept some of them. */
function changeEachValue(body: object): object[] {
  return Object.entries(body).flatMap(([name, value]: [string, unknown]): object[] => {
    if (typeof value === 'string') return [`x${value}`, `${value}x`].map((other) => ({ ...body, [name]: other }));
    if (typeof value === 'boolean') return [{ ...body, [name]: !value }];
    return Array.isArray(value) ? [{ ...body, [name]: [...value, ...value] }] : [];
  });
}

async function sendForm(path: string, body: FormData, more: Record<string, string> = {}): Promise<CallResult> {
  const headers = { authorization: `Bearer ${api.one.secretKey}`, ...more };
  const response = await api.app.request(path, { method: 'POST', headers, body });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

interface WrongInput {
  name: string;
  /** HTTP statuses that count as a refusal. */
  status: number[];
  options: CallOptions & { query?: string };
}

/** A value of each JSON type. */
const VALUES: [string, unknown][] = [
  ['null', null],
  ['string', 'x'],
  ['number', 4.5],
  ['boolean', true],
  ['array', [[]]],
  ['object', { x: { y: [] } }],
];

/** Returns the inputs of wrong types for an operation: each member of its body, and parameters of its query. */
function createWrongInputs(operation: ApiOperation): WrongInput[] {
  if (isForOperators(operation) || CALLBACKS.includes(getOperationName(operation))) return [];
  const { parameters = [], requestBody } = document.paths[operation.path][operation.method.toLowerCase()];
  const ofQuery = parameters
    .map((parameter: Json) => (parameter.$ref ? followRef(parameter) : parameter))
    .filter((parameter: Json) => parameter.in === 'query' && parameter.name in BAD_PARAMETERS)
    .map(({ name }: Json) => ({ name, status: [400], options: { query: `?${name}=${BAD_PARAMETERS[name]}` } }));
  const members = followRef(requestBody?.content?.['application/json']?.schema)?.properties ?? {};
  const ofBody = Object.entries<Json>(members).flatMap(([name, schema]) => {
    const types = listJsonTypes(schema);
    if (types === undefined) return [];
    return VALUES.filter(([type]) => !types.has(type) && !(type === 'number' && types.has('integer'))).map(
      ([, value]) => ({
        name,
        status: [400, 422],
        options: { body: { ...(operation.body as object), [name]: value } },
      }),
    );
  });
  return [...ofQuery, ...ofBody];
}

/** Replaces a `$ref` by the part of the document that it refers to. */
function followRef(part: Json): Json {
  const [, , kind, name] = part?.$ref?.split('/') ?? [];
  return name ? followRef(document.components[kind][name]) : part;
}

/** Returns the JSON types that a schema accepts. Undefined if it accepts all types. */
function listJsonTypes(given: Json): Set<string> | undefined {
  if (given.$ref) return listJsonTypes(followRef(given));
  const forms = given.anyOf ?? given.oneOf ?? given.allOf;
  if (forms) {
    const types: (Set<string> | undefined)[] = forms.map(listJsonTypes);
    return types.some((one) => one === undefined) ? undefined : new Set(types.flatMap((one) => [...(one ?? [])]));
  }
  if (given.type !== undefined) return new Set([given.type].flat());
  if (given.enum) return new Set(given.enum.map((value: unknown) => (value === null ? 'null' : typeof value)));
  return undefined;
}
