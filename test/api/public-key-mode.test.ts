import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addSuppressions } from '../../db/contacts/suppressions.ts';
import { inTransaction } from '../../db/transaction.ts';
import { updateProject } from '../../engine/projects/project-changes.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let people = 0;
let email: string;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());
beforeEach(async () => {
  people += 1;
  email = `person-${people}@example.com`;
  await setMode('protected');
});

function setMode(publicKeyMode: 'protected' | 'open') {
  return inTransaction(api.db, (trx) => updateProject(trx, { projectId: api.one.id, changes: { publicKeyMode } }));
}

const track = (body: object, options: { key?: string; headers?: Record<string, string> } = {}) =>
  api.call('POST', '/v1/track', { key: api.one.publicKey, body: { email, event: 'visited', ...body }, ...options });
const trackWithSecretKey = (body: object) => track(body, { key: api.one.secretKey });

async function readContact() {
  const { body } = await api.call('GET', `/v1/contacts?search=${encodeURIComponent(email)}`);
  return body.data.items?.[0] ?? body.data[0];
}

async function readTimeline() {
  const { id } = await readContact();
  const { body } = await api.call('GET', `/v1/contacts/${id}/timeline`);
  return body.data.items ?? body.data;
}

describe('a project whose publicKeyMode is protected', () => {
  it('reports its mode in responses to the public key, and not to a secret key', async () => {
    expect((await track({})).body.data.mode).toBe('protected');
    expect((await trackWithSecretKey({})).body.data).not.toHaveProperty('mode');
  });

  it('shows an unsubscription by the public key in the timeline, with the request that would apply it', async () => {
    await trackWithSecretKey({ data: { plan: 'pro' } });
    await track({ subscribed: false });
    expect((await readContact()).subscribed).toBe(true);
    const { id } = await readContact();
    const [item] = (await readTimeline()).filter(
      ({ type }: { type: string }) => type === 'contact.unsubscribe_requested',
    );
    expect(item.metadata).toMatchObject({
      data: { requests: 1, caller: expect.stringMatching(/^[0-9a-f]{12}$/) },
      apply: { method: 'PATCH', path: `/contacts/${id}`, body: { subscribed: false } },
    });
    const { method, path, body } = item.metadata.apply;
    expect((await api.call(method, path, { body })).status).toBe(200);
    expect((await readContact()).subscribed).toBe(false);
  });

  it('counts the refusals of one caller about one contact, and shows each caller once', async () => {
    await trackWithSecretKey({});
    for (let n = 0; n < 3; n += 1) await track({ subscribed: false });
    const items = (await readTimeline()).filter(
      ({ type }: { type: string }) => type === 'contact.unsubscribe_requested',
    );
    expect(items.map(({ metadata }: { metadata: { data: { requests: number } } }) => metadata.data.requests)).toEqual([
      3,
    ]);
  });

  it('records no ignored unsubscription if the unsubscription took effect or would change nothing', async () => {
    await track({ subscribed: false });
    expect((await readContact()).subscribed).toBe(false);
    await track({ subscribed: false });
    expect((await readTimeline()).map(({ type }: { type: string }) => type)).not.toContain(
      'contact.unsubscribe_requested',
    );
  });
});

describe('a project whose publicKeyMode is open', () => {
  beforeEach(() => setMode('open'));

  it('follows the specification for both keys: values overwrite, null deletes, subscribed counts', async () => {
    await trackWithSecretKey({ data: { plan: 'pro', city: 'Berlin' } });
    const { status, body } = await track({ data: { plan: 'free', city: null }, subscribed: false });
    expect([status, body.data.mode]).toEqual([200, 'open']);
    expect(await readContact()).toMatchObject({ subscribed: false, data: { plan: 'free' } });
    expect((await readContact()).data).not.toHaveProperty('city');
    expect((await readTimeline()).map(({ type }: { type: string }) => type)).not.toContain(
      'contact.unsubscribe_requested',
    );
  });

  it('removes a refusal that the public key made', async () => {
    await trackWithSecretKey({});
    await track({ subscribed: false });
    expect((await readContact()).subscribed).toBe(false);
    await track({ subscribed: true });
    expect((await readContact()).subscribed).toBe(true);
  });

  it.each([
    ['a secret key', () => trackWithSecretKey({ subscribed: false })],
    [
      'the suppression list',
      async () => {
        const key = deriveKey(api.deps.config.secretKey, 'suppression');
        const entries = [{ email, reason: 'unsubscribe' as const, source: 'page' }];
        await addSuppressions(api.db, key, { projectId: api.one.id, entries });
        await trackWithSecretKey({ subscribed: false });
      },
    ],
  ])('keeps a refusal by %s, before and after a refusal by the public key', async (_, refuse) => {
    await trackWithSecretKey({});
    await refuse();
    await track({ subscribed: true });
    expect((await readContact()).subscribed).toBe(false);
    await track({ subscribed: false });
    await track({ subscribed: true });
    expect((await readContact()).subscribed).toBe(false);
  });

  it('does not remove a refusal that came after the public key’s refusal', async () => {
    await trackWithSecretKey({});
    await track({ subscribed: false });
    await trackWithSecretKey({ subscribed: false });
    await track({ subscribed: true });
    expect((await readContact()).subscribed).toBe(false);
  });

  it('marks values of the public key as untrusted', async () => {
    await trackWithSecretKey({ data: { site: 'https://shop.example' } });
    await track({ data: { site: 'https://evil.example' } });
    const row = await api.db
      .selectFrom('contacts')
      .select(['data', 'untrusted_keys'])
      .where('project_id', '=', api.one.id)
      .where('email', '=', email)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ data: { site: 'https://evil.example' }, untrusted_keys: ['site'] });
  });

  it('refuses data beyond the limits with the same error names as for a secret key', async () => {
    const data = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`key${n}`, n]));
    const { status, body } = await track({ data });
    expect([status, body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
  });

  it('does not change other projects', async () => {
    const { body } = await track({ email: 'other@example.com' }, { key: api.two.publicKey });
    expect(body.data.mode).toBe('protected');
  });
});

it('the public key can undo its own unsubscription after the project returns to protected mode', async () => {
  await setMode('open');
  await trackWithSecretKey({});
  await track({ subscribed: false });
  await setMode('protected');
  await track({ subscribed: true });
  expect((await readContact()).subscribed).toBe(true);
});
