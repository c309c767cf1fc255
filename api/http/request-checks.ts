import type { RouteConfig } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import type { RunPrepaidTask } from '../../compute/compute.ts';
import type { AccessProject } from '../../db/projects/access.ts';
import { unmarkCursor } from '../../rules/cursor.ts';
import { AppError } from '../../rules/errors.ts';
import { isStorable, type JsonBody, REPEATED_NAME, readJsonBody, TOO_MANY_NODES } from '../../rules/json-body.ts';
import { normalizeStrings } from '../../rules/nfc.ts';
import { authenticate } from './authenticate.ts';
import { createTooLargeError, JSON_MAX_BYTES, readBody } from './body.ts';
import { UNAUTHENTICATED_WRITES } from './caller-limits.ts';
import { readClientAddress } from './client-address.ts';
import type { Deps } from './deps.ts';
import type { AppEnv, RequestContext } from './env.ts';
import { storeFingerprint } from './idempotency-key.ts';
import { parseInZone } from './instant-zone.ts';
import { computeListMark, markPageCursor } from './list-mark.ts';
import { type BodyRules, createBodyParser, createInvalidBodyError, type ParsedBody } from './parse-body.ts';
import { createQueryParser, refuseUnknownQuery } from './parse-query.ts';
import { toAccessRule } from './security.ts';
import { parseWithStoredValues, type StoredFields } from './stored-fields.ts';

/**
 * Reading a JSON body above this size takes tens of milliseconds of the event loop, which all projects share. So a
 * request with such a body needs budget of its project (`Compute.runLargeRequest`).
 */
const LARGE_BODY_BYTES = 1024 * 1024;

/** Options of a route besides its OpenAPI operation. */
export interface RouteOptions extends BodyRules {
  /** Body limit in bytes; 3 MB by default. */
  maxBodyBytes?: number;
  /**
   * Path of the list of objects in a JSON body that have a base64 file in `content`, such as `attachments`. The body
   * may have up to `maxBodyBytes` with its files, but at most 3 MB without them. The handler gets the decoded files
   * from `c.get('files')`.
   */
  filesAt?: readonly string[];
  /**
   * How to load the record that the operation changes. Values that the record already has are accepted, even if a newer
   * rule forbids them.
   */
  stored?: StoredFields;
  /** Accepts unknown query parameters, because customers' pages and health probes add their own. */
  anyQuery?: true;
  /**
   * Only for a POST that creates and starts nothing: it ignores an Idempotency-Key. All other POSTs in a project accept
   * one. Most of them use `runOncePerKey`. A POST that declares the header handles the key in its own code. Source:
   * contract §1.8 Idempotency.
   */
  idempotency?: 'none';
  /**
   * Fields of the response that are shown only once, such as a new secret. They are not stored with an Idempotency-Key.
   */
  shownOnce?: readonly string[];
  /** For an operation that requires a session: how a caller with an API key gets the same result. Used in the error. */
  insteadOfKey?: string;
}

export type CheckedRoute = RouteConfig & RouteOptions;

/**
 * A check of a request before its handler. `inThread` runs a task in a thread, and is set only for a request with a
 * large body. The project has already been charged for such a request by the size of its body.
 */
type Check = (
  c: RequestContext,
  deps: Pick<Deps, 'loop' | 'db' | 'config'>,
  inThread?: RunPrepaidTask,
) => Promise<void>;

/**
 * Returns the middleware with all checks before a handler: credentials, limits, path, query, body. The handler reads
 * valid values with `c.req.valid(…)`.
 */
export function createRequestChecks(route: CheckedRoute, deps: Deps): MiddlewareHandler<AppEnv> {
  const rule = toAccessRule(route.security);
  const isUnauthenticatedWrite = !rule && route.method !== 'get';
  const checks = [
    createHeadersCheck(route),
    createParamsCheck(route),
    createQueryCheck(route),
    createBodyCheck(route),
  ].filter((check) => check !== undefined);
  const work = `${route.method.toUpperCase()} ${route.path}`;
  const isList = route.method === 'get' && hasPages(route);
  const checkRequest: MiddlewareHandler<AppEnv> = async (c, next) => {
    c.set('route', route.path);
    if (rule) {
      // Responses contain data of a project, so caches must not store them.
      c.header('Cache-Control', 'no-store');
      await authenticate(c, { ...rule, insteadOfKey: route.insteadOfKey }, deps);
    }
    if (isUnauthenticatedWrite) deps.limits.takeForUnauthenticated(readClientAddress(c), UNAUTHENTICATED_WRITES);
    const check = async (inThread?: RunPrepaidTask) => {
      for (const check of checks) await check(c, deps, inThread);
      if (route.request?.headers) await storeFingerprint(c);
      if (!isList) return next();
      const mark = removeCursorMark(c);
      if (!rule?.ofProject) {
        markCursors(c, mark);
        return next();
      }
      await deps.compute.runLargeRead({ projectId: c.get('projectId'), kind: work }, (reportBytes) => {
        markCursors(c, mark, reportBytes);
        return next();
      });
    };
    const bytes = rule?.ofProject ? countLargeBodyBytes(c, route.maxBodyBytes) : 0;
    await (bytes > 0
      ? deps.compute.runLargeRequest({ projectId: c.get('projectId'), kind: work }, bytes, check)
      : check());
  };
  return (c, next) => deps.loop.runAs(work, () => checkRequest(c, next));
}

