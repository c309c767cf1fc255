import { afterAll, beforeAll, expect, it } from 'vitest';
import { findFreePort } from '../../cli/start/ports.ts';
import { createLinkTokens } from '../../rules/content/link-tokens.ts';
import { buildContact, buildEmail } from '../build/emails.ts';
import { TEST_SECRET_KEY } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type HostProcess, startHostProcess } from '../support/host-process.ts';
import { until } from '../support/until.ts';

const MAILS = 50;

let database: TestDatabase;
let baseUrl: string;
let host: HostProcess | undefined;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await host?.kill();
  await database.drop();
});

async function startApi(): Promise<HostProcess> {
  const port = await findFreePort();
  baseUrl = `http://127.0.0.1:${port}`;
  const env = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    SECRET_KEY: TEST_SECRET_KEY,
    PORT: String(port),
  };
  host = await startHostProcess('api', env, () =>
    fetch(`${baseUrl}/health/live`).then(
      (response) => response.ok,
      () => false,
    ),
  );
  return host;
}

async function buildSentEmails(): Promise<string[]> {
  const { id: projectId } = await buildProject(database.db, 'Tracking');
  return Promise.all(
    Array.from({ length: MAILS }, async () => {
      const contactId = await buildContact(database.db, { projectId });
      return buildEmail(database.db, { projectId, contactId, status: 'SENT' });
    }),
  );
}

/** Opens every email concurrently. Returns when each open has a response. */
async function openEmails(ids: string[]): Promise<void> {
  const urls = ids.map((id) => `${baseUrl}/o/${createLinkTokens(TEST_SECRET_KEY, id).track}.gif`);
  const responses = await Promise.all(urls.map((url) => fetch(url)));
  expect(responses.every((response) => response.ok)).toBe(true);
}

async function countOpens(ids: string[]) {
  const emails = await database.db.selectFrom('emails').select(['opens', 'status']).where('id', 'in', ids).execute();
  const events = await database.db.selectFrom('events').select('id').where('email_id', 'in', ids).execute();
  return { opens: emails.reduce((sum, email) => sum + email.opens, 0), events: events.length };
}

it('a stopping API stores every open that it has confirmed', async () => {
  const ids = await buildSentEmails();
  const api = await startApi();
  await openEmails(ids);
  await api.stop();
  expect(await countOpens(ids)).toEqual({ opens: MAILS, events: MAILS });
});

it('a killed API loses only the last opens, and stores none twice or in part', async () => {
  const [early, late] = await Promise.all([buildSentEmails(), buildSentEmails()]);
  const api = await startApi();
  await openEmails(early);
  // The API writes opens within 100 ms, but later on a busy machine.
  await until(async () => (await countOpens(early)).opens === MAILS, 'the opens to be written');
  await openEmails(late);
  await api.kill();
  expect(await countOpens(early)).toEqual({ opens: MAILS, events: MAILS });
  const { opens, events } = await countOpens(late);
  expect(opens).toBe(events);
});
