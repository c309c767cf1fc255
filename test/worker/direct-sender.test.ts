import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEmailAttempts, type EmailAttempts } from '../../activities/emails/attempts.ts';
import { createMailer, type Mailer } from '../../activities/emails/mailer.ts';
import { createSendRates } from '../../activities/emails/send-rates.ts';
import { createSmsAttempts } from '../../activities/sms/attempts.ts';
import { createSmtpProvider } from '../../channels/email/smtp/provider.ts';
import type { SmsProvider, SmsResult } from '../../channels/sms/provider.ts';
import { createCompute } from '../../compute/compute.ts';
import { connect } from '../../db/connection.ts';
import { createSuppressionPads } from '../../db/contacts/suppressions.ts';
import { enqueue } from '../../db/outbox/outbox.ts';
import { claimEmails } from '../../db/sending/email-ledger.ts';
import { claimSms } from '../../db/sms/ledger.ts';
import { inTransaction } from '../../db/transaction.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { parseConfig } from '../../rules/config.ts';
import { padHmacKey } from '../../rules/emails/suppression.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { toWallTime, writeLocalTime } from '../../rules/time/local-time.ts';
import { ALL_DAYS } from '../../rules/time/sending-window.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { createEmailChannel, createLargeEmailChannel, createSmsChannel } from '../../worker/direct-channels.ts';
import { type DirectChannel, startDirectSender } from '../../worker/direct-sender.ts';
import { type BuildEmail, buildContact, buildEmail } from '../build/emails.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';

const suppressionKey = deriveKey(TEST_SECRET_KEY, 'suppression');

/** Temporal does not run in these tests, because single emails and SMS are sent without it. */
const log = pino({ level: 'silent' });
const pads = createSuppressionPads(deriveKey(TEST_SECRET_KEY, 'suppression'));
const config = parseConfig({
  DATABASE_URL: 'postgres://unused',
  TEMPORAL_ADDRESS: '127.0.0.1:1',
  SECRET_KEY: TEST_SECRET_KEY,
  EMAIL_PROVIDER: 'smtp',
  SMTP_URL: 'smtp://127.0.0.1:1',
});

const HOUR_MS = 3_600_000;
/** Returns the local time of an instant as `HH:MM`. */
const getHour = (zone: string, atMs: number) => writeLocalTime(toWallTime(zone, atMs)).slice(11);

let database: TestDatabase;
let sink: SmtpSink;
let provider: ReturnType<typeof createSmtpProvider>;
let mailer: Mailer;
let emailAttempts: EmailAttempts;
let projectId: string;
const senders: { stop(): Promise<void> }[] = [];
/** Returns the SMS provider's response to each SMS. */
let respondToSms: (to: string) => Promise<SmsResult> | SmsResult = () => ACCEPTED;
const smsSent: string[] = [];
const ACCEPTED: SmsResult = { outcome: 'accepted', providerMessageId: null, status: 'SENT' };

const outbox = { wake: (_rows: OutboxRow[]) => {} };
const smsProvider: SmsProvider = {
  kind: 'twilio',
  send: async ({ id, to }) => {
    smsSent.push(id);
    return respondToSms(to);
  },
};

beforeAll(async () => {
  database = await createTestDatabase();
  sink = await startSmtpSink();
  provider = createSmtpProvider({ url: sink.url });
  const { db } = database;
  mailer = createMailer({
    config,
    compute: createCompute({ cpuMsPerSecond: 0 }),
    db,
    provider,
    outbox,
    log,
    endLog: () => {},
  });
  emailAttempts = createEmailAttempts({ config, db, mailer, rates: createSendRates({ db, installationRate: 0 }) });
});
afterAll(async () => {
  await provider.close();
  await sink.close();
  await database.drop();
});
beforeEach(async () => {
  projectId = (await buildProject(database.db, 'Mail')).id;
  await buildDomain(database.db, { projectId });
  sink.reset();
  smsSent.length = 0;
  respondToSms = () => ACCEPTED;
});
afterEach(async () => {
  await Promise.all(senders.splice(0).map((sender) => sender.stop()));
  await sql`DELETE FROM outbox`.execute(database.db);
});