/**
 * Removes the mark of the list from the cursor of the parsed query, and returns the mark. Handlers then get a cursor
 * that contains only the position in the list.
 * @throws AppError VALIDATION_ERROR (400) for the cursor of another list
 */
function removeCursorMark(c: ParsedContext): string {
  const query = c.req.valid('query');
  const mark = computeListMark({ projectId: c.get('projectId'), path: c.req.path, query });
  if (typeof query.cursor === 'string')
    c.req.addValidatedData('query', { ...query, cursor: unmarkCursor(query.cursor, mark) });
  return mark;
}

/** A request after the check of its query. */
type ParsedContext = Context<AppEnv, string, { out: { query: Record<string, unknown> } }>;

/**
 * Replaces `c.json` by a function that marks the cursor of a page and reports the size of the response. The size is
 * reported before the response is sent, because a slow caller may take long to read the response. Hono has no hook that
 * runs before it serializes a body, and reading the finished response would copy up to 4 MB.
 */
function markCursors(c: RequestContext, mark: string, reportBytes?: (bytes: number) => void): void {
  const respond = (value: unknown, status?: ContentfulStatusCode): Response => {
    const text = JSON.stringify(markPageCursor(value, mark));
    reportBytes?.(Buffer.byteLength(text));
    return c.body(text, status, { 'Content-Type': 'application/json' });
  };
  c.json = respond as RequestContext['json'];
}

/**
 * Returns the size of a body above `LARGE_BODY_BYTES`, and 0 for other bodies and for bodies that will be refused as
 * too large. If the request does not state the size of its body, the route's maximum counts.
 */
function countLargeBodyBytes(c: RequestContext, maxBytes = JSON_MAX_BYTES): number {
  const hasUnknownLength = c.req.header('transfer-encoding') !== undefined;
  const bytes = hasUnknownLength ? maxBytes : Number(c.req.header('content-length') ?? 0);
  return bytes > LARGE_BODY_BYTES && bytes <= maxBytes ? bytes : 0;
}

/** Tells whether the operation returns pages of a list with a cursor. */
function hasPages(route: CheckedRoute): boolean {
  const query = route.request?.query;
  return query instanceof z.ZodObject && 'cursor' in query.shape;
}

/**
 * Returns the check that refuses two headers, because the operation would silently ignore them. These headers are
 * `If-Match` for a record without versions, and an idempotency key in a header of another name.
 */
function createHeadersCheck(route: CheckedRoute): Check | undefined {
  if (route.method === 'get') return undefined;
  const accepted = route.request?.headers instanceof z.ZodObject ? route.request.headers.shape : {};
  const unsupportedHeaders = [
    !('If-Match' in accepted) && NO_VERSION,
    'Idempotency-Key' in accepted && OTHER_KEY_NAME,
  ].filter((header) => header !== false);
  return async (c) => {
    for (const { header, message, suggestion } of unsupportedHeaders)
      if (c.req.header(header) !== undefined) throw new AppError('BAD_REQUEST', { message, suggestion });
  };
}

const NO_VERSION = {
  header: 'if-match',
  message: 'If-Match is not supported here, because the record has no version.',
  suggestion: 'Send the request without If-Match.',
};
const OTHER_KEY_NAME = {
  header: 'x-idempotency-key',
  message: 'The header of an idempotency key is Idempotency-Key.',
  suggestion: 'Send the key as Idempotency-Key.',
};

function createParamsCheck(route: CheckedRoute): Check | undefined {
  const schema = route.request?.params;
  if (!schema) return undefined;
  return async (c) => {
    const params = normalizeStrings(c.req.param()) as Record<string, string>;
    const parsed = schema.safeParse(params);
    // No record has an invalid id, so the response is the same as for an unknown id.
    if (!parsed.success || !Object.values(params).every(isStorable)) throw new AppError('NOT_FOUND');
    c.req.addValidatedData('param', parsed.data as object);
  };
}

