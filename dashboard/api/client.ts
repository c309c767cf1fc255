import { OPERATIONS, type Operations } from '../../packages/client/src/operations.generated.ts';
import { ApiFailure, createUnreachableFailure, readFailure } from './failure.ts';

export type OperationId = keyof Operations & keyof typeof OPERATIONS;
export type ResponseOf<Id extends OperationId> = Operations[Id]['response'];
export type InputOf<Id extends OperationId> = Omit<Operations[Id], 'response'>;
/** The arguments of a call. The input is optional if the operation requires none. */
export type Arguments<Id extends OperationId> =
  Record<string, never> extends InputOf<Id> ? [input?: InputOf<Id>] : [input: InputOf<Id>];

interface Request {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/**
 * An input with `seenAt`, the `updatedAt` of the record that the user has seen. If the stored record is newer, the API
 * changes nothing and responds with 409.
 */
export type VersionedInput<Id extends OperationId> = InputOf<Id> & { seenAt?: string };

/** Called when an operation other than `logIn` gets a 401, because the session has ended. */
let onSignedOut: () => void = () => {};
export function setSignedOutHandler(handler: () => void): void {
  onSignedOut = handler;
}

/** The project that this window shows. Undefined until the session is loaded, and on the sign-in and join pages. */
let shownProjectId: string | undefined;
export const getShownProject = (): string | undefined => shownProjectId;
export function setShownProject(id: string | undefined): void {
  shownProjectId = id;
}
/** Called when the API refuses a request because the session has switched to another project than the window shows. */
let onOtherProject: () => void = () => {};
export function setOtherProjectHandler(handler: () => void): void {
  onOtherProject = handler;
}
/** Paths that are not of a project. They read or change the session itself, or need an operator. */
const OUTSIDE_PROJECTS = /^\/(auth|operator)\//;

/**
 * Calls an operation of the API by its id in the OpenAPI document, with the session's cookie. Returns text if the
 * response is not JSON.
 * @throws ApiFailure for every error response, and when no response arrived; the error of `fetch` after an abort
 */
export async function callApi<Id extends OperationId>(
  id: Id,
  input: VersionedInput<Id>,
  { idempotencyKey, ...options }: { signal?: AbortSignal; idempotencyKey?: string | undefined } = {},
): Promise<ResponseOf<Id>> {
  const { method, path } = OPERATIONS[id];
  const { body } = input as Request;
  const headers: Record<string, string> = {
    // All windows of a browser share the session, and any of them can switch its project (contract §2.6 Sessions).
    ...(shownProjectId !== undefined && !OUTSIDE_PROJECTS.test(path) && { 'tidings-project': shownProjectId }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    ...(input.seenAt !== undefined && { 'if-match': toEtag(input.seenAt) }),
  };
  const init: RequestInit = { method, credentials: 'same-origin', headers, ...options };
  if (body instanceof FormData) init.body = body;
  else if (body !== undefined) {
    init.body = JSON.stringify(body);
    headers['content-type'] = 'application/json';
  }
  const response = await fetch(getOperationUrl(id, input), init).catch((error: unknown) => {
    if (options.signal?.aborted) throw error;
    throw createUnreachableFailure();
  });
  if (!response.ok) {
    const failure = await readFailure(response);
    if (failure.status === 401 && id !== 'logIn') onSignedOut();
    if (failure.status === 409 && failure.details.sessionProjectId !== undefined) onOtherProject();
    throw failure;
  }
  return (await readBody(response)) as ResponseOf<Id>;
}

/** Returns the ETag of a record by its `updatedAt` (`toVersionTag` of rules/record-version.ts). */
function toEtag(updatedAt: string): string {
  return `"${Date.parse(updatedAt).toString(36)}"`;
}

/** Returns the URL of an operation, also for download links. */
export function getOperationUrl<Id extends OperationId>(id: Id, input: InputOf<Id>): string {
  const { params = {}, query = {} } = input as Request;
  const path = OPERATIONS[id].path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  return search.size > 0 ? `${path}?${search}` : path;
}

async function readBody(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const isJson = response.headers.get('content-type')?.includes('json');
  return isJson ? response.json() : response.text();
}

export { ApiFailure };
