import { afterEach, expect, it, vi } from 'vitest';
import { callApi, setOtherProjectHandler, setShownProject } from './client.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  setShownProject(undefined);
  setOtherProjectHandler(() => {});
});

/** Responds to every request with `respond`, and returns the headers of the requests. */
function stubFetch(respond: () => Response): Headers[] {
  const sent: Headers[] = [];
  vi.stubGlobal('fetch', async (_url: string, init: RequestInit) => {
    sent.push(new Headers(init.headers));
    return respond();
  });
  return sent;
}

it('sends the version that the user has seen as If-Match, and none without one', async () => {
  const sent = stubFetch(() => new Response(null, { status: 204 }));
  await callApi('deleteTemplate', { params: { id: 't' }, seenAt: '2026-11-27T09:00:00.123Z' });
  await callApi('deleteTemplate', { params: { id: 't' } });
  // `toVersionTag` of rules/record-version.ts.
  const tag = Date.parse('2026-11-27T09:00:00.123Z').toString(36);
  expect(sent.map((headers) => headers.get('if-match'))).toEqual([`"${tag}"`, null]);
});

it('names the project that the window shows, except to operations that are not of a project', async () => {
  const sent = stubFetch(() => new Response(null, { status: 204 }));
  await callApi('getProject', {});
  setShownProject('p');
  await callApi('getProject', {});
  await callApi('removeFromTeam', { params: { userId: 'u' } });
  for (const id of ['getMe', 'logOut', 'getOperatorHealth'] as const) await callApi(id, {});
  await callApi('switchProject', { body: { projectId: 'other' } });
  expect(sent.map((headers) => headers.get('tidings-project'))).toEqual([null, 'p', 'p', null, null, null, null]);
});

it('reports that the session is in another project, but no other conflict', async () => {
  const onOtherProject = vi.fn();
  setOtherProjectHandler(onOtherProject);
  const refuseWith = (details: object) =>
    stubFetch(() => Response.json({ error: { code: 'CONFLICT', message: 'No.', details } }, { status: 409 }));
  refuseWith({ updatedAt: '2026-11-27T09:00:00.123Z' });
  await expect(callApi('getProject', {})).rejects.toThrow('No.');
  expect(onOtherProject).not.toHaveBeenCalled();
  refuseWith({ sessionProjectId: 'other' });
  await expect(callApi('getProject', {})).rejects.toThrow('No.');
  expect(onOtherProject).toHaveBeenCalledOnce();
});
