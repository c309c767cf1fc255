import { afterAll, beforeAll, expect, test } from 'vitest';
import { LARGE_EMAIL_PRIORITY, OUTBOX_PRIORITY } from '../../../rules/outbox.ts';
import { buildDomain } from '../../build/senders.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id });
});
afterAll(() => api.close());

const BYTES = Buffer.from(Array.from({ length: 2_000_000 }, (_, i) => (i * 7) % 256));
const file = (content: string) => ({ filename: 'a.bin', contentType: 'application/octet-stream', content });

function send(files: object[]) {
  const body = {
    to: 'ada@example.com',
    from: 'x@shop.example.com',
    subject: 'Hi',
    body: '<p>Hi</p>',
    attachments: files,
  };
  // Clients send `Content-Length`. This test calls the app without an HTTP server, which would add it.
  const headers = { 'content-length': String(JSON.stringify(body).length) };
  return api.call('POST', '/v1/send', { body, headers });
}

const filesOf = () => api.db.selectFrom('attachments').select('content').orderBy('id').execute();
const rowOf = (id: string) =>
  api.db.selectFrom('outbox').select(['kind', 'priority']).where('ref_id', '=', id).executeTakeFirstOrThrow();

test('a large request is stored unchanged, and its email waits in the queue of large emails', async () => {
  const large = await send([file(BYTES.toString('base64')), file('QQ==')]);
  expect(large.status).toBe(200);
  const [first, second] = await filesOf();
  expect(first?.content.equals(BYTES)).toBe(true);
  expect(second?.content.toString()).toBe('A');
  expect(await rowOf(large.body.data.emails[0].email)).toEqual({
    kind: 'email.deliver',
    priority: LARGE_EMAIL_PRIORITY,
  });

  const small = await send([file('QQ==')]);
  expect((await rowOf(small.body.data.emails[0].email)).priority).toBe(OUTBOX_PRIORITY['email.deliver']);
});

test('reports errors in a large request in the same way as in a small one', async () => {
  const errorsOf = async (files: object[]) => {
    const { status, body } = await send(files);
    return { status, errors: body.error.errors };
  };
  const large = BYTES.toString('base64');
  const bad = [
    [`${large}§`, '§'],
    [`${large}\0`, '\0'],
    [`${large}A`, 'A'],
  ];
  for (const [long = '', short = ''] of bad)
    expect(await errorsOf([file(long)])).toEqual(await errorsOf([file(short)]));
  const one = file(large);
  expect(await errorsOf([one, { ...file(''), content: 5 }])).toEqual({
    status: 422,
    errors: [
      {
        field: 'attachments.1.content',
        message: 'Must be a string, not a number',
        code: 'invalid_type',
      },
    ],
  });
  expect((await send([])).status).toBe(200);
});