function runChannel(channel: DirectChannel) {
  const sender = startDirectSender({ db: database.db, channel, gate: { isOpen: () => true }, log });
  senders.push(sender);
  return sender;
}

function runEmailChannel() {
  return runChannel(createEmailChannel(createDeps()));
}

function createDeps(db = database.db) {
  const smsAttempts = createSmsAttempts({ db, provider: smsProvider, outbox, endLog: () => {}, suppressionKey });
  return { db, outbox, emailAttempts, smsAttempts };
}

async function acceptEmail(email: Partial<BuildEmail> = {}): Promise<string> {
  const id = await buildEmail(database.db, { projectId, ...email });
  await enqueueMessage(id, email.projectId);
  return id;
}

function enqueueMessage(refId: string, project = projectId, kind: 'email.deliver' | 'sms.deliver' = 'email.deliver') {
  return inTransaction(database.db, (trx) => enqueue(trx, [{ projectId: project, kind, refId }]));
}

const readEmail = (id: string) =>
  database.db.selectFrom('emails').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const readOutboxRow = (refId: string) =>
  database.db
    .selectFrom('outbox')
    .select(['kind', 'priority', 'attempts', 'payload'])
    .where('ref_id', '=', refId)
    .execute();
const waitForSent = (id: string) => until(async () => (await readEmail(id)).status === 'SENT', 'the email');

describe('a single email of the direct sender', () => {
  it('is sent without Temporal, and its outbox row is deleted when its record becomes SENT', async () => {
    const id = await acceptEmail();
    runEmailChannel();
    await waitForSent(id);
    expect(sink.messages.map(({ to }) => to)).toEqual(['ada@example.com']);
    expect(await readOutboxRow(id)).toEqual([]);
  });

  it('does not wait for large emails of its project, two of which are sent at a time', async () => {
    const large = await Promise.all([1, 2, 3].map(() => buildEmail(database.db, { projectId })));
    for (const refId of large) {
      const row = { projectId, kind: 'email.deliver' as const, refId, payload: { large: true as const } };
      await inTransaction(database.db, (trx) => enqueue(trx, [row]));
    }
    const begun: string[] = [];
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const channel = createLargeEmailChannel(createDeps());
    runChannel({
      ...channel,
      attempt: async (project, rows, stop) => {
        begun.push(...rows.map(({ refId }) => refId));
        await gate;
        return channel.attempt(project, rows, stop);
      },
    });
    await until(async () => begun.length === 2, 'two large emails');
    const small = await acceptEmail();
    runEmailChannel();
    await waitForSent(small);
    expect(begun).toEqual(large.slice(0, 2));
    open();
    await Promise.all(large.map(waitForSent));
    expect(await Promise.all(large.map(readOutboxRow))).toEqual([[], [], []]);
  });

  it('is handed to Temporal with the time of its next attempt if it was deferred', async () => {
    const id = await acceptEmail({ to: 'defer450-4.2.1@example.com' });
    runEmailChannel();
    const [row] = await until(async () => {
      const rows = await readOutboxRow(id);
      return rows[0]?.kind === 'email.retry' && rows;
    }, 'the hand-over');
    const waitMs = Date.parse(String((row?.payload as { dueAt?: string } | undefined)?.dueAt)) - Date.now();
    expect(row).toMatchObject({ priority: 2, attempts: 0 });
    expect(waitMs).toBeGreaterThan(20_000);
    expect(await readEmail(id)).toMatchObject({ status: 'PENDING', attempts: 1, delivery_id: null, claim: null });
  });

  it('is handed to Temporal after the lease if its worker was killed during the attempt, and the killed worker records nothing', async () => {
    const id = await acceptEmail();
    const [row] = await database.db.selectFrom('outbox').select('id').where('ref_id', '=', id).execute();
    const [claimed] = await claimEmails(database.db, {
      projectId,
      emails: [{ id, deliveryId: row?.id ?? '' }],
      suppressionPads: pads,
    });
    await sql`UPDATE outbox SET attempts = 1 WHERE ref_id = ${id}`.execute(database.db);
    runEmailChannel();
    await until(async () => (await readOutboxRow(id))[0]?.kind === 'email.retry', 'the hand-over');
    expect(await readEmail(id)).toMatchObject({ status: 'PENDING', claim: null, delivery_id: null });
    if (!claimed) throw new Error('not claimed');
    const late = await mailer.deliver(claimed);
    expect(late.recorded).toBe(false);
    expect(await readEmail(id)).toMatchObject({ status: 'PENDING', sent_at: null });
  });

  it('is not attempted while it is held, and its row is deleted: the release queues it again', async () => {
    const contactId = await buildContact(database.db, { projectId });
    await sql`UPDATE projects SET held_at = now() WHERE id = ${projectId}`.execute(database.db);
    const id = await acceptEmail({ contactId, type: 'MARKETING' });
    runEmailChannel();
    await until(async () => (await readEmail(id)).status === 'HELD', 'the hold');
    expect(await readEmail(id)).toMatchObject({ attempts: 0 });
    expect(await readOutboxRow(id)).toEqual([]);
  });

  it('is sent once if its row was queued twice', async () => {
    const id = await acceptEmail();
    await enqueueMessage(id);
    runEmailChannel();
    await waitForSent(id);
    await until(async () => (await readOutboxRow(id)).length === 0, 'an empty outbox');
    expect(sink.messages).toHaveLength(1);
  });
});

