import { afterEach, expect, it, vi } from 'vitest';
import { callApi } from './client.ts';

afterEach(() => vi.unstubAllGlobals());

it('sends the version that the user has seen as If-Match, and none without one', async () => {
  const sent: Headers[] = [];
  vi.stubGlobal('fetch', async (_url: string, init: RequestInit) => {
    sent.push(new Headers(init.headers));
    return new Response(null, { status: 204 });
  });
  await callApi('deleteTemplate', { params: { id: 't' }, seenAt: '2026-11-27T09:00:00.123Z' });
  await callApi('deleteTemplate', { params: { id: 't' } });
  // `toVersionTag` of rules/record-version.ts.
  const tag = Date.parse('2026-11-27T09:00:00.123Z').toString(36);
  expect(sent.map((headers) => headers.get('if-match'))).toEqual([`"${tag}"`, null]);
});
