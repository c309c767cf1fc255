import { TidingsConnectionError, TidingsError } from './errors.ts';
import { OPERATIONS, type Operations } from './operations.generated.ts';

export type OperationId = keyof Operations & keyof typeof OPERATIONS;
type InputOf<Id extends OperationId> = Omit<Operations[Id], 'response'>;
export type ResponseOf<Id extends OperationId> = Operations[Id]['response'];

/** Options of a call besides the operation's own input. */
export interface CallOptions {
  /**
   * The idempotency key, for operations that accept one. If you omit it, the client creates a key for the call and
   * retries the call with this key. If you set a key, the client does not retry: the key may be in use by another
   * request of yours, and the client cannot tell which request an error is about.
   */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** The argument of a call. It is optional if the operation requires no input. */
type Arguments<Id extends OperationId> =
  Record<string, never> extends InputOf<Id> ? [input?: InputOf<Id> & CallOptions] : [input: InputOf<Id> & CallOptions];

/** The ids of operations that return a list with a cursor. */
export type ListId = {
  [Id in OperationId]: ResponseOf<Id> extends { cursor: string | null } ? Id : never;
}[OperationId];
type ArrayIn<Page> = { [Key in keyof Page]: Page[Key] extends (infer Item)[] ? Item : never }[keyof Page];
export type ItemOf<Id extends ListId> = ArrayIn<ResponseOf<Id>>;

export interface TidingsOptions {
  /** The address of the service, such as `https://tidings.example.com`. */
  baseUrl: string;
  /**
   * A secret key (`sk_live_…` or `sk_test_…`). In a web page, use the public key, which only allows `trackEvent`,
   * `recordPixel` and `waitForVariant`.
   */
  key: string;
  /** Time limit per attempt in milliseconds. Defaults to 30,000. */
  timeoutMs?: number;
  /**
   * Maximum number of retries of a call whose idempotency key the client created. Other calls are not retried. Defaults
   * to 3; 0 turns retries off.
   */
  retries?: number;
  fetch?: typeof globalThis.fetch;
}

interface OperationEntry {
  method: string;
  path: string;
  idempotencyKey: boolean;
}

interface Input extends CallOptions {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
}

const TIMEOUT_MS = 30_000;
const RETRIES = 3;
const FIRST_DELAY_MS = 250;
/**
 * The maximum wait before a retry. If the service asks for a longer wait with `Retry-After`, the client throws instead.
 */
const MAX_DELAY_MS = 30_000;
const RETRYABLE = new Set([408, 425, 429, 500, 502, 503, 504]);

/** A client for one project. It has no state between calls, so one client per process is enough. */
export class Tidings {
  readonly #baseUrl: string;
  readonly #key: string;
  readonly #timeoutMs: number;
  readonly #retries: number;
  readonly #fetch: typeof globalThis.fetch;

  constructor(options: TidingsOptions) {
    this.#baseUrl = options.baseUrl.replace(/\/+$/, '');
    this.#key = options.key;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#retries = options.retries ?? RETRIES;
    this.#fetch = options.fetch ?? ((...args) => globalThis.fetch(...args));
  }

  /** Sends an email. The client retries the call unless you set `idempotencyKey`. */
  send(body: Operations['sendEmail']['body'], options: CallOptions = {}): Promise<ResponseOf<'sendEmail'>> {
    return this.call('sendEmail', { body, ...options });
  }

  /** Records an event of a contact. The client retries the call unless you set `idempotencyKey`. */
  track(body: Operations['trackEvent']['body'], options: CallOptions = {}): Promise<ResponseOf<'trackEvent'>> {
    return this.call('trackEvent', { body, ...options });
  }

  /** Creates a contact, or updates the contact that has this email address. */
  saveContact(body: Operations['saveContact']['body'], options: CallOptions = {}): Promise<ResponseOf<'saveContact'>> {
    return this.call('saveContact', { body, ...options });
  }

  /**
   * Calls any operation of the OpenAPI document by its id.
   * @throws TidingsError if the service returns an error, TidingsConnectionError if no response arrives
   */
  async call<Id extends OperationId>(id: Id, ...[input]: Arguments<Id>): Promise<ResponseOf<Id>> {
    return (await this.#callWithRetries(findOperation(id), input ?? {})) as ResponseOf<Id>;
  }

  /** Yields the pages of a list, one after the other. */
  async *pages<Id extends ListId>(id: Id, ...[input]: Arguments<Id>): AsyncGenerator<ResponseOf<Id>, void, undefined> {
    const operation = findOperation(id);
    const { query = {}, ...rest }: Input = input ?? {};
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await this.#callWithRetries(operation, { ...rest, query: { ...query, ...(cursor && { cursor }) } });
      yield page as ResponseOf<Id>;
      cursor = findNextCursor(page);
    }
  }

