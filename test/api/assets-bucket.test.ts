import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { removeLeftoverObjects } from '../../activities/asset-leftovers.ts';
import { createApp } from '../../api/http/app.ts';
import { ASSETS_MAX_BYTES } from '../../db/assets/assets.ts';
import { announceObject, deleteObjectAnnouncement } from '../../db/assets/leftovers.ts';
import { inTransaction } from '../../db/transaction.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type FakeS3, startFakeS3 } from '../support/fake-s3.ts';

const GIF = Buffer.from('R0lGODlhAgADAIAAAAAAAP///yH5BAEAAAAALAAAAAACAAMAAAICRF4AOw==', 'base64');
/** Returns a unique GIF: bytes after its end do not change the image. */
const newGif = (more: string | Buffer = crypto.randomUUID()) => Buffer.concat([GIF, Buffer.from(more)]);

let s3: FakeS3;
let api: TestApi;
beforeAll(async () => {
  s3 = await startFakeS3();
  api = await startTestApi({ PUBLIC_URL: 'https://mail.example.com', ...s3.env });
});
beforeEach(() => {
  Object.assign(s3, { mood: 'well', cutAt: undefined, requests: [] });
});
afterAll(async () => {
  await api?.close();
  await s3.close();
});

type RequestTarget = Pick<TestApi['app'], 'request'>;

async function upload(content: Buffer, { app = api.app as RequestTarget, key = api.one.secretKey } = {}) {
  const form = new FormData();
  form.append('file', new File([content], 'header.gif', { type: 'image/gif' }));
  const headers = { authorization: `Bearer ${key}` };
  const response = await app.request('/v1/assets', { method: 'POST', body: form, headers });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

async function fetchServed(url: string, app: RequestTarget = api.app) {
  const response = await app.request(new URL(url).pathname);
  return { status: response.status, headers: response.headers, content: Buffer.from(await response.arrayBuffer()) };
}

/** Starts the API with another image bucket on the same database. */
const createAppWithBucket = (bucket: TestApi['deps']['bucket']): RequestTarget => createApp({ ...api.deps, bucket });
const deleteImage = (id: string) => api.call('DELETE', `/assets/${id}`);
const readObjectKey = async (hash: string) =>
  (await api.db.selectFrom('assets').select('object_key').where('hash', '=', hash).executeTakeFirstOrThrow())
    .object_key ?? '';
const countLeftovers = async () => (await api.db.selectFrom('asset_leftovers').select('object_key').execute()).length;
/** Runs the part of pruning that deletes objects, as if an hour had passed. */
async function pruneObjects(deps: Partial<Parameters<typeof removeLeftoverObjects>[0]> = {}): Promise<void> {
  await sql`UPDATE asset_leftovers SET due_at = due_at - interval '1 hour'`.execute(api.db);
  await removeLeftoverObjects({ db: api.db, bucket: api.deps.bucket, ...deps });
}

describe('an image that is stored in a bucket', () => {
  it('is an object under the prefix, and is served like an image in Postgres', async () => {
    const content = newGif();
    const { status, body } = await upload(content);
    expect(status).toBe(201);
    const key = await readObjectKey(body.hash);
    expect(key).toMatch(new RegExp(`^tidings/${api.one.id}/[0-9a-f-]{36}$`));
    expect(s3.objects.get(key)).toEqual({ content, type: 'image/gif' });
    const response = await fetchServed(body.url);
    expect(response).toMatchObject({ status: 200, content });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/gif',
      'content-length': String(content.length),
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    });
    expect(await countLeftovers()).toBe(0);
  });

  it('is returned byte for byte, up to 5 MB', async () => {
    const content = newGif(Buffer.alloc(5 * 1024 * 1024 - 100, 'x'));
    const { body } = await upload(content);
    expect((await fetchServed(body.url)).content.equals(content)).toBe(true);
  });

  it('is not written again if the same image is uploaded twice', async () => {
    const content = newGif();
    const first = await upload(content);
    s3.requests = [];
    expect(await upload(content)).toEqual({ status: 200, body: first.body });
    expect(s3.requests).toEqual([]);
  });

  it('is one image after many concurrent uploads of the same bytes, and the surplus objects are deleted', async () => {
    const content = newGif();
    const responses = await Promise.all(Array.from({ length: 5 }, () => upload(content)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201]);
    await pruneObjects();
    const same = [...s3.objects.values()].filter((object) => object.content.equals(content));
    expect(same).toHaveLength(1);
    expect(await fetchServed(responses[0]?.body.url)).toMatchObject({ status: 200, content });
  });

  it('is refused beyond the project’s limit', async () => {
    const { body } = await upload(newGif(), { key: api.two.secretKey });
    await sql`UPDATE assets SET bytes = ${ASSETS_MAX_BYTES} WHERE id = ${body.id}`.execute(api.db);
    s3.requests = [];
    expect((await upload(newGif(), { key: api.two.secretKey })).status).toBe(409);
    expect([s3.requests, await countLeftovers()]).toEqual([[], 0]);
  });

  it('returns 404 as soon as it is deleted, and the next pruning deletes its object', async () => {
    const { body } = await upload(newGif());
    const key = await readObjectKey(body.hash);
    expect((await deleteImage(body.id)).status).toBe(204);
    expect((await fetchServed(body.url)).status).toBe(404);
    expect(s3.objects.has(key)).toBe(true);
    await removeLeftoverObjects({ db: api.db, bucket: api.deps.bucket });
    expect([s3.objects.has(key), await countLeftovers()]).toEqual([false, 0]);
  });

  it('stays if it is deleted and uploaded again before pruning', async () => {
    const content = newGif();
    const first = (await upload(content)).body;
    await deleteImage(first.id);
    const again = (await upload(content)).body;
    await pruneObjects();
    expect(again.hash).toBe(first.hash);
    expect(await fetchServed(again.url)).toMatchObject({ status: 200, content });
  });
});

