import { Connection } from '@temporalio/client';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Db } from '../../db/connection.ts';
import { readInstallationDuties, resumeSending } from '../../db/installation/sending-hold.ts';
import { readTokens } from '../../db/installation/tokens.ts';
import { parseConfig } from '../../rules/config.ts';
import { checkInstallation } from '../../worker/installation/check.ts';
import { watchInstallation } from '../../worker/installation/watch.ts';
import { buildContacts, buildStartedCampaign, createCampaignBody } from '../build/campaigns.ts';
import { track } from '../build/events.ts';
import { buildDomain, buildTemplate, TEST_SECRET_KEY } from '../build/senders.ts';
import { buildWorkflow, expectOk, listExecutions } from '../build/workflows.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type HostProcess, startWorkerHost } from '../support/host-process.ts';
import { connectLifecycle } from '../support/lifecycle.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createTestTemporal, type TestTemporal } from '../support/services.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

const MISMATCH = /older than what Temporal has recorded/;

/** Makes the last change of the token look two minutes old. */
const ageToken = (db: Db) =>
  sql`UPDATE installation_tokens SET rolled_at = rolled_at - interval '2 minutes'`.execute(db);
const readNewestNumber = async (db: Db) => (await readTokens(db))[0]?.no ?? 0;

/** Deletes the newer tokens of a database, as restoring a backup does. */
const restoreBackup = (db: Db, no: number) => db.deleteFrom('installation_tokens').where('no', '>', no).execute();

