import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFeedbackRecorder } from '../../api/accept/feedback-recorder.ts';
import { createSuppressionPads } from '../../db/contacts/suppressions.ts';
import { putProjectOnHold } from '../../db/projects/projects.ts';
import { claimEmails } from '../../db/sending/email-ledger.ts';
import { inTransaction } from '../../db/transaction.ts';
import { recordEmailResults } from '../../engine/attempts/email-outcomes.ts';
import { releaseProject } from '../../engine/projects/project-changes.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { parseConfig } from '../../rules/config.ts';
import { type RecordedOutcome, createRefusedOutcome as refusedAs } from '../../rules/emails/attempt-outcome.ts';
import { classifyRefusal, parseDiagnostic } from '../../rules/emails/refusal.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { buildContact, buildEmail } from '../build/emails.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { buildProject, type TestProject } from '../support/api.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';

const POLICY = '550 5.7.26 Unauthenticated email from sender.test is not accepted due to its DMARC policy';
const suppressionKey = deriveKey(TEST_SECRET_KEY, 'suppression');
let service: TestService;
let sink: SmtpSink;
let dns: DnsServer;
let project: TestProject;
let refusing: (to: string) => boolean;
let taken = 0;

beforeAll(async () => {
  dns = await startDnsServer({ 'to.test': { MX: ['20 backup.other.test', '10 mx1.bigmail.test'] } });
  sink = await startSmtpSink({
    replyToRcpt: (to) => {
      if (refusing(to)) return POLICY;
      taken += 1;
      return null;
    },
  });
  service = await startTestService({ EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url, DNS_SERVERS: dns.address });
});

beforeEach(async () => {
  refusing = () => false;
  taken = 0;
  sink.reset();
  project = await buildProject(service.db, 'Guarded');
  await buildDomain(service.db, { projectId: project.id, domain: 'sender.test', signing: false });
  await sql`
    WITH u AS (INSERT INTO users (email, password_hash) VALUES (${`owner-${project.id}@owners.test`}, '-') RETURNING id)
    INSERT INTO memberships (project_id, user_id, role) SELECT ${project.id}, id, 'OWNER' FROM u
  `.execute(service.db);
});

afterAll(async () => {
  await service?.close();
  await sink?.close();
  await dns?.close();
});

async function readHold() {
  const { body } = await service.call('GET', '/health', { key: project.secretKey });
  return body.project.hold as { held: boolean; reason: string | null };
}

async function countStatuses(campaignId: string): Promise<Record<string, number>> {
  const { rows } = await sql<{ what: string; n: number }>`
    SELECT status || coalesce(' ' || reason, '') AS what, count(*) AS n FROM emails WHERE campaign_id = ${campaignId} GROUP BY 1
  `.execute(service.db);
  return Object.fromEntries(rows.map((row) => [row.what, row.n]));
}

const listNotices = () => sink.messages.filter(({ to }) => to === `owner-${project.id}@owners.test`);

/** Builds emails that are being sent, and records their outcomes in one transaction, as the sender does for a batch. */
async function recordOutcomes(count: number, p: { outcome: RecordedOutcome; mode?: KeyMode }): Promise<OutboxRow[]> {
  const { db } = service;
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const contactId = await buildContact(db, { projectId: project.id });
    ids.push(await buildEmail(db, { projectId: project.id, contactId, mode: p.mode ?? 'live', from: 'a@sender.test' }));
  }
  const claimed = await claimEmails(db, {
    projectId: project.id,
    emails: ids.map((id) => ({ id, deliveryId: '0190a000-0000-7000-8000-000000000001' })),
    suppressionPads: createSuppressionPads(suppressionKey),
  });
  const results = claimed.map((email) => ({ email, outcome: p.outcome, event: null }));
  const { recorded, outbox } = await inTransaction(db, (trx) =>
    recordEmailResults(trx, { projectId: project.id, results, suppressionKey, source: 'smtp' }),
  );
  expect(recorded.size).toBe(count);
  return outbox;
}

const sent: RecordedOutcome = { kind: 'accepted', providerMessageId: null, subject: '' };
const classifyText = (text: string) => classifyRefusal({ ...parseDiagnostic(text), stage: 'rcpt' });
const dead = refusedAs(classifyText('550 5.1.1 no such user'), 'no');
const refused: RecordedOutcome = {
  ...refusedAs(classifyText(POLICY), POLICY),
  provider: 'bigmail.test',
} as RecordedOutcome;

