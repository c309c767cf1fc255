import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { listOperations } from '../support/operations.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  api.app.request(path, { method, headers });

/** Returns the addresses of the scripts and styles in the page. */
async function listAssetsOfPage(): Promise<string[]> {
  const html = await (await get('/app')).text();
  return [...html.matchAll(/(?:src|href)="(\/app\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
}

describe('the dashboard', () => {
  it('opens at the address of the service', async () => {
    const { status, headers } = await get('/');
    expect([status, headers.get('location')]).toEqual([302, '/app']);
  });

  it('is one page at every address of the app, and is not cached', async () => {
    const page = await (await get('/app')).text();
    expect(page).toContain('<div id="app">');
    for (const path of ['/app/', '/app/contacts', '/app/contacts/01a1?search=a%40b', '/app/no-such-screen']) {
      const response = await get(path);
      expect([path, response.status, response.headers.get('cache-control')]).toEqual([path, 200, 'no-cache']);
      expect(await response.text()).toBe(page);
    }
  });

  it('runs only its own scripts, and cannot be framed', async () => {
    const { headers } = await get('/app/contacts');
    const policy = headers.get('content-security-policy')?.split('; ');
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "connect-src 'self'", "base-uri 'none'"]),
    );
    expect(policy).toContain("frame-ancestors 'none'");
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(await (await get('/app')).text()).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|javascript:/i);
  });

  it('is not sent again to a client that has the current version', async () => {
    for (const path of ['/app', (await listAssetsOfPage())[0] ?? '']) {
      const etag = (await get(path)).headers.get('etag') ?? '';
      for (const given of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await get(path, { 'if-none-match': given });
        expect([path, given, again.status, await again.text()]).toEqual([path, given, 304, '']);
      }
      expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
    }
  });

  it('responds to HEAD with the headers of a GET', async () => {
    for (const path of ['/app', '/app/contacts', (await listAssetsOfPage())[0] ?? '']) {
      const [head, whole] = [await get(path, {}, 'HEAD'), await get(path)];
      expect([path, head.status, (await head.text()).length]).toEqual([path, 200, 0]);
      const length = (await whole.arrayBuffer()).byteLength;
      expect([head.headers.get('content-length'), head.headers.get('etag')]).toEqual([
        String(length),
        whole.headers.get('etag'),
      ]);
    }
  });

  it('refuses methods other than GET and HEAD', async () => {
    for (const path of ['/', '/app', '/app/contacts', '/app/assets/x.js']) {
      const response = await get(path, {}, 'POST');
      expect([path, response.status, response.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD']);
    }
  });

  it('is not served at any path of the API', () => {
    const taken = listOperations(api.app).filter(({ path }) => path === '/' || /^\/app(\/|$)/.test(path));
    expect(taken).toEqual([]);
  });
});

describe('an asset of the dashboard', () => {
  it('is cached forever, and sent in the smallest encoding that the client accepts', async () => {
    const paths = await listAssetsOfPage();
    expect(paths.some((path) => path.endsWith('.js'))).toBe(true);
    for (const path of paths) {
      const plain = await get(path);
      expect([path, plain.status, plain.headers.get('cache-control')]).toEqual([
        path,
        200,
        'public, max-age=31536000, immutable',
      ]);
      expect(path).toMatch(/-[\w-]{8}\.(js|css|svg|woff2)$/);
      const bytes = Buffer.from(await plain.arrayBuffer());
      // A font is compressed already.
      if (bytes.length < 1_000 || path.endsWith('.woff2')) continue;
      const brotli = await get(path, { 'accept-encoding': 'gzip, deflate, br' });
      expect([brotli.headers.get('content-encoding'), brotli.headers.get('vary')]).toEqual(['br', 'Accept-Encoding']);
      expect(brotliDecompressSync(Buffer.from(await brotli.arrayBuffer())).equals(bytes)).toBe(true);
      const gzip = await get(path, { 'accept-encoding': 'gzip' });
      expect(gunzipSync(Buffer.from(await gzip.arrayBuffer())).equals(bytes)).toBe(true);
    }
  });

  it.each(['/app/assets/gone-12345678.js', '/app/assets/..%2Findex.html', '/app/assets/%00.js', '/app/assets/x'])(
    '%s, which is not a built asset, returns 404 instead of the page',
    async (path) => {
      const { status, body } = await api.call('GET', path, { key: null });
      expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
    },
  );
});

describe('with DASHBOARD=off, the service', () => {
  it('serves no dashboard', async () => {
    const without = await startTestApi({ DASHBOARD: 'off' });
    try {
      for (const path of ['/', '/app', '/app/contacts', '/app/assets/x.js', '/auth/link/x']) {
        expect([path, (await without.app.request(path)).status]).toEqual([path, 404]);
      }
    } finally {
      await without.close();
    }
  });
});
