import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMailer, type Mailer } from '../../activities/emails/mailer.ts';
import { createSmtpProvider } from '../../channels/email/smtp/provider.ts';
import { createCompute } from '../../compute/compute.ts';
import { createSuppressionPads, findSuppressions } from '../../db/contacts/suppressions.ts';
import { claimEmails } from '../../db/sending/email-ledger.ts';
import { inTransaction } from '../../db/transaction.ts';
import { recordFeedback } from '../../engine/feedback/email-feedback.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { parseConfig } from '../../rules/config.ts';
import { classifyRefusal, parseDiagnostic } from '../../rules/emails/refusal.ts';
import { buildContact, buildEmail } from '../build/emails.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { buildSendingCampaign, createCampaignWorker } from '../support/campaign-worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';

const WORDS = '550 5.1.1 The email account does not exist';
const DELIVERY = '0190a000-0000-7000-8000-00000000d001';
const suppressionKey = deriveKey(TEST_SECRET_KEY, 'suppression');

let database: TestDatabase;
let sink: SmtpSink;
let refuses = true;
let mailer: Mailer;
let provider: ReturnType<typeof createSmtpProvider>;
let projectId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  sink = await startSmtpSink({ replyToRcpt: () => (refuses ? WORDS : null) });
  provider = createSmtpProvider({ url: sink.url });
  mailer = createMailer({
    config: parseConfig({
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      SECRET_KEY: TEST_SECRET_KEY,
      EMAIL_PROVIDER: 'smtp',
      SMTP_URL: sink.url,
    }),
    compute: createCompute({ cpuMsPerSecond: 0 }),
    db: database.db,
    provider,
    outbox: { wake: () => {} },
    endLog: () => {},
    log: { warn: () => {} },
  });
});
afterAll(async () => {
  await provider?.close();
  await sink?.close();
  await database?.drop();
});
beforeEach(async () => {
  refuses = true;
  projectId = (await buildProject(database.db, 'Refusals')).id;
  await buildDomain(database.db, { projectId, signing: false });
  await buildDomain(database.db, { projectId, domain: 'sender.test', signing: false });
});

async function deliver(id: string): Promise<void> {
  const emails = [{ id, deliveryId: DELIVERY }];
  const [email] = await claimEmails(database.db, {
    projectId,
    emails,
    suppressionPads: createSuppressionPads(suppressionKey),
  });
  if (!email) throw new Error('the email was not claimed');
  await mailer.deliver(email);
}

/** Sends an email that the first server refuses during the session. */
async function refuseInSession(id: string): Promise<void> {
  refuses = true;
  await deliver(id);
}

/** Sends an email that the first mail server accepts. A later server refuses it in a delivery status notification. */
async function refuseLater(id: string): Promise<void> {
  refuses = false;
  await deliver(id);
  const refusal = classifyRefusal({ ...parseDiagnostic(WORDS), stage: 'dsn' });
  const feedback = { kind: 'bounce' as const, at: new Date(), words: WORDS, refusal };
  await inTransaction(database.db, (trx) =>
    recordFeedback(trx, { emailId: id, feedback, suppressionKey, source: 'dsn' }),
  );
}

const WAYS = { 'an SMTP reply': refuseInSession, 'a notification': refuseLater };

async function buildEmailTo(email: string): Promise<{ id: string; contactId: string }> {
  const contactId = await buildContact(database.db, { projectId, email });
  return { contactId, id: await buildEmail(database.db, { projectId, contactId, to: email }) };
}

/** Returns all columns that a refusal writes, except times and ids. */
async function readRowsOfRefusal(id: string) {
  const { db } = database;
  const row = await db.selectFrom('emails').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const contact = await db
    .selectFrom('contacts')
    .select(['email', 'subscribed', 'was_unsubscribed'])
    .where('id', '=', row.contact_id ?? '')
    .executeTakeFirstOrThrow();
  const events = await db
    .selectFrom('events')
    .select(['name', 'data'])
    .where('project_id', '=', projectId)
    .where('name', 'in', ['email.bounce', 'contact.unsubscribed'])
    .orderBy('id')
    .execute();
  const suppressed = await findSuppressions(db, suppressionKey, { projectId, emails: [contact.email] });
  return {
    email: [row.status, row.reason, row.bounce_type, row.error],
    contact: [contact.subscribed, contact.was_unsubscribed],
    events: events.map(({ name, data }) => {
      const { bounceType, reason } = (data ?? {}) as Record<string, unknown>;
      return { name, bounceType, reason };
    }),
    suppressed: suppressed.get(contact.email),
  };
}

