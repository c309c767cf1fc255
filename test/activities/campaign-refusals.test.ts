import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { countCampaignRecipients } from '../../db/campaigns/stats.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { buildSendingCampaign, type CampaignWorker, createCampaignWorker } from '../support/campaign-worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';

let database: TestDatabase;
let sink: SmtpSink;
let worker: CampaignWorker;

beforeAll(async () => {
  database = await createTestDatabase();
  sink = await startSmtpSink();
  worker = createCampaignWorker({ db: database.db, smtpUrl: sink.url });
});

afterAll(async () => {
  await worker?.close();
  await sink?.close();
  await database?.drop();
});

/** Deletes one refusal, so that it can no longer be read. A claim of the same contact by another campaign does this. */
async function deleteOneRefusal(): Promise<void> {
  await sql`
    CREATE FUNCTION forget_one() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF pg_trigger_depth() = 1 AND NOT EXISTS (SELECT FROM frequency_slots WHERE wanted = ARRAY[contact_id]) THEN
        UPDATE frequency_slots SET mails = mails - new.wanted[1]::text, wanted = ARRAY[contact_id] WHERE contact_id = new.contact_id;
      END IF;
      RETURN NULL;
    END $$`.execute(database.db);
  await sql`CREATE TRIGGER forget_one AFTER UPDATE ON frequency_slots FOR EACH ROW EXECUTE FUNCTION forget_one()`.execute(
    database.db,
  );
}

it('a chunk continues at once, without waiting for the provider, if its frequency cap refusals are deleted before it reads them', async () => {
  const { db } = database;
  const projectId = (await buildProject(db, 'Capped')).id;
  await buildDomain(db, { projectId, domain: 'sender.test', signing: false });
  const start = await buildSendingCampaign(db, { projectId, count: 3, worker });
  const readCounts = () => countCampaignRecipients(db, { projectId, id: start.campaignId });
  await sql`UPDATE projects SET frequency_max = 1, frequency_days = 1 WHERE id = ${projectId}`.execute(db);
  await sql`
    INSERT INTO frequency_slots (contact_id, project_id, wanted, mails)
    SELECT id, project_id, '{}', jsonb_build_object(gen_random_uuid(), extract(epoch FROM now())) FROM contacts
    WHERE project_id = ${projectId}`.execute(db);
  await deleteOneRefusal();
  expect(await worker.send(start)).toMatchObject({ outcome: 'more', sent: 0, retryAfterMs: 0 });
  expect(await readCounts()).toMatchObject({ skipped: 2, pending: 1 });
  await sql`DROP TRIGGER forget_one ON frequency_slots`.execute(db);
  expect(await worker.send(start)).toMatchObject({ outcome: 'done', sent: 0 });
  expect(await readCounts()).toMatchObject({ skipped: 3, pending: 0 });
});