it('a campaign goes on hold when the provider starts to refuse the sender; no contact is unsubscribed, and each held email is sent once', async () => {
  await buildContacts(service.db, { projectId: project.id, count: 3_000 });
  // The provider refuses all emails after the 150th, as it would if someone removed the sender's DKIM record.
  refusing = (to) => to.endsWith('@to.test') && taken >= 150;
  const { body } = await service.call('POST', '/campaigns', { key: project.secretKey, body: createCampaignBody() });
  const id: string = body.data.id;
  await service.call('POST', `/campaigns/${id}/send`, { key: project.secretKey, body: {} });
  await until(async () => ((await readHold()).held ? true : undefined), 'the hold');
  expect((await readHold()).reason).toMatch(/^bigmail\.test refused \d+ of the last 100 emails because of the sender$/);
  const stopped = await until(async () => {
    const seen = await countStatuses(id);
    return !seen.PENDING && !seen.SENDING ? seen : undefined;
  }, 'everything else HELD');
  expect(stopped.HELD).toBeGreaterThan(0);
  expect(stopped['FAILED provider_rejected']).toBeGreaterThanOrEqual(20);
  expect((stopped.SENT ?? 0) + (stopped.HELD ?? 0) + (stopped['FAILED provider_rejected'] ?? 0)).toBe(3_000);
  const { rows } = await sql<{ out: number; suppressed: number }>`
    SELECT (SELECT count(*) FROM contacts WHERE project_id = ${project.id} AND NOT subscribed) AS out,
      (SELECT count(*) FROM suppressions WHERE project_id = ${project.id}) AS suppressed
  `.execute(service.db);
  expect(rows[0]).toEqual({ out: 0, suppressed: 0 });
  await until(async () => listNotices().length > 0, 'the notice to the owner');

  refusing = () => false;
  const { outbox } = await inTransaction(service.db, (trx) => releaseProject(trx, project.id));
  expect(outbox.length).toBeGreaterThan(0);
  const ended = await until(async () => {
    const campaign = await service.call('GET', `/campaigns/${id}`, { key: project.secretKey });
    return campaign.body.status === 'SENT' ? await countStatuses(id) : undefined;
  }, 'the campaign to end');
  expect(ended.SENT).toBe(3_000 - (stopped['FAILED provider_rejected'] ?? 0));
  expect([...sink.perRecipient().values()].every((times) => times === 1)).toBe(true);
  expect((await readHold()).held).toBe(false);
  expect(listNotices()).toHaveLength(1);
});

it('a hold makes all recipients of a campaign HELD, also in chunks that wait for a lane, and sends to each recipient once', async () => {
  const { db } = service;
  await buildContacts(db, { projectId: project.id, count: 2_500 });
  // Chunks of a project with a send rate are sent one after the other, in one lane.
  await db.updateTable('projects').set({ send_rate_per_second: 1_000 }).where('id', '=', project.id).execute();
  await inTransaction(db, (trx) => putProjectOnHold(trx, { projectId: project.id, reason: 'a list looks bought' }));
  const { body } = await service.call('POST', '/campaigns', { key: project.secretKey, body: createCampaignBody() });
  const id: string = body.data.id;
  await service.call('POST', `/campaigns/${id}/send`, { key: project.secretKey, body: {} });
  await until(async () => (await countStatuses(id)).HELD === 2_500, 'every recipient HELD');

  await inTransaction(db, (trx) => releaseProject(trx, project.id));
  await until(async () => (await countStatuses(id)).SENT === 2_500, 'every recipient SENT');
  expect(sink.perRecipient().size).toBe(2_500);
  expect([...sink.perRecipient().values()].every((times) => times === 1)).toBe(true);
});

describe('bounce rates of a project', () => {
  it('put the project on hold at 10 % hard bounces of 200 emails, and not earlier', async () => {
    await recordOutcomes(180, { outcome: sent });
    await recordOutcomes(19, { outcome: dead });
    expect((await readHold()).held).toBe(false);
    const outbox = await recordOutcomes(1, { outcome: dead });
    expect(await readHold()).toMatchObject({
      held: true,
      reason: '20 of 200 emails within 24 hours were hard bounces',
    });
    expect(outbox.filter((row) => row.kind === 'email.deliver')).toHaveLength(1);
    const audit = await service.db.selectFrom('audit_log').selectAll().where('project_id', '=', project.id).execute();
    expect(audit).toMatchObject([{ action: 'project.held', actor: 'system' }]);
  });

  it('do not change a hold or send a second notice when more hard bounces follow', async () => {
    await recordOutcomes(180, { outcome: sent });
    await recordOutcomes(20, { outcome: dead });
    const { reason } = await readHold();
    expect((await recordOutcomes(5, { outcome: dead })).filter((row) => row.kind === 'email.deliver')).toHaveLength(0);
    expect((await readHold()).reason).toBe(reason);
  });

  it('are counted from zero after the hold is released', async () => {
    await recordOutcomes(180, { outcome: sent });
    await recordOutcomes(20, { outcome: dead });
    await inTransaction(service.db, (trx) => releaseProject(trx, project.id));
    await recordOutcomes(5, { outcome: dead });
    expect((await readHold()).held).toBe(false);
  });

  it('never include emails of test keys', async () => {
    await recordOutcomes(180, { outcome: sent });
    await recordOutcomes(40, { outcome: dead, mode: 'test' });
    await recordOutcomes(30, { outcome: refused, mode: 'test' });
    expect((await readHold()).held).toBe(false);
  });

  it('ignore results that are more than a day old', async () => {
    await recordOutcomes(180, { outcome: sent });
    await recordOutcomes(19, { outcome: dead });
    await sql`UPDATE send_outcomes SET hour = hour - interval '25 hours' WHERE project_id = ${project.id}`.execute(
      service.db,
    );
    await recordOutcomes(1, { outcome: dead });
    expect((await readHold()).held).toBe(false);
  });
});