describe('a bucket that cannot be used', () => {
  it.each<[string, FakeS3['mood']]>([
    ['closes connections', 'away'],
    ['refuses requests', { status: 403, code: 'AccessDenied' }],
    ['returns errors', { status: 500, code: 'InternalError' }],
  ])(
    'a bucket that %s makes uploads return 503 and store nothing; uploads succeed once the bucket works',
    async (_, mood) => {
      const content = newGif();
      const { body: before } = await api.call('GET', '/assets');
      s3.mood = mood;
      const response = await upload(content);
      expect(response).toMatchObject({ status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } });
      expect(response.body.error.message).toBe('The storage for images is unreachable.');
      expect((await api.call('GET', '/assets')).body).toEqual(before);
      s3.mood = 'well';
      const { status, body } = await upload(content);
      expect(status).toBe(201);
      await pruneObjects();
      expect(await countLeftovers()).toBe(0);
      expect(await fetchServed(body.url)).toMatchObject({ status: 200, content });
    },
  );

  it('makes every image unavailable, and all images are served again when it works', async () => {
    const content = newGif();
    const { body } = await upload(content);
    s3.mood = 'away';
    expect((await fetchServed(body.url)).status).toBe(503);
    s3.mood = 'well';
    expect(await fetchServed(body.url)).toMatchObject({ status: 200, content });
  });

  it('sends no partial image if it fails during a download', async () => {
    const content = newGif(Buffer.alloc(100_000));
    const { body } = await upload(content);
    s3.cutAt = 50_000;
    expect((await fetchServed(body.url)).status).toBe(503);
    s3.cutAt = undefined;
    expect(await fetchServed(body.url)).toMatchObject({ status: 200, content });
  });

  it('makes an image return 404 if its object is lost', async () => {
    const { body } = await upload(newGif());
    s3.objects.delete(await readObjectKey(body.hash));
    expect((await fetchServed(body.url)).status).toBe(404);
  });

  it('keeps deleted objects while it is unusable, and pruning reports the failed part', async () => {
    const { body } = await upload(newGif());
    const key = await readObjectKey(body.hash);
    await deleteImage(body.id);
    s3.mood = 'away';
    await expect(pruneObjects()).rejects.toThrow();
    s3.mood = 'well';
    await expect(pruneObjects({ bucket: undefined })).rejects.toThrow('ASSETS_S3_BUCKET is not set');
    expect([s3.objects.has(key), await countLeftovers()]).toEqual([true, 1]);
    await pruneObjects();
    expect([s3.objects.has(key), await countLeftovers()]).toEqual([false, 0]);
  });
});

describe('adding or removing a bucket in the settings', () => {
  it('keeps serving earlier images from Postgres after a bucket is added', async () => {
    const content = newGif();
    const before = await upload(content, { app: createAppWithBucket(undefined) });
    expect(before.status).toBe(201);
    s3.requests = [];
    expect(await fetchServed(before.body.url)).toMatchObject({ status: 200, content });
    expect(await upload(content)).toEqual({ status: 200, body: before.body });
    expect((await deleteImage(before.body.id)).status).toBe(204);
    expect([s3.requests, await countLeftovers()]).toEqual([[], 0]);
  });

  it('stores new images in Postgres after the bucket is removed, and returns 503, not 404, for images in it', async () => {
    const app = createAppWithBucket(undefined);
    const { body } = await upload(newGif());
    expect((await fetchServed(body.url, app)).status).toBe(503);
    const content = newGif();
    const after = await upload(content, { app });
    expect(await fetchServed(after.body.url, app)).toMatchObject({ status: 200, content });
    expect(await fetchServed(after.body.url)).toMatchObject({ status: 200, content });
  });
});

it('an upload that is so slow that pruning may delete its object writes no row', async () => {
  const object = { projectId: api.one.id, objectKey: 'tidings/late' };
  await inTransaction(api.db, (trx) => announceObject(trx, object));
  await sql`UPDATE asset_leftovers SET due_at = now() + interval '20 minutes'`.execute(api.db);
  await expect(inTransaction(api.db, (trx) => deleteObjectAnnouncement(trx, object))).rejects.toThrow('too long ago');
  await pruneObjects();
});
