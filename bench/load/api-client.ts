import { Agent, request } from 'undici';

/** Response of the API. */
export interface ApiResponse {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of several shapes, read in one place each
  body: any;
}

/** A caller of the API with one project's key, on kept connections. */
export interface ApiClient {
  /**
   * The answer, whatever its status; a body that is a buffer is JSON already. @throws when the connection ends before
   * there is one
   */
  call(method: Method, path: string, body?: object | Buffer, headers?: Record<string, string>): Promise<ApiResponse>;
  /** The body of an answer that says yes. @throws when it says no */
  need(method: Method, path: string, body?: object): Promise<ApiResponse['body']>;
  close(): Promise<void>;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** A client of `baseUrl` with `key`; gives up on an answer after `timeoutMs`. */
export function apiClient(p: { baseUrl: string; key: string; connections?: number; timeoutMs?: number }): ApiClient {
  const timeoutMs = p.timeoutMs ?? 60_000;
  const agent = new Agent({
    connections: p.connections ?? 64,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const call: ApiClient['call'] = async (method, path, body, headers) => {
    const { statusCode, body: answer } = await request(p.baseUrl + path, {
      method,
      dispatcher: agent,
      headers: { authorization: `Bearer ${p.key}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: statusCode, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text };
  };
  return {
    call,
    need: async (method, path, body) => {
      const answer = await call(method, path, body);
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    close: () => agent.destroy(),
  };
}

/** Runs `work(0)` to `work(total - 1)`, `concurrency` at a time, until all are done or `signal` says stop. */
export async function inParallel(
  p: { total: number; concurrency: number; signal?: AbortSignal | undefined },
  work: (n: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let n = next++; n < p.total && !p.signal?.aborted; n = next++) await work(n);
  };
  await Promise.all(Array.from({ length: p.concurrency }, lane));
}
