import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isAttachmentWithoutEmailSql, removeErasedAttachments } from '../../db/contents/erased-attachments.ts';
import { buildDomain } from '../build/senders.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { pruneTables } from '../support/periodic.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id });
});
afterAll(() => api.close());

type Sent = { email: string; contact: { id: string } };

/** Sends one email to each contact, each with all of these files. */
async function send(files: string[], people = 1): Promise<Sent[]> {
  const attachments = files.map((text) => ({
    filename: 'invoice.txt',
    contentType: 'text/plain',
    content: Buffer.from(text).toString('base64'),
  }));
  const to = Array.from({ length: people }, () => `${uuidv7()}@example.com`);
  const body = { to, from: 'hello@shop.example.com', subject: 'Invoice', body: '<p>Here</p>', attachments };
  return (await api.call('POST', '/v1/send', { body })).body.data.emails;
}
const erase = async (email: Sent | undefined) =>
  expect((await api.call('DELETE', `/contacts/${email?.contact.id}`)).status).toBe(204);
const listFiles = async (email: Sent | undefined) =>
  (await api.call('GET', `/v1/emails/${email?.email}`)).body.data.attachments;
async function countFiles(): Promise<{ stored: number; noted: number }> {
  const { rows } = await sql<{ stored: number; noted: number }>`
    SELECT (SELECT count(*) FROM attachments) AS stored, (SELECT count(*) FROM erased_attachments) AS noted`.execute(
    api.db,
  );
  return rows[0] ?? { stored: -1, noted: -1 };
}

it('the attachments of emails to an erased contact are deleted with the last email that has them', async () => {
  const [first, second] = await send(['Ada owes 5', 'Ada owes 6'], 2);
  expect(await countFiles()).toEqual({ stored: 2, noted: 0 });
  await erase(first);
  await pruneTables(api.db);
  expect(await countFiles()).toEqual({ stored: 2, noted: 0 });
  expect(await listFiles(second)).toHaveLength(2);
  await erase(second);
  await pruneTables(api.db);
  expect(await countFiles()).toEqual({ stored: 0, noted: 0 });
});

it('concurrent erasures leave no attachments', async () => {
  const emails = await send(['for all'], 4);
  await Promise.all([...emails.map(erase), removeErasedAttachments(api.db), removeErasedAttachments(api.db)]);
  await pruneTables(api.db);
  expect(await countFiles()).toEqual({ stored: 0, noted: 0 });
});

it('one pruning of attachments has a limit of rows, and finds the emails by an index', async () => {
  for (const email of [...(await send(['a', 'b'])), ...(await send(['c']))]) await erase(email);
  await removeErasedAttachments(api.db, { rows: 1, rounds: 2 });
  expect(await countFiles()).toEqual({ stored: 1, noted: 1 });
  await removeErasedAttachments(api.db);
  await sql`
    INSERT INTO emails (project_id, content_id, source_type, options)
    SELECT ${api.one.id}, uuidv7(), 'TRANSACTIONAL', jsonb_build_object('attachmentIds', jsonb_build_array(uuidv7()))
    FROM generate_series(1, 20000)`.execute(api.db);
  await sql`VACUUM ANALYZE emails`.execute(api.db); // Before VACUUM, the index has new rows in a separate list.
  const ids = [uuidv7(), uuidv7()];
  const plan = await sql<{ 'QUERY PLAN': string }>`
    EXPLAIN DELETE FROM attachments a WHERE a.id = ANY(${ids}::uuid[])
      AND ${isAttachmentWithoutEmailSql}`.execute(api.db);
  const text = plan.rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(text).toContain('emails_attachments');
  expect(text).not.toContain('Seq Scan on emails');
});
