import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type ProxyOptions } from 'vite';

const ROOT = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

/** The app is served under `/app`, and the API under every other path, so that both share one origin and one cookie. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  define: { RELEASE: JSON.stringify(version) },
  plugins: [
    react(),
    { name: 'app-without-slash', configureServer: ({ middlewares }) => void middlewares.use(redirectToApp) },
  ],
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    // Keeps small assets as files, because the content security policy of the page allows no `data:` scripts.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      // Puts the modules of the first load into one file, and modules that at least three files share into another.
      // Otherwise there would be a hundred small files with a request each.
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
    proxy: { '^/(?!app(/|$))': { target: readApiUrl(), changeOrigin: true, configure: acceptOwnPages } },
  },
});

/** Redirects `/app` to `/app/`, because Vite serves its pages only under `/app/`. The API links to `/app`. */
function redirectToApp({ url }: IncomingMessage, response: ServerResponse, next: () => void): void {
  if (url === '/app') response.writeHead(302, { location: '/app/' }).end();
  else next();
}

/**
 * Returns TIDINGS_URL, or the address of the service that `npm start` runs in the home folder, or the default address.
 */
function readApiUrl(): string {
  const devFile = resolve(ROOT, process.env.TIDINGS_HOME ?? '.tidings', 'dev.json');
  if (process.env.TIDINGS_URL) return process.env.TIDINGS_URL;
  return existsSync(devFile) ? JSON.parse(readFileSync(devFile, 'utf8')).baseUrl : 'http://127.0.0.1:3000';
}

/**
 * Makes requests from the dev server's pages same-origin for the API. Requests from other sites keep their origin, so
 * the API refuses their writes.
 */
function acceptOwnPages(proxy: Parameters<NonNullable<ProxyOptions['configure']>>[0]): void {
  proxy.on('proxyReq', (request, { headers }) => {
    if (headers.origin === `http://${headers.host}`) request.setHeader('origin', new URL(readApiUrl()).origin);
  });
}