describe('refusals because of the sender', () => {
  it('put the project on hold at 20 of the last 100 emails to one provider, but not when two providers together refuse 20', async () => {
    await recordOutcomes(19, { outcome: refused });
    await recordOutcomes(19, { outcome: { ...refused, provider: 'other.test' } as RecordedOutcome });
    expect((await readHold()).held).toBe(false);
    await recordOutcomes(1, { outcome: refused });
    expect((await readHold()).reason).toBe('bigmail.test refused 20 of the last 100 emails because of the sender');
  });

  it('are cleared once the provider has accepted 100 later emails', async () => {
    await recordOutcomes(1, { outcome: refused });
    await sql`UPDATE provider_outcomes SET recent = repeat('1', 19) WHERE project_id = ${project.id}`.execute(
      service.db,
    );
    await buildContacts(service.db, { projectId: project.id, count: 120 });
    const { body } = await service.call('POST', '/campaigns', { key: project.secretKey, body: createCampaignBody() });
    await service.call('POST', `/campaigns/${body.data.id}/send`, { key: project.secretKey, body: {} });
    await until(async () => {
      const rows = await service.db
        .selectFrom('provider_outcomes')
        .selectAll()
        .where('project_id', '=', project.id)
        .execute();
      return rows.length === 0;
    }, 'the provider to be trusted again');
    await recordOutcomes(19, { outcome: refused });
    expect((await readHold()).held).toBe(false);
  });
});

describe('bounces and complaints that arrive after an email was accepted', () => {
  function createRecorder() {
    const config = parseConfig({
      DATABASE_URL: 'postgres://none',
      TEMPORAL_ADDRESS: 'none:1',
      SECRET_KEY: TEST_SECRET_KEY,
      DNS_SERVERS: dns.address,
    });
    return createFeedbackRecorder({ config, db: service.db, outbox: { wake: () => {} } });
  }
  const parseReply = (text: string, enhanced: string) => classifyRefusal({ code: 550, enhanced, text, stage: 'dsn' });

  async function recordFeedback(count: number, kind: 'complaint' | 'policy' | 'dead', name = 'one'): Promise<void> {
    const record = createRecorder();
    for (let n = 0; n < count; n++) {
      const email = `${name}-${n}@to.test`;
      const contactId = await buildContact(service.db, { projectId: project.id, email });
      const emailId = await buildEmail(service.db, { projectId: project.id, contactId, to: email, status: 'SENT' });
      const at = new Date();
      const refusal = kind === 'policy' ? parseReply('not accepted', '5.7.1') : parseReply('no such user', '5.1.1');
      const about = kind === 'complaint' ? { kind, at } : { kind: 'bounce' as const, at, refusal, words: 'no' };
      expect(await record({ emailId, feedback: about, source: 'dsn' })).toEqual({ outcome: 'recorded' });
      expect(await record({ emailId, feedback: about, source: 'dsn' })).toEqual({ outcome: 'known' });
    }
  }

  it('three complaints about 1,000 emails put the project on hold; a repeated report counts once', async () => {
    await sql`
      INSERT INTO send_outcomes (project_id, hour, slot, mails) VALUES (${project.id}, date_trunc('hour', now()), 0, 1000)
    `.execute(service.db);
    await recordFeedback(2, 'complaint', 'first');
    expect((await readHold()).held).toBe(false);
    await recordFeedback(1, 'complaint', 'last');
    expect((await readHold()).reason).toBe('3 of 1000 emails within 24 hours were reported as spam');
  });

  it('twenty bounces of one mailbox provider that blame the sender put the project on hold', async () => {
    await recordFeedback(20, 'policy');
    expect((await readHold()).reason).toBe('bigmail.test refused 20 of the last 100 emails because of the sender');
  });

  it('hard bounces that arrive later are divided by the number of sent emails', async () => {
    await recordOutcomes(200, { outcome: sent });
    await recordFeedback(20, 'dead');
    expect((await readHold()).reason).toBe('20 of 200 emails within 24 hours were hard bounces');
  });
});