describe('a single email of a project with a send rate', () => {
  it('waits for the rate without an attempt and without delaying others', async () => {
    await sql`UPDATE projects SET send_rate_per_second = 2 WHERE id = ${projectId}`.execute(database.db);
    const mine: string[] = [];
    for (let n = 0; n < 60; n += 1) mine.push(await acceptEmail({ to: `mine${n}@example.com` }));
    const other = (await buildProject(database.db, 'Other')).id;
    await buildDomain(database.db, { projectId: other });
    const sender = runEmailChannel();
    await until(async () => sink.messages.length > 0, 'the first email');
    const theirs = await acceptEmail({ projectId: other, to: 'theirs@example.com' });
    sender.wake();
    await waitForSent(theirs);
    const waiting = await database.db
      .selectFrom('emails')
      .select('attempts')
      .where('id', 'in', mine)
      .where('status', '=', 'PENDING')
      .execute();
    expect(waiting.length).toBeGreaterThan(40);
    expect(new Set(waiting.map(({ attempts }) => attempts))).toEqual(new Set([0]));
  });

  it('does not count toward the rate if it was sent with a test key', async () => {
    await sql`UPDATE projects SET send_rate_per_second = 1 WHERE id = ${projectId}`.execute(database.db);
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push(await acceptEmail({ mode: 'test' }));
    runEmailChannel();
    await Promise.all(ids.map(waitForSent));
    expect(sink.messages).toEqual([]);
  });
});

describe('a worker that stops', () => {
  it('releases messages that it has not attempted', async () => {
    const stop = new AbortController();
    stop.abort();
    const id = await acceptEmail();
    const emails = [{ id, deliveryId: uuidv7() }];
    const [attempted] = await emailAttempts.attempt({
      projectId,
      emails,
      expiresAt: new Date(Date.now() + 60_000),
      stop: stop.signal,
    });
    expect(attempted?.outcome.kind).toBe('stopped');
    expect(await readEmail(id)).toMatchObject({ status: 'PENDING', attempts: 0, claim: null });
    expect(sink.messages).toEqual([]);
  });
});