function createQueryCheck(route: CheckedRoute): Check | undefined {
  const schema = route.request?.query;
  if (!schema) return route.anyQuery ? undefined : noQueryCheck;
  const parse = createQueryParser(schema, route);
  return async (c) =>
    c.req.addValidatedData('query', parseInZone(getInputZone(c), () => parse(c.req.queries())) as object);
}

const noQueryCheck: Check = async (c) => {
  // Most requests have no query, and looking for a question mark is cheaper than parsing.
  if (!c.req.url.includes('?')) return;
  refuseUnknownQuery(Object.keys(c.req.queries()).map((name) => ({ path: [name], siblings: [] })));
};

function createBodyCheck(route: CheckedRoute): Check | undefined {
  const body = route.request?.body;
  const [mediaType, content] = Object.entries(body?.content ?? {})[0] ?? [];
  if (!body || !mediaType || !content || !('schema' in content) || !(content.schema instanceof z.ZodType))
    return createNoBodyCheck(route);
  const plan = {
    schema: content.schema,
    optional: !body.required,
    maxBytes: route.maxBodyBytes ?? JSON_MAX_BYTES,
    route,
  };
  return mediaType === 'multipart/form-data' ? createFormCheck(plan) : createJsonCheck(plan);
}

interface BodyPlan {
  schema: z.ZodType;
  optional: boolean;
  maxBytes: number;
  route: CheckedRoute;
}

/**
 * Returns the check for an operation that takes no body, also for a GET. All fields of a JSON body are unknown fields,
 * which are refused or reported as ignored. An operation that refuses unknown fields also refuses bodies that are not
 * JSON. Source: contract §1.9 Unknown input.
 */
function createNoBodyCheck(route: CheckedRoute): Check {
  const read = createJsonReader({ schema: z.object({}), optional: true, maxBytes: JSON_MAX_BYTES, route });
  return async (c, deps, inThread) => {
    if (JSON_TYPE.test(c.req.header('content-type') ?? '')) await read(c, deps, inThread);
    else if (route.unknownFields === 'refuse' && (await readBody(c, JSON_MAX_BYTES)).byteLength > 0)
      throw createMediaTypeError('application/json');
  };
}

/** Returns the zone of times without an offset: the zone of the caller's project, or UTC without a project. */
function getInputZone(c: RequestContext): string {
  const project: AccessProject | undefined = c.get('project');
  return project?.timezone ?? 'UTC';
}

/**
 * Returns the data of a body. If the body has ignored fields, names them in the response header `X-Ignored-Fields`.
 */
function reportIgnoredFields(c: RequestContext, { data, ignored }: ParsedBody<unknown>): object {
  if (ignored !== '') c.header('X-Ignored-Fields', ignored);
  return data as object;
}

function createJsonCheck(plan: BodyPlan): Check {
  const read = createJsonReader(plan);
  return async (c, deps, inThread) => c.req.addValidatedData('json', await read(c, deps, inThread));
}

/**
 * Returns a function that reads and checks the JSON body of a request, and returns the parsed data. It throws an
 * AppError for an invalid body.
 */
function createJsonReader(plan: BodyPlan): (...request: Parameters<Check>) => Promise<object> {
  const parse = createBodyParser(plan.schema, plan.route);
  return async (c, deps, inThread) => {
    const bytes = await readJsonBytes(c, plan);
    deps.loop.noteResumed();
    const body = bytes.byteLength === 0 && plan.optional ? EMPTY_BODY : await parseJson(bytes, plan, inThread);
    if (body.fault !== undefined) {
      if (body.fault === 'size') throw createTooLargeError(JSON_MAX_BYTES);
      throw createInvalidBodyError([{ field: '', message: TOO_MANY_NODES, code: 'too_big' }], plan.route.invalid);
    }
    const { value, unstorable } = body;
    if (unstorable) {
      const { path, message, code = 'invalid_string' } = unstorable;
      throw createInvalidBodyError([{ field: path.join('.'), message, code }], plan.route.invalid);
    }
    if (plan.route.filesAt !== undefined) c.set('files', body.files);
    const parseValue = (input: unknown) => parseInZone(getInputZone(c), () => parse(input));
    try {
      return reportIgnoredFields(c, parseValue(value));
    } catch (error) {
      const storedRecord = await loadStoredRecord(error, { c, deps, body: value, fields: plan.route.stored });
      if (storedRecord === undefined) throw error;
      return reportIgnoredFields(c, parseWithStoredValues(value, { ...storedRecord, parse: parseValue }));
    }
  };
}

