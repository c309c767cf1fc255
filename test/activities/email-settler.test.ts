import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createEmailSettler } from '../../activities/emails/settler.ts';
import { connect, type Db } from '../../db/connection.ts';
import { claimEmails } from '../../db/sending/email-ledger.ts';
import { padHmacKey } from '../../rules/emails/suppression.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy.ts';
import { until } from '../support/until.ts';

const suppressionKey = Buffer.alloc(32, 7);

let database: TestDatabase;
let projectId: string;
let proxy: PostgresProxy;
let db: Db;
let hooked: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  projectId = (await buildProject(database.db, 'One')).id;
});
beforeEach(async () => {
  hooked = [];
  proxy = await startPostgresProxy(database.url);
  ({ db } = connect({ connectionString: proxy.url, max: 2, applicationName: 'test', onError: () => {} }));
});
afterEach(async () => {
  await db.destroy();
  await proxy.close();
});
afterAll(() => database?.drop());

async function buildClaimedEmails(count: number) {
  const contentId = uuidv7();
  await sql`
    INSERT INTO contents (id, project_id, hash, subject, body, type, from_email)
    VALUES (${contentId}, ${projectId}, uuid_send(${contentId}), 'Hi', 'Hi', 'TRANSACTIONAL', 'a@example.com')
  `.execute(database.db);
  const emails = Array.from({ length: count }, () => ({ id: uuidv7(), deliveryId: uuidv7() }));
  await sql`
    INSERT INTO emails (id, project_id, content_id, source_type, to_email)
    SELECT id, ${projectId}, ${contentId}, 'TRANSACTIONAL', 'b@example.com' FROM unnest(${emails.map((m) => m.id)}::uuid[]) AS id
  `.execute(database.db);
  return claimEmails(database.db, { projectId, emails, suppressionPads: padHmacKey(suppressionKey) });
}
function settleEmails(emails: Awaited<ReturnType<typeof claimEmails>>) {
  const settler = createEmailSettler({
    db,
    suppressionKey,
    source: 'smtp',
    outbox: { wake: () => {} },
    guard: { reportAccepted: () => {} },
    endLog: () => {},
  });
  const outcome = { kind: 'accepted', providerMessageId: 'x', subject: 'Hi' } as const;
  return Promise.all(
    emails.map((email) =>
      settler.settle({ email, outcome, event: null }, async (_, settled) => {
        hooked.push(...settled.map((one) => one.email.id));
        return { values: settled.map(() => 'completed') };
      }),
    ),
  );
}
/** Returns the number of live emails counted as accepted. A result that was recorded twice counts twice. */
const countOutcomes = async () => {
  const { rows } = await sql<{ n: number }>`SELECT coalesce(sum(mails), 0)::int AS n FROM send_outcomes`.execute(
    database.db,
  );
  return rows[0]?.n ?? 0;
};

it('results are recorded once, and the hook’s values are returned, if the response to COMMIT is lost', async () => {
  const before = await countOutcomes();
  proxy.loseCommit('response', { skip: 1 });
  const settled = await settleEmails(await buildClaimedEmails(4));
  expect(settled).toEqual(Array.from({ length: 4 }, () => ({ recorded: true, value: 'completed' })));
  expect(await countOutcomes()).toBe(before + 4);
});

it('results whose COMMIT was lost when Postgres stopped are recorded after Postgres starts again', async () => {
  const emails = await buildClaimedEmails(1);
  proxy.loseCommit('request', { later: 'refused' });
  const settling = settleEmails(emails);
  await until(async () => hooked.length > 0, 'the first attempt');
  await until(async () => proxy.commits > 0, 'the COMMIT');
  proxy.open();
  expect(await settling).toEqual([{ recorded: true, value: 'completed' }]);
  const { rows } = await sql`SELECT status FROM emails WHERE id = ${emails[0]?.id}`.execute(database.db);
  expect(rows).toEqual([{ status: 'SENT' }]);
});