describe('comparing the installation’s token in Postgres and Temporal at the start of a process', () => {
  let database: TestDatabase;
  let temporal: TestTemporal;
  let notices: string[] = [];

  beforeAll(async () => {
    [database, temporal] = await Promise.all([createTestDatabase(), createTestTemporal()]);
  });
  beforeEach(() => {
    notices = [];
  });
  afterAll(() => database?.drop());

  const check = (INSTALLATION = '', { address = temporal.address, sends = true } = {}) => {
    const config = parseConfig({
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      SECRET_KEY: TEST_SECRET_KEY,
      INSTALLATION,
    });
    return checkInstallation({ db: database.db, config, sends, notifyOperator: (line) => notices.push(line) });
  };
  const readState = async () => {
    const { hold, recoveryDue } = await readInstallationDuties(database.db);
    return { hold, recoveryDue, notices };
  };
  const HEALTHY = { hold: null, recoveryDue: false, notices: [] };

  it('replaces the token, and both stores have the same token afterwards', async () => {
    await check();
    await check();
    expect((await readTokens(database.db)).map(({ no, confirmed }) => [no, confirmed])).toEqual([
      [2, true],
      [1, true],
    ]);
    expect(await readState()).toEqual(HEALTHY);
  });

  it('registers the search attributes of a new namespace before it writes the token there', async () => {
    const [fresh, { namespace }] = await Promise.all([createTestDatabase(), createTestTemporal({ attributes: false })]);
    const config = parseConfig({
      DATABASE_URL: fresh.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: namespace,
      SECRET_KEY: TEST_SECRET_KEY,
    });
    try {
      const { verified } = await checkInstallation({ db: fresh.db, config, sends: true, notifyOperator: () => {} });
      expect(verified).toBe(true);
      expect(await readNewestNumber(fresh.db)).toBe(1);
    } finally {
      await fresh.drop();
    }
  });

  it('renews the token, also if the state of the task queues cannot be read', async () => {
    await check();
    const { db } = database;
    const lifecycle = await connectLifecycle({ db, temporal });
    const readQueueStats = vi.fn().mockRejectedValue(new Error('Temporal is busy'));
    const before = await readNewestNumber(db);
    await ageToken(db);
    const watch = watchInstallation(
      { db, outbox: { wake: () => {} }, log: pino({ level: 'silent' }), lifecycle: { ...lifecycle, readQueueStats } },
      { hold: null, opened: () => {}, onMismatch: () => {} },
    );
    try {
      await until(
        async () => (await readTokens(db))[0]?.confirmed && (await readNewestNumber(db)) > before,
        'the next token',
      );
      expect(readQueueStats).toHaveBeenCalled();
      expect((await lifecycle.readToken())?.no).toBe(await readNewestNumber(db));
    } finally {
      await watch.stop();
      await lifecycle.close();
    }
  });

  it('treats several processes that start at the same time as one installation', async () => {
    await Promise.all([check(), check(), check()]);
    expect(await readState()).toEqual(HEALTHY);
  });

  it.each([
    ['before it wrote the token to Temporal', 3],
    ['before it confirmed the token in Postgres', 2],
  ])('ignores that the previous process was killed %s', async (_, lost) => {
    const { db } = database;
    // The token that a killed process wrote to Postgres. Temporal has the previous token, or the same one.
    const newest = (await readTokens(db))[0];
    if (lost === 2) await sql`UPDATE installation_tokens SET confirmed = false WHERE no = ${newest?.no}`.execute(db);
    else {
      await sql`
        INSERT INTO installation_tokens (no, value, system_identifier, database_oid)
        SELECT no + 1, gen_random_uuid(), system_identifier, database_oid FROM installation_tokens WHERE no = ${newest?.no}
      `.execute(db);
    }
    await check();
    expect(await readState()).toEqual(HEALTHY);
    expect((await readTokens(db))[0]?.confirmed).toBe(true);
  });

  it('accepts a start without Temporal on the database that wrote the last token', async () => {
    expect(await check('', { address: '127.0.0.1:1' })).toMatchObject({ verified: false });
    expect(await readState()).toEqual(HEALTHY);
  });

  it('refuses to start with a restored database, and changes nothing', async () => {
    await restoreBackup(database.db, 1);
    await expect(check()).rejects.toThrow(/INSTALLATION=take-over.*INSTALLATION=new/);
    expect(await readNewestNumber(database.db)).toBe(1);
  });

  it('with INSTALLATION=take-over pauses campaigns that may have been sent since the backup, and recovers before sending', async () => {
    const { db } = database;
    const { id: projectId } = await buildProject(db, 'Restored');
    await buildDomain(db, { projectId, domain: 'sender.test', signing: false });
    await buildContacts(db, { projectId, count: 3 });
    const campaigns = await Promise.all(
      ['sending', 'due', 'tomorrow'].map((name) => buildStartedCampaign(db, { projectId, says: { name } })),
    );
    const [sending, due, tomorrow] = campaigns.map(({ campaignId }) => campaignId);
    await sql`UPDATE campaigns SET status = 'SCHEDULED', scheduled_at = now() WHERE id = ${due}`.execute(db);
    await sql`UPDATE campaigns SET status = 'SCHEDULED', scheduled_at = now() + interval '1 day' WHERE id = ${tomorrow}`.execute(
      db,
    );
    await check('take-over');
    const rows = await db.selectFrom('campaigns').select(['id', 'status', 'paused_reason']).execute();
    const found = new Map(rows.map(({ id, status, paused_reason }) => [id, `${status} ${paused_reason}`]));
    expect([sending, due, tomorrow].map((id) => found.get(id ?? ''))).toEqual([
      'PAUSED database_restored',
      'PAUSED database_restored',
      'SCHEDULED null',
    ]);
    expect(await readState()).toMatchObject({ hold: { reason: 'recovery' }, recoveryDue: true });
    expect(notices).toEqual([expect.stringMatching(/from \S+Z to \S+Z is lost from it\. 2 campaigns/)]);
  });

  it('resolves one mismatch: at the next start the variable has no effect, and the next mismatch refuses the start', async () => {
    await check('take-over');
    expect(notices).toEqual([]);
    await restoreBackup(database.db, 1);
    await expect(check('take-over')).rejects.toThrow('start once without it');
    await expect(check()).rejects.toThrow('INSTALLATION=take-over');
    await check('take-over');
    expect(notices).toHaveLength(1);
  });

  it('makes a clone a separate installation once', async () => {
    const { installation: before } = await check();
    const { installation: clone } = await check('new');
    expect(clone).toMatchObject({ legacyBefore: null });
    expect(clone.id).not.toBe(before.id);
    expect((await check('new')).installation.id).toBe(clone.id);
    // The API already runs without the variable INSTALLATION, and the workers still have it.
    await check('', { sends: false });
    expect((await check('new')).installation.id).toBe(clone.id);
    expect((await readInstallationDuties(database.db)).hold?.reason).toBe('new');
  });

  it('ignores INSTALLATION=new at the very first start', async () => {
    await database.db.deleteFrom('installation_tokens').execute();
    await sql`
      UPDATE installation SET id = gen_random_uuid(), sending_hold = NULL, recovery_since = NULL, resolved_by = NULL
    `.execute(database.db);
    const { installation } = await check('new');
    expect((await check('new')).installation.id).toBe(installation.id);
    expect(await readState()).toEqual(HEALTHY);
  });
});