describe('an SMS of the direct sender', () => {
  interface SmsSource {
    executionId?: string;
    marketing?: boolean;
    sandbox?: boolean;
    contactId?: string;
  }

  async function acceptSms(to: string, of: SmsSource = {}): Promise<string> {
    const id = uuidv7();
    const { executionId = null, marketing = null, sandbox = false, contactId = null } = of;
    await sql`
      INSERT INTO sms_messages (id, project_id, to_phone, from_phone, country, body, encoding, segments, mode, status,
        contact_id, execution_id, marketing, sandbox)
      VALUES (${id}, ${projectId}, ${to}, '+4930123', 'DE', 'x', 'GSM7', 1, 'live', 'PENDING',
        ${contactId}, ${executionId}, ${marketing}, ${sandbox})
    `.execute(database.db);
    await enqueueMessage(id, projectId, 'sms.deliver');
    return id;
  }
  const readSms = (id: string) =>
    database.db.selectFrom('sms_messages').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

  it('is sent without Temporal, and is handed to Temporal if it was deferred', async () => {
    respondToSms = (to) => (to === '+492' ? { outcome: 'later', error: 'busy', status: '503' } : ACCEPTED);
    const [ok, later] = [await acceptSms('+491'), await acceptSms('+492')];
    runChannel(createSmsChannel(createDeps()));
    await until(async () => (await readSms(ok)).status === 'SENT', 'the SMS');
    const [handedOver] = await until(async () => {
      const rows = await readOutboxRow(later);
      return rows[0]?.kind === 'sms.retry' && rows;
    }, 'the hand-over');
    expect(handedOver?.payload).toMatchObject({ last: { attempt: 1, status: '503' } });
    expect(await readOutboxRow(ok)).toEqual([]);
    expect(await readSms(later)).toMatchObject({ status: 'PENDING', delivery_id: null });
  });

  const setWindow = (window: object | null) =>
    database.db
      .updateTable('projects')
      .set({ sending_window: window && JSON.stringify({ days: ALL_DAYS, ...window }) })
      .where('id', '=', projectId)
      .execute();
  const attemptSms = async (id: string, expiresAt = new Date(Date.now() + 60_000)) => {
    const messages = [{ id, deliveryId: '0190a000-0000-7000-8000-00000000d001' }];
    const [result] = await createDeps().smsAttempts.attempt({ projectId, messages, expiresAt });
    return result?.outcome;
  };

  it('waits for the sending window before each attempt if it is MARKETING of a workflow', async () => {
    const opensMs = Math.ceil(Date.now() / 60_000) * 60_000 + 2 * HOUR_MS;
    const [from, to] = [getHour('UTC', opensMs), getHour('UTC', opensMs + HOUR_MS)];
    await setWindow({ from, to, timezone: 'UTC' });
    const executionId = uuidv7();
    const waiting = await acceptSms('+491', { executionId, marketing: true });
    const older = await acceptSms('+492', { executionId });
    const sent = [
      await acceptSms('+493', { executionId, marketing: false }),
      await acceptSms('+494', { executionId, marketing: true, sandbox: true }),
      await acceptSms('+495', { marketing: true }),
    ];
    runChannel(createSmsChannel(createDeps()));
    for (const id of sent) await until(async () => (await readSms(id)).status === 'SENT', 'the SMS');
    for (const id of [waiting, older]) {
      const [handedOver] = await until(async () => {
        const rows = await readOutboxRow(id);
        return rows[0]?.kind !== 'sms.deliver' && rows;
      }, 'the hand-over');
      expect(handedOver?.payload).toEqual({ dueAt: new Date(opensMs).toISOString() });
      // An attempt that finds the sending window closed does not count as an attempt.
      expect(await readSms(id)).toMatchObject({ status: 'PENDING', attempts: 0, claim: null, delivery_id: null });
    }
    expect(await attemptSms(waiting)).toEqual({ kind: 'outside_window', dueAt: new Date(opensMs) });
    expect(smsSent.toSorted()).toEqual(sent.toSorted());
    await setWindow(null);
    expect(await attemptSms(waiting)).toEqual({ kind: 'accepted' });
    expect(await readSms(waiting)).toMatchObject({ status: 'SENT', attempts: 1 });
  });

  it("waits for the sending window in the contact's time zone if it is set so", async () => {
    const zone = 'Asia/Kathmandu';
    await setWindow({
      from: getHour(zone, Date.now() - HOUR_MS),
      to: getHour(zone, Date.now() + HOUR_MS),
      timezone: 'contact',
    });
    const attemptSmsTo = async (timezone: string) => {
      const contactId = await buildContact(database.db, { projectId, data: { timezone } });
      return attemptSms(await acceptSms('+491', { executionId: uuidv7(), contactId }));
    };
    expect(await attemptSmsTo(zone)).toEqual({ kind: 'accepted' });
    expect(await attemptSmsTo('Asia/Tokyo')).toMatchObject({ kind: 'outside_window' });
  });

  it('does not expire because of the time during which its sending window was closed', async () => {
    respondToSms = () => ({ outcome: 'later', error: 'busy', status: '503' });
    const now = Date.now();
    await setWindow({ from: getHour('UTC', now - HOUR_MS), to: getHour('UTC', now + HOUR_MS), timezone: 'UTC' });
    // The window opens for two hours on each day, so the SMS have been retried for 6 hours.
    const expiresAt = new Date(now - 2 * 24 * HOUR_MS);
    expect(await attemptSms(await acceptSms('+491', { executionId: uuidv7() }), expiresAt)).toMatchObject({
      kind: 'deferred',
    });
    expect(await attemptSms(await acceptSms('+492'), expiresAt)).toEqual({ kind: 'failed' });
  });

  it('is sent once, although Postgres fails briefly while other messages are on the wire', async () => {
    const own = connect({ connectionString: database.url, max: 4, applicationName: 'hiccup', onError: () => {} });
    const { db } = own;
    const ids: string[] = [];
    for (let n = 0; n < 10; n += 1) ids.push(await acceptSms(`+49${n + 10}`));
    let cut = false;
    respondToSms = async () => {
      if (!cut) {
        cut = true;
        // Breaks every connection of the sender after the provider has responded and before the result is recorded.
        await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hiccup'`.execute(
          database.db,
        );
      }
      return ACCEPTED;
    };
    const deliveryId = uuidv7();
    const { attempt } = createSmsAttempts({ db, provider: smsProvider, outbox, endLog: () => {}, suppressionKey });
    const messages = ids.map((id) => ({ id, deliveryId }));
    const attempted = await attempt({ projectId, messages, expiresAt: new Date(Date.now() + 60_000) });
    expect(new Set(attempted.map(({ outcome }) => outcome.kind))).toEqual(new Set(['accepted']));
    expect(await claimSms(database.db, { projectId, messages, pads: padHmacKey(suppressionKey) })).toEqual([]);
    expect(smsSent).toHaveLength(10);
    await db.destroy();
  });
});