const EXPECTED = {
  email: ['BOUNCED', 'bounced:dead_mailbox', 'Permanent', WORDS],
  contact: [false, true],
  events: [
    { name: 'email.bounce', bounceType: 'Permanent', reason: undefined },
    { name: 'contact.unsubscribed', bounceType: undefined, reason: 'bounce' },
  ],
  suppressed: ['hard_bounce'],
};

describe('the same 550 reply leads to the same rows in the database', () => {
  it.each(Object.entries(WAYS))('when it arrives by %s', async (_, refuse) => {
    const { id } = await buildEmailTo('ada@example.com');
    await refuse(id);
    expect(await readRowsOfRefusal(id)).toEqual(EXPECTED);
  });

  it('when it refuses an email of a campaign', async () => {
    const worker = createCampaignWorker({ db: database.db, smtpUrl: sink.url });
    const start = await buildSendingCampaign(database.db, { projectId, count: 1, worker });
    await worker.send(start);
    await worker.close();
    const { id } = await database.db
      .selectFrom('emails')
      .select('id')
      .where('project_id', '=', projectId)
      .executeTakeFirstOrThrow();
    expect(await readRowsOfRefusal(id)).toEqual(EXPECTED);
  });
});

describe('a hard bounce of an address in a step that belongs to another contact', () => {
  it.each(Object.entries(WAYS))(
    'unsubscribes the contact that has the address, if the bounce arrives by %s',
    async (_, refuse) => {
      const own = await buildContact(database.db, { projectId, email: 'own@example.com' });
      const other = await buildContact(database.db, { projectId, email: 'other@example.com' });
      const id = await buildEmail(database.db, {
        projectId,
        contactId: own,
        to: 'Other@example.com',
        sourceType: 'WORKFLOW',
      });
      await refuse(id);
      const rows = await database.db
        .selectFrom('contacts')
        .select(['id', 'subscribed'])
        .where('project_id', '=', projectId)
        .execute();
      expect(new Map(rows.map((row) => [row.id, row.subscribed]))).toEqual(
        new Map([
          [own, true],
          [other, false],
        ]),
      );
    },
  );
});

describe('an execution that starts because an email of a step bounced', () => {
  it.each(Object.entries(WAYS))(
    'the execution has a depth one higher than the execution that sent the email, when the bounce arrives by %s',
    async (_, refuse) => {
      const { id, contactId } = await buildEmailTo('chained@example.com');
      const { rows } = await sql<{ id: string }>`
      WITH w AS (
        INSERT INTO workflows (project_id, name, slug, enabled, trigger_type, event_name)
        VALUES (${projectId}, 'causing', 'causing', true, 'EVENT', 'begin'), (${projectId}, 'caused', 'caused', true, 'EVENT', 'contact.unsubscribed')
        RETURNING id, name
      ), x AS (
        INSERT INTO executions (id, project_id, workflow_id, contact_id, entry, depth)
        SELECT gen_random_uuid(), ${projectId}, w.id, ${contactId}, 1, 4 FROM w WHERE name = 'causing' RETURNING id
      )
      UPDATE emails SET source_type = 'WORKFLOW', execution_id = x.id, visit = 1 FROM x WHERE emails.id = ${id} RETURNING x.id
    `.execute(database.db);
      expect(rows).toHaveLength(1);
      await refuse(id);
      const depths = await sql<{ depth: number }>`
      SELECT x.depth FROM executions x JOIN workflows w ON w.id = x.workflow_id
      WHERE x.project_id = ${projectId} AND w.name = 'caused'
    `.execute(database.db);
      expect(depths.rows).toEqual([{ depth: 5 }]);
    },
  );
});
