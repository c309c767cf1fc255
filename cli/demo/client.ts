import { setTimeout as sleep } from 'node:timers/promises';

/** The default time limit of a wait for a result. It is long enough for a busy machine. */
const WAIT_TIMEOUT_MS = 60_000;
/** The time limit of a wait for a result with thousands of records, such as an import. */
export const LONG_TIMEOUT_MS = 600_000;
const POLL_MS = 50;
/**
 * The time between two polls, as a share of the time that has passed since the wait started, but at least `POLL_MS`. A
 * long wait therefore polls less often, and does not use up the rate limit of the project.
 */
const POLL_SHARE = 1 / 20;

// biome-ignore lint/suspicious/noExplicitAny: a tour reads responses of every shape
type ResponseBody = any;

/** Calls the API like any client. */
export interface TourClient {
  /**
   * Sends a request and returns the body of the response.
   * @throws Error with the response if it is not successful
   */
  call(method: string, path: string, body?: unknown): Promise<ResponseBody>;
  /** Uploads a file as a form. */
  upload(path: string, file: File): Promise<ResponseBody>;
}

/** Creates a client for a service with a secret key. */
export function createTourClient({ baseUrl, secretKey }: { baseUrl: string; secretKey: string }): TourClient {
  const authorization = `Bearer ${secretKey}`;
  return {
    call: (method, path, body) =>
      sendRequest(method, baseUrl + path, {
        headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    upload: (path, file) => {
      const body = new FormData();
      body.append('file', file);
      return sendRequest('POST', baseUrl + path, { headers: { authorization }, body });
    },
  };
}

/**
 * Calls `find` repeatedly until it returns a result, and returns this result.
 * @throws Error that names the missing result (`what`)
 */
export async function waitFor<T>(
  what: string,
  find: () => Promise<T | undefined | false>,
  timeoutMs = WAIT_TIMEOUT_MS,
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const result = await find();
    if (result !== undefined && result !== false) return result;
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > timeoutMs) throw new Error(`${what} did not arrive within ${timeoutMs / 1_000} s`);
    await sleep(Math.max(POLL_MS, waitedMs * POLL_SHARE));
  }
}

async function sendRequest(method: string, url: string, init: RequestInit): Promise<ResponseBody> {
  const response = await fetch(url, { method, ...init });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${new URL(url).pathname} responded with ${response.status}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}