  /** Yields the records of a list, over all pages. */
  async *each<Id extends ListId>(id: Id, ...input: Arguments<Id>): AsyncGenerator<ItemOf<Id>, void, undefined> {
    for await (const page of this.pages(id, ...input)) {
      const list = Object.values(page as object).find(Array.isArray);
      yield* (list ?? []) as ItemOf<Id>[];
    }
  }

  /** Makes a call, and retries it if the client has created its idempotency key. */
  async #callWithRetries(operation: OperationEntry, input: Input): Promise<unknown> {
    const mayRetry = operation.idempotencyKey && input.idempotencyKey === undefined;
    const idempotencyKey = mayRetry ? crypto.randomUUID() : input.idempotencyKey;
    for (let retries = 0; ; retries += 1) {
      try {
        return await this.#attempt(operation, { ...input, ...(idempotencyKey !== undefined && { idempotencyKey }) });
      } catch (error) {
        const earlier = retries > 0 ? findEarlierResponse(error) : undefined;
        if (earlier) return earlier.response;
        const delayMs = mayRetry && retries < this.#retries ? computeRetryDelayMs(error, retries) : undefined;
        if (delayMs === undefined) throw error;
        await wait(delayMs, input.signal);
      }
    }
  }

  async #attempt({ method, path }: OperationEntry, input: Input): Promise<unknown> {
    const { params = {}, query = {}, body, idempotencyKey, signal } = input;
    const isForm = body instanceof FormData;
    const url = `${this.#baseUrl}${fillPath(path, params)}${buildQueryString(query)}`;
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    let response: Response;
    let text: string;
    try {
      response = await this.#fetch(url, {
        method,
        headers: {
          Authorization: `Bearer ${this.#key}`,
          ...(body !== undefined && !isForm && { 'Content-Type': 'application/json' }),
          ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
        },
        ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      text = await response.text();
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw new TidingsConnectionError(`${method} ${path} got no response: ${getErrorMessage(cause)}`, { cause });
    }
    const responseBody = parseBody(text, response.headers);
    if (!response.ok) throw new TidingsError(response, responseBody);
    return responseBody;
  }
}

/** Finds an operation by its id. Throws for a wrong id, because JavaScript callers have no compiler that checks it. */
function findOperation(id: string): OperationEntry {
  if (Object.hasOwn(OPERATIONS, id)) return OPERATIONS[id as OperationId];
  throw new TypeError(`Unknown operation "${id}". Use an operationId that this version of @tidings/client has`);
}

/**
 * Returns the cursor of the next page, which is in the field `cursor` or `nextCursor`. Null for the last page, so that
 * the caller stops: a request without a cursor would return the first page again.
 */
function findNextCursor(page: unknown): string | null {
  const { cursor, nextCursor, hasMore } = (page ?? {}) as Record<string, unknown>;
  const next = cursor ?? nextCursor;
  return hasMore !== false && typeof next === 'string' && next !== '' ? next : null;
}

/**
 * Returns the response of an earlier attempt from the error of a retry. If the earlier attempt succeeded but its
 * response was lost, the service responds to the retry with the error IDEMPOTENCY_KEY_REUSED, which contains the lost
 * response.
 */
function findEarlierResponse(error: unknown): { response: unknown } | undefined {
  if (!(error instanceof TidingsError) || error.code !== 'IDEMPOTENCY_KEY_REUSED') return undefined;
  const { originalStatusCode, originalResponse } = error.details;
  const succeeded = typeof originalStatusCode === 'number' && originalStatusCode < 300;
  return succeeded ? { response: originalResponse } : undefined;
}

/**
 * Returns the delay before the next retry, in milliseconds. Undefined if a retry would not help, or if the service asks
 * for a wait longer than `MAX_DELAY_MS`.
 */
function computeRetryDelayMs(error: unknown, retries: number): number | undefined {
  const isTemporary =
    error instanceof TidingsConnectionError ||
    (error instanceof TidingsError && RETRYABLE.has(error.status) && error.code !== 'BILLING_LIMIT_EXCEEDED');
  if (!isTemporary) return undefined;
  const retryAfterMs = error instanceof TidingsError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
  if (retryAfterMs > MAX_DELAY_MS) return undefined;
  // A random wait between 50 % and 100 % of the backoff, so that many clients do not retry at the same moment.
  const backoffMs = Math.min(FIRST_DELAY_MS * 2 ** retries, MAX_DELAY_MS);
  return Math.max(retryAfterMs, backoffMs * (0.5 + Math.random() / 2));
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
  });
}

function fillPath(path: string, params: Record<string, string>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined || value === '') throw new TypeError(`${path} requires params.${name}`);
    return encodeURIComponent(value);
  });
}

function buildQueryString(query: Record<string, unknown>): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return entries.length === 0
    ? ''
    : `?${new URLSearchParams(entries.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

function parseBody(text: string, headers: Headers): unknown {
  if (text === '') return undefined;
  if (!headers.get('content-type')?.includes('json')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function getErrorMessage(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause instanceof Error ? `${cause.message}: ${cause.cause.message}` : cause.message;
}
