import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runDoctorInProcess } from '../support/doctor.ts';
import { type FakeS3, startFakeS3 } from '../support/fake-s3.ts';

const NO_HOME = '/nonexistent/tidings-home';

let database: TestDatabase;
let s3: FakeS3;
beforeAll(async () => {
  [database, s3] = await Promise.all([createTestDatabase(), startFakeS3()]);
});
afterAll(async () => {
  await s3.close();
  await database.drop();
});

async function diagnoseImages(env: Record<string, string>): Promise<string> {
  const { of, output } = await runDoctorInProcess({ TIDINGS_HOME: NO_HOME, ...env });
  expect(output).not.toContain(s3.env.ASSETS_S3_SECRET_ACCESS_KEY);
  return of('images').join('\n');
}

it('doctor reads the image bucket, changes nothing in it, and reports its response', async () => {
  expect(await diagnoseImages(s3.env)).toBe(`pass the bucket pictures at ${s3.endpoint} accepts our credentials`);
  expect(await diagnoseImages({ ...s3.env, ASSETS_S3_ACCESS_KEY_ID: 'AKIDOTHER' })).toMatch(
    /^fail the bucket pictures at \S+ cannot be used: .*403.* → check ASSETS_S3_\*: .* s3:PutObject/,
  );
  expect(await diagnoseImages({ ...s3.env, ASSETS_S3_BUCKET: 'other' })).toMatch(
    /^fail the bucket other .*: NotFound \(HTTP 404\)/,
  );
  expect(await diagnoseImages({ ...s3.env, ASSETS_S3_ENDPOINT: 'http://127.0.0.1:1' })).toMatch(/^fail .*ECONNREFUSED/);
  expect(new Set(s3.requests)).toEqual(new Set(['HEAD pictures', 'HEAD other']));
});

it('doctor reports images in a bucket that is no longer configured', async () => {
  const env = { DATABASE_URL: database.url };
  expect(await diagnoseImages(env)).toBe('pass images are stored in Postgres');
  const { id } = await buildProject(database.db, 'One');
  await sql`
    INSERT INTO assets (project_id, hash, content_type, bytes, width, height, object_key)
    VALUES (${id}, 'a', 'image/png', 1, 1, 1, 'a')`.execute(database.db);
  expect(await diagnoseImages(env)).toMatch(
    /^fail emails cannot show 1 image: stored in a bucket that is not configured → set ASSETS_S3_BUCKET/,
  );
});
