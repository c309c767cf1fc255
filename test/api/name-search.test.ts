import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCampaignBody } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { expectOk } from '../build/workflows.ts';
import { type CallOptions, startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id, domain: 'sender.test' });
});
afterAll(() => api?.close());

const BODIES = {
  campaigns: createCampaignBody({}),
  workflows: { eventName: 'signup' },
  segments: { type: 'STATIC' },
  templates: { subject: 'Hello', body: '<p>Hello</p>', type: 'TRANSACTIONAL', from: 'news@sender.test' },
};

it.each(Object.keys(BODIES) as (keyof typeof BODIES)[])('%s are searched by a part of the name', async (path) => {
  const createRecord = async (name: string): Promise<string> => {
    const body = await expectOk(api.call('POST', `/${path}`, { body: { ...BODIES[path], name } }));
    return body.id ?? body.data.id;
  };
  const findNames = async (search: string, options: CallOptions = {}): Promise<string[]> => {
    const body = await expectOk(api.call('GET', `/${path}?search=${encodeURIComponent(search)}`, options));
    return (Array.isArray(body) ? body : body[path]).map(({ id }: { id: string }) => id);
  };
  const first = await createRecord('Sale 100% off_now');
  const second = await createRecord('Sale 100 offers');
  const winter = await createRecord('Winter');
  expect(await findNames('sale')).toEqual([second, first]);
  expect(await findNames('100% OFF_')).toEqual([first]);
  expect(await findNames(' winter ')).toEqual([winter]);
  expect(await findNames('\\')).toEqual([]);
  expect(await findNames('winter', { key: api.two.secretKey })).toEqual([]);
  for (const bad of ['x'.repeat(201), '%00'])
    expect((await api.call('GET', `/${path}?search=${bad}`)).status).toBe(400);
});