describe('workers of one installation', () => {
  let sink: SmtpSink;
  let database: TestDatabase;
  let service: TestService;
  let second: HostProcess;

  beforeAll(async () => {
    sink = await startSmtpSink();
    database = await createTestDatabase();
    const env = { EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url, SMS_PROVIDER: 'capture' };
    service = await startTestService(env, { database });
    await buildDomain(service.db, { projectId: service.one.id, signing: false });
    await service.db
      .insertInto('sms_senders')
      .values({ project_id: service.one.id, country: null, from_phone: '+15005550006' })
      .execute();
  });
  afterAll(async () => {
    await second?.kill();
    await service?.close();
    await sink?.close();
    await database?.drop();
  });

  const call = (method: string, path: string, body?: unknown) => expectOk(service.call(method, path, { body }));

  /** Returns the number of attempts of the activity on which an execution waits. */
  async function countHeldAttempts(executionId: string): Promise<number> {
    const connection = await Connection.connect({ address: service.temporal.address });
    const { pendingActivities } = await connection.workflowService.describeWorkflowExecution({
      namespace: service.temporal.namespace,
      execution: { workflowId: service.names.execution(executionId) },
    });
    await connection.close();
    const [pending] = pendingActivities ?? [];
    return pending?.lastFailure?.applicationFailureInfo?.type === 'SENDING_HELD' ? (pending.attempt ?? 0) : 0;
  }

  it('send nothing while a clone waits, then send everything once', async () => {
    await service.stopWorker();
    await sql`UPDATE installation SET sending_hold = 'new', sending_held_at = now()`.execute(service.db);
    await service.startWorker();
    const templateId = await buildTemplate(service.db, { projectId: service.one.id });
    const workflow = await buildWorkflow(service, {
      eventName: 'enter',
      steps: {
        note: { type: 'UPDATE_CONTACT', config: { updates: { seen: true } }, to: 'mail' },
        mail: { type: 'SEND_EMAIL', config: { templateId }, to: 'end' },
        end: { type: 'EXIT', config: {} },
      },
    });
    await track(service, 'step@example.com', 'enter');
    await call('POST', '/v1/send', {
      to: 'direct@example.com',
      from: 'a@shop.example.com',
      subject: 'S',
      body: '<p>b</p>',
    });
    await call('POST', '/v1/sms/send', { to: '+4915112345678', body: 'Hello' });
    await buildContacts(service.db, { projectId: service.one.id, count: 2 });
    const { data: campaign } = await call('POST', '/campaigns', createCampaignBody({ from: 'a@shop.example.com' }));
    await call('POST', `/campaigns/${campaign.id}/send`, {});

    // The step before the email has run, and Temporal has attempted the email's step again.
    const execution = await until(async () => (await listExecutions(service, workflow.id))[0], 'the execution');
    await until(async () => (await countHeldAttempts(execution.id)) > 1, 'a second attempt of the held step');
    await until(async () => (await call('GET', `/campaigns/${campaign.id}`)).status === 'SENDING', 'the campaign');
    const listCapturedSms = () => service.db.selectFrom('captured_sms').selectAll().execute();
    expect([sink.counts.messages, await listCapturedSms()]).toEqual([0, []]);

    await resumeSending(service.db);
    await until(() => sink.perRecipient().get('step@example.com'), 'the email of the step');
    await until(async () => (await call('GET', `/campaigns/${campaign.id}`)).status === 'SENT', 'the campaign');
    await until(async () => (await listCapturedSms()).length === 1, 'the SMS');
    const times = ['direct@example.com', 'r0@to.test', 'r1@to.test'].map((to) => sink.perRecipient().get(to));
    expect(times).toEqual([1, 1, 1]);
  });

  it('change the token only once per period, although each of them checks it', async () => {
    second = await startWorkerHost({ database, temporal: service.temporal });
    const before = await readNewestNumber(service.db);
    for (let rolls = 1; rolls <= 3; rolls += 1) {
      await ageToken(service.db);
      await until(async () => (await readNewestNumber(service.db)) >= before + rolls, 'the next token');
    }
    expect(await readNewestNumber(service.db)).toBe(before + 3);
  });

  it('end with the mismatch error if the database is restored while they run', async () => {
    await restoreBackup(service.db, 1);
    await ageToken(service.db);
    await until(() => MISMATCH.test(second.output()), 'the line of the mismatch');
  });

  it('end with the mismatch error also if they started while Temporal was down', async () => {
    const proxy = await startTcpProxy(service.temporal.address);
    await proxy.close();
    const away = await startWorkerHost({ database, temporal: { ...service.temporal, address: proxy.address } });
    expect(away.output()).toContain('Temporal cannot be reached');
    await proxy.open();
    await until(() => MISMATCH.test(away.output()), 'the line of the mismatch');
    await away.kill();
    await proxy.close();
  });
});
