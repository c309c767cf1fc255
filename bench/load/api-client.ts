import { Agent, request } from 'undici';

/** Response of the API. */
export interface ApiResponse {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: responses have several shapes, and each is read in one place
  body: any;
}

/** A client of the API with one project's key, on persistent connections. */
export interface ApiClient {
  /**
   * Sends a request and returns the response, whatever its status. If `body` is a buffer, it must contain JSON.
   * @throws when the connection ends before the response
   */
  call(method: Method, path: string, body?: object | Buffer, headers?: Record<string, string>): Promise<ApiResponse>;
  /** Returns the body of a successful response. @throws for any other response */
  callOk(method: Method, path: string, body?: object): Promise<ApiResponse['body']>;
  close(): Promise<void>;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** Creates a client of `baseUrl` with `key`, whose requests time out after `timeoutMs`. */
export function createApiClient(p: {
  baseUrl: string;
  key: string;
  connections?: number;
  timeoutMs?: number;
}): ApiClient {
  const timeoutMs = p.timeoutMs ?? 60_000;
  const agent = new Agent({
    connections: p.connections ?? 64,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const call: ApiClient['call'] = async (method, path, body, headers) => {
    const { statusCode, body: stream } = await request(p.baseUrl + path, {
      method,
      dispatcher: agent,
      headers: { authorization: `Bearer ${p.key}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    });
    const text = await stream.text();
    return { status: statusCode, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text };
  };
  return {
    call,
    callOk: async (method, path, body) => {
      const response = await call(method, path, body);
      if (response.status >= 300)
        throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
      return response.body;
    },
    close: () => agent.destroy(),
  };
}

/** Runs `work(0)` to `work(total - 1)`, `concurrency` at a time, until all are done or `signal` is aborted. */
export async function runConcurrently(
  p: { total: number; concurrency: number; signal?: AbortSignal | undefined },
  work: (n: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let n = next++; n < p.total && !p.signal?.aborted; n = next++) await work(n);
  };
  await Promise.all(Array.from({ length: p.concurrency }, lane));
}
