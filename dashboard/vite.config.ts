import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type ProxyOptions } from 'vite';

const ROOT = join(import.meta.dirname, '..');

/** The app lives under `/app`; every other path is the API's own, so that both share one origin and one cookie. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  plugins: [react(), { name: 'app-without-slash', configureServer: ({ middlewares }) => void middlewares.use(toApp) }],
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    // Small ones too: the policy of the page allows no data: scripts, and one way for all is simpler to reason about.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      // One file for what every screen needs, and one for what several share, in place of a hundred small ones, each of
      // which costs a request.
      output: {
        codeSplitting: {
          groups: [
            { name: 'app', tags: ['$initial'] },
            { name: 'shared', minShareCount: 3 },
          ],
        },
      },
    },
  },
  server: {
    host: '127.0.0.1',
    proxy: { '^/(?!app(/|$))': { target: addressOfApi(), changeOrigin: true, configure: takesOwnPages } },
  },
});

/** The API leads to `/app`, which is a page of the app there as every other; Vite has its pages under `/app/`. */
function toApp({ url }: IncomingMessage, answer: ServerResponse, next: () => void): void {
  if (url === '/app') answer.writeHead(302, { location: '/app/' }).end();
  else next();
}

/** TIDINGS_URL, or the `npm start` that runs on the home, or where one would be. */
function addressOfApi(): string {
  const devFile = resolve(ROOT, process.env.TIDINGS_HOME ?? '.tidings', 'dev.json');
  if (process.env.TIDINGS_URL) return process.env.TIDINGS_URL;
  return existsSync(devFile) ? JSON.parse(readFileSync(devFile, 'utf8')).baseUrl : 'http://127.0.0.1:3000';
}

/**
 * Makes requests of the dev server's pages same-origin for the API. Requests of other sites keep their origin, so
 * their writes are refused.
 */
function takesOwnPages(proxy: Parameters<NonNullable<ProxyOptions['configure']>>[0]): void {
  proxy.on('proxyReq', (request, { headers }) => {
    if (headers.origin === `http://${headers.host}`) request.setHeader('origin', new URL(addressOfApi()).origin);
  });
}
