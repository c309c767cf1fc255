import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeLeftoverObjects } from '../../activities/asset-leftovers.ts';
import { openBucket } from '../../channels/assets/bucket.ts';
import { findFreePort } from '../../cli/start/ports.ts';
import { parseSettings } from '../../rules/config.ts';
import { TEST_SECRET_KEY } from '../build/senders.ts';
import { buildProject, type TestProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FakeS3, startFakeS3 } from '../support/fake-s3.ts';
import { type HostProcess, startHostProcess } from '../support/host-process.ts';
import { until } from '../support/until.ts';

const GIF = Buffer.from('R0lGODlhAgADAIAAAAAAAP///yH5BAEAAAAALAAAAAACAAMAAAICRF4AOw==', 'base64');

let database: TestDatabase;
let project: TestProject;
let s3: FakeS3;
let baseUrl: string;
let host: HostProcess | undefined;

beforeAll(async () => {
  [database, s3] = await Promise.all([createTestDatabase(), startFakeS3()]);
  project = await buildProject(database.db, 'Pictures');
});
afterAll(async () => {
  await host?.kill();
  await s3.close();
  await database.drop();
});

async function startApi(): Promise<HostProcess> {
  const port = await findFreePort();
  baseUrl = `http://127.0.0.1:${port}`;
  const env = { DATABASE_URL: database.url, TEMPORAL_ADDRESS: '127.0.0.1:1', SECRET_KEY: TEST_SECRET_KEY };
  const isUp = () =>
    fetch(`${baseUrl}/health/live`).then(
      ({ ok }) => ok,
      () => false,
    );
  host = await startHostProcess('api', { ...env, ...s3.env, PORT: String(port) }, isUp);
  return host;
}

function uploadImage(): Promise<Response> {
  const form = new FormData();
  form.append('file', new File([GIF], 'header.gif'));
  const headers = { authorization: `Bearer ${project.secretKey}` };
  return fetch(`${baseUrl}/v1/assets`, { method: 'POST', body: form, headers });
}

const countRows = async (table: 'assets' | 'asset_leftovers') =>
  (await database.db.selectFrom(table).select(sql<number>`count(*)`.as('n')).executeTakeFirstOrThrow()).n;

it('an API that is killed after it stored an image’s object but not its row leaves an object that pruning deletes, and a repeated upload works', async () => {
  const api = await startApi();
  s3.mood = 'silent';
  const response = uploadImage().catch(() => 'no response');
  await until(() => s3.objects.size === 1, 'the object');
  await api.kill();
  expect(await response).toBe('no response');
  expect([await countRows('assets'), await countRows('asset_leftovers')]).toEqual([0, 1]);

  s3.mood = 'well';
  await startApi();
  expect((await uploadImage()).status).toBe(201);
  expect(s3.objects.size).toBe(2);
  const settings = parseSettings(s3.env).assetsBucket;
  if (!settings) throw new Error('no bucket');
  const bucket = openBucket(settings);
  await sql`UPDATE asset_leftovers SET due_at = due_at - interval '1 hour'`.execute(database.db);
  await removeLeftoverObjects({ db: database.db, bucket });
  await bucket.close();
  expect([s3.objects.size, await countRows('assets'), await countRows('asset_leftovers')]).toEqual([1, 1, 0]);
  expect((await uploadImage()).status).toBe(200);
});
