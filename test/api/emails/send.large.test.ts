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
const createAttachment = (content: string) => ({ filename: 'a.bin', contentType: 'application/octet-stream', content });

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

const listAttachments = () => api.db.selectFrom('attachments').select('content').orderBy('id').execute();
const readOutboxRow = (id: string) =>
  api.db.selectFrom('outbox').select(['kind', 'priority']).where('ref_id', '=', id).executeTakeFirstOrThrow();

test('a large request is stored unchanged, and its email waits in the queue of large emails', async () => {
  const large = await send([createAttachment(BYTES.toString('base64')), createAttachment('QQ==')]);
  expect(large.status).toBe(200);
  const [first, second] = await listAttachments();
  expect(first?.content.equals(BYTES)).toBe(true);
  expect(second?.content.toString()).toBe('A');
  expect(await readOutboxRow(large.body.data.emails[0].email)).toEqual({
    kind: 'email.deliver',
    priority: LARGE_EMAIL_PRIORITY,
  });

  const small = await send([createAttachment('QQ==')]);
  expect((await readOutboxRow(small.body.data.emails[0].email)).priority).toBe(OUTBOX_PRIORITY['email.deliver']);
});

test('errors in a large request are reported in the same way as in a small one', async () => {
  const sendAndReadErrors = async (files: object[]) => {
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
    expect(await sendAndReadErrors([createAttachment(long)])).toEqual(
      await sendAndReadErrors([createAttachment(short)]),
    );
  const one = createAttachment(large);
  expect(await sendAndReadErrors([one, { ...createAttachment(''), content: 5 }])).toEqual({
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