/**
 * Loads the stored record that a refused request would change, for `parseWithStoredValues`. Undefined if the record
 * does not exist, if the route has no option `stored`, or if the reason of the refusal is not a field of the body.
 */
async function loadStoredRecord(
  refusal: unknown,
  p: { c: RequestContext; deps: Pick<Deps, 'db' | 'config'>; body: unknown; fields: StoredFields | undefined },
): Promise<Omit<Parameters<typeof parseWithStoredValues>[1], 'parse'> | undefined> {
  if (!p.fields || !(refusal instanceof AppError) || !refusal.errors) return undefined;
  const request = { projectId: p.c.get('projectId'), id: p.c.req.param('id') ?? '', body: p.body };
  const stored = await p.fields.load(p.deps, request);
  return stored && { refusal, stored, depth: p.fields.depth };
}

/** The value of an omitted body. */
const EMPTY_BODY: JsonBody = { value: {}, unstorable: undefined, files: [] };

/**
 * Parses a JSON body. On routes with `filesAt`, a large body is parsed in a thread. Without files a thread would not
 * help, because receiving the parsed value from the thread takes as long as parsing.
 */
async function parseJson(
  bytes: Uint8Array,
  { route }: BodyPlan,
  inThread: RunPrepaidTask | undefined,
): Promise<JsonBody> {
  const rules = { filesAt: route.filesAt, maxOtherBytes: JSON_MAX_BYTES };
  if (!inThread || route.filesAt === undefined) return readJsonBody(bytes, rules);
  return inThread('json.body', { bytes, rules }, [bytes]);
}

/**
 * Returns the bytes of a JSON body. Empty if the body is optional and was omitted.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE for another media type or a compressed body
 */
async function readJsonBytes(c: RequestContext, plan: BodyPlan): Promise<Uint8Array> {
  const type = c.req.header('content-type');
  if (type === undefined && plan.optional) {
    const bytes = await readBody(c, plan.maxBytes);
    if (bytes.byteLength === 0) return bytes;
    throw createMediaTypeError('application/json');
  }
  if (!type || !JSON_TYPE.test(type)) throw createMediaTypeError('application/json');
  refuseEncoding(c);
  return readBody(c, plan.maxBytes);
}

function createFormCheck(plan: BodyPlan): Check {
  const parse = createBodyParser(plan.schema, plan.route);
  return async (c, { loop }) => {
    const type = c.req.header('content-type');
    if (!type || !FORM_TYPE.test(type)) throw createMediaTypeError('multipart/form-data');
    refuseEncoding(c);
    const bytes = await readBody(c, plan.maxBytes);
    loop.noteResumed();
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
      .formData()
      .catch((cause: unknown) => {
        throw new AppError('BAD_REQUEST', {
          message: 'The body is not valid multipart/form-data.',
          suggestion: 'Let your HTTP client create the form and its Content-Type header, as curl -F does.',
          cause,
        });
      });
    loop.noteResumed();
    const value = Object.fromEntries(form.entries());
    refuseRepeatedFields([...form.keys()], plan.route.invalid);
    c.req.addValidatedData(
      'form',
      reportIgnoredFields(
        c,
        parseInZone(getInputZone(c), () => parse(value)),
      ),
    );
  };
}

/**
 * Refuses a form that contains a field twice, because only the last value would be used. Source: contract §1.9 Unknown
 * input.
 */
function refuseRepeatedFields(names: string[], invalid: 400 | undefined): void {
  const repeated = names.find((name, at) => names.indexOf(name) !== at);
  if (repeated === undefined) return;
  throw createInvalidBodyError([{ field: repeated, message: REPEATED_NAME, code: 'duplicate_field' }], invalid);
}

function refuseEncoding(c: RequestContext): void {
  const encoding = c.req.header('content-encoding');
  if (!encoding || encoding.toLowerCase() === 'identity') return;
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', {
    message: 'Compressed request bodies are not supported.',
    suggestion: 'Send the body uncompressed, without Content-Encoding.',
  });
}

const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/i;
const FORM_TYPE = /^multipart\/form-data\s*(;|$)/i;

function createMediaTypeError(mediaType: 'application/json' | 'multipart/form-data'): AppError {
  const boundary = mediaType === 'multipart/form-data' ? ', with the boundary that your HTTP client generates' : '';
  return new AppError('UNSUPPORTED_MEDIA_TYPE', { suggestion: `Send Content-Type: ${mediaType}${boundary}.` });
}
