export interface CallOptions {
  /** API key; null and undefined send none. */
  key?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface CallResult {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape
  body: any;
}

/** Returns the options of a request with this key and this body as JSON. */
export function toRequestInit(method: string, { key, body, headers: more }: CallOptions = {}): RequestInit {
  const headers = new Headers(more);
  if (key && !headers.has('authorization')) headers.set('authorization', `Bearer ${key}`);
  if (body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json');
  return { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
}

/** Response with its body: parsed if it is JSON, else as text. */
export async function readResponse(response: Response): Promise<CallResult> {
  const { status, headers } = response;
  const text = await response.text();
  const isJson = headers.get('content-type')?.includes('json') && text.length > 0;
  return { status, headers, body: isJson ? JSON.parse(text) : text };
}

/** Makes a real HTTP request to the service at `baseUrl`. */
export async function callHttp(
  baseUrl: string,
  method: string,
  path: string,
  options?: CallOptions,
): Promise<CallResult> {
  return readResponse(await fetch(baseUrl + path, toRequestInit(method, options)));
}