describe('a deferred message', () => {
  it('wakes the outbox only after the row of its next attempt is committed', async () => {
    respondToSms = () => ({ outcome: 'later', error: 'busy', status: '503' });
    const id = uuidv7();
    await sql`
      INSERT INTO sms_messages (id, project_id, to_phone, from_phone, country, body, encoding, segments, mode, status)
      VALUES (${id}, ${projectId}, '+493', '+4930123', 'DE', 'x', 'GSM7', 1, 'live', 'PENDING')
    `.execute(database.db);
    await enqueueMessage(id, projectId, 'sms.deliver');
    const seenAtWake: Promise<string | undefined>[] = [];
    const dispatch = (rows: OutboxRow[]) => {
      for (const { refId } of rows) seenAtWake.push(readOutboxRow(refId).then(([row]) => row?.kind));
    };
    const { db } = database;
    const smsAttempts = createSmsAttempts({
      db,
      provider: smsProvider,
      outbox: { wake: dispatch },
      endLog: () => {},
      suppressionKey,
    });
    runChannel(createSmsChannel({ db, outbox: { wake: dispatch }, emailAttempts, smsAttempts }));
    await until(async () => seenAtWake.length > 0, 'the wake');
    expect(await Promise.all(seenAtWake)).toEqual(['sms.retry']);
  });
});
