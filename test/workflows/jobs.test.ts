import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setSmsConsent } from '../../db/sms/ledger.ts';
import { inTransaction } from '../../db/transaction.ts';
import { recordReceivedSms } from '../../engine/feedback/received-sms.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { TEST_SECRET_KEY } from '../build/senders.ts';
import { handOverToTemporal } from '../support/hand-over.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
const lines: string[] = [];
beforeAll(async () => {
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  service = await startTestService({}, { log });
});
afterAll(() => service.close());

async function startImport(csv: string, { query = '', key = service.one.secretKey } = {}): Promise<string> {
  const form = new FormData();
  form.append('file', new File([csv], 'contacts.csv'));
  const response = await fetch(`${service.baseUrl}/contacts/import${query}`, {
    method: 'POST',
    body: form,
    headers: { authorization: `Bearer ${key}` },
  });
  expect(response.status).toBe(202);
  return ((await response.json()) as { jobId: string }).jobId;
}

async function startBulk(kind: string, contactIds: string[]): Promise<string> {
  const { body } = await service.call('POST', `/contacts/bulk-${kind}`, { body: { contactIds } });
  return body.jobId;
}

function waitForEnd(kind: 'import' | 'bulk', jobId: string) {
  return until(async () => {
    const { body } = await service.call('GET', `/contacts/${kind}/${jobId}`);
    return ['COMPLETED', 'FAILED', 'CANCELLED'].includes(body.status) && body;
  }, 'the end of the job');
}

const saveContact = async (email: string, body: object = {}) =>
  (await service.call('POST', '/contacts', { body: { email, ...body } })).body;
const findContact = async (email: string) =>
  (await service.call('GET', `/contacts?search=${encodeURIComponent(email)}`)).body.data[0];
const listEvents = async (id: string) =>
  (
    await sql<{ name: string }>`SELECT name FROM events WHERE contact_id = ${id} ORDER BY id`.execute(service.db)
  ).rows.map((row) => row.name);

describe('an import', () => {
  it('is FAILED after 1,000 unreadable rows of a file that is not CSV; contacts from earlier rows stay', async () => {
    const csv = `email,plan\ntorn-before@import.test,pro\n${'"\n'.repeat(5_000)}torn-after@import.test,pro\n`;
    const job = await waitForEnd('import', await startImport(csv));
    expect(job).toMatchObject({ status: 'FAILED', failedReason: expect.stringContaining('1,000 rows') });
    expect(job.result).toMatchObject({ successCount: 1 });
    expect(job.result.totalRows).toBeLessThan(3_000);
    expect(await findContact('torn-before@import.test')).toMatchObject({ data: { plan: 'pro' } });
  });

  it('records no contact.subscribed unless triggerWorkflows is set', async () => {
    const csv = (name: string) => `email,subscribed\n${name}@import.test,yes\n${name}-out@import.test,no\n`;
    await waitForEnd('import', await startImport(csv('quiet')));
    await waitForEnd('import', await startImport(csv('greeted'), { query: '?triggerWorkflows=true' }));
    const listEventNames = async (email: string) => listEvents((await findContact(email)).id);
    expect(await listEventNames('quiet@import.test')).toEqual([]);
    expect(await listEventNames('greeted@import.test')).toEqual(['contact.subscribed']);
    expect(await listEventNames('greeted-out@import.test')).toEqual([]);
  });

  it('ends marketing SMS to a contact whose row refuses it, and lifts no STOP', async () => {
    const listStops = async (phone: string) =>
      (await service.call('GET', `/v1/sms/stops?phone=${encodeURIComponent(phone)}`)).body.data;
    const [no, yes, stopped] = ['+4915112300001', '+4915112300002', '+4915112300003'];
    await service.call('POST', '/v1/sms/stops', { body: { phone: stopped } });
    const rows = [
      `no@sms.test,0049 151 12300001,No,`,
      `yes@sms.test,${yes},yes,0`,
      `stopped@sms.test,${stopped},yes,`,
      'late@sms.test,,,2026-01-02',
      'odd@sms.test,,perhaps,',
    ];
    const job = await waitForEnd(
      'import',
      await startImport(`email,phone,Accepts SMS Marketing,SMS Opt-Out\n${rows.join('\n')}\n`),
    );
    expect(job.result.errors).toEqual([
      { row: 6, email: 'odd@sms.test', error: expect.stringContaining('"perhaps" is not a word for consent') },
    ]);
    expect(await listStops(no)).toMatchObject([{ from: 'import', source: 'import', actor: `job:${job.id}` }]);
    expect(await listStops(yes)).toEqual([]);
    expect(await listStops(stopped)).toMatchObject([{ from: null }]);
    const readConsent = async (name: string) => (await findContact(`${name}@sms.test`)).smsSubscribed;
    expect(await Promise.all(['no', 'yes', 'stopped', 'late'].map(readConsent))).toEqual([false, true, false, false]);
  });

  it('does not repeat a refusal of SMS after the person sent START, unless the file has a new refusal', async () => {
    const phone = '+4915112300009';
    const to = '+4930777';
    await service.db
      .insertInto('sms_senders')
      .values({ project_id: service.one.id, country: null, from_phone: to })
      .execute();
    const receiveSms = (text: string, consent: 'start' | 'stop') =>
      inTransaction(service.db, async (trx) => {
        await recordReceivedSms(trx, { from: phone, to, text, messageId: null, media: [], consent });
        const consentChange = { phone, sender: to, consents: consent === 'start' };
        await setSmsConsent(trx, deriveKey(TEST_SECRET_KEY, 'suppression'), consentChange);
      });
    const importAndReadConsent = async (words: string) => {
      const csv = `email,phone,SMS Consent,SMS Opt-Out\nstarted@sms.test,${phone},${words}\n`;
      await waitForEnd('import', await startImport(csv));
      return (await findContact('started@sms.test')).smsSubscribed;
    };
    expect(await importAndReadConsent('no,2026-01-02')).toBe(false);
    expect(await importAndReadConsent('no,2026-01-02')).toBe(false);
    await receiveSms('START', 'start');
    expect(await importAndReadConsent('no,2026-01-02')).toBe(true);
    expect(await importAndReadConsent('yes,')).toBe(true);
    expect(await importAndReadConsent('no,')).toBe(false);
    await receiveSms('START', 'start');
    await receiveSms('STOP', 'stop');
    expect(await importAndReadConsent('no,')).toBe(false);
    // The project has its own keywords, which the provider reports as START and STOP.
    await receiveSms('ZURUECK', 'start');
    expect(await importAndReadConsent('no,')).toBe(true);
    await receiveSms('GENUG', 'stop');
    expect(await importAndReadConsent('no,')).toBe(false);
  });

  it('runs after earlier imports of its project, and does not delay another project', async () => {
    const rows = (name: string, count: number) =>
      `email,plan\n${Array.from({ length: count }, (_, n) => `${name}${n}@turns.test,pro`).join('\n')}\n`;
    const first = await startImport(rows('first', 20_000));
    const second = await startImport(rows('second', 10));
    const other = await startImport(rows('other', 10), { key: service.two.secretKey });
    const job = (id: string) =>
      service.db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const done = await until(async () => {
      const jobs = await Promise.all([first, second, other].map(job));
      return jobs.every(({ status }) => status === 'COMPLETED') && jobs;
    }, 'the imports');
    const [one, two, three] = done.map((row) => ({ from: row.started_at?.getTime(), to: row.completed_at?.getTime() }));
    expect(two?.from).toBeGreaterThanOrEqual(one?.to ?? Number.POSITIVE_INFINITY);
    expect(three?.to).toBeLessThan(one?.to ?? 0);
  });

  it('keeps its finished rows if it is cancelled, and the next job starts', async () => {
    const rows = Array.from({ length: 40_000 }, (_, n) => `cancelled${n}@cancel.test`).join('\n');
    const jobId = await startImport(`email\n${rows}\n`);
    await until(
      async () => (await service.call('GET', `/contacts/import/${jobId}`)).body.processed > 0,
      'the first rows of the import',
    );
    const { status, body } = await service.call('POST', `/contacts/jobs/${jobId}/cancel`);
    expect([status, body.status, body.state]).toEqual([200, 'CANCELLED', 'failed']);
    expect(body.processed).toBeGreaterThan(0);
    expect(body.processed).toBeLessThan(40_000);
    const next = await waitForEnd('import', await startImport('email\nafter@cancel.test\n'));
    expect(next.status).toBe('COMPLETED');
    const { body: after } = await service.call('GET', `/contacts/import/${jobId}`);
    expect(after).toMatchObject({ status: 'CANCELLED', processed: body.processed, total: 40_000, failedReason: null });
    const { rows: found } = await sql<{ count: number }>`
      SELECT count(*)::int AS count FROM contacts WHERE project_id = ${service.one.id} AND email LIKE 'cancelled%@cancel.test'
    `.execute(service.db);
    expect(found[0]?.count).toBe(body.processed);
    expect((await service.call('POST', `/contacts/jobs/${jobId}/cancel`)).body.processed).toBe(body.processed);
    expect((await service.call('POST', `/contacts/jobs/${next.id}/cancel`)).status).toBe(409);
  });

  it('creates and updates contacts, and reports each row with errors', async () => {
    const known = await saveContact('known@import.test', { data: { plan: 'free', keep: 1 } });
    const rows = [
      'new@import.test,pro,7,yes',
      'KNOWN@import.test,pro,,',
      '',
      'nope,x,1,',
      'new@import.test,team,,no',
      ',x,,',
    ];
    const job = await waitForEnd('import', await startImport(`Email,plan,seats,subscribed\n${rows.join('\n')}\n`));
    expect(job).toMatchObject({
      status: 'COMPLETED',
      state: 'completed',
      progress: 100,
      total: 5,
      processed: 5,
      failedReason: null,
      result: {
        totalRows: 5,
        successCount: 3,
        createdCount: 1,
        updatedCount: 2,
        failureCount: 2,
        blankRows: 1,
        errors: [
          { row: 5, email: 'nope', error: expect.any(String) },
          { row: 7, email: '', error: expect.any(String) },
        ],
      },
    });
    expect(await findContact('new@import.test')).toMatchObject({ subscribed: false, data: { plan: 'team', seats: 7 } });
    expect(await findContact('known@import.test')).toMatchObject({
      id: known.id,
      subscribed: true,
      data: { plan: 'pro', keep: 1 },
    });
    const { rows: files } = await sql`SELECT id FROM jobs WHERE id = ${job.id} AND file IS NOT NULL`.execute(
      service.db,
    );
    expect(files).toEqual([]);
  });

  it('imports a row whose phone number cannot be read, and reports it', async () => {
    const csv = 'email,phone\nread@phone.test,+49 151 23456789\nodd@phone.test,call me\n';
    const job = await waitForEnd('import', await startImport(csv));
    expect(job.result).toMatchObject({
      successCount: 2,
      failureCount: 0,
      warningCount: 1,
      warnings: [{ row: 3, email: 'odd@phone.test', warning: expect.stringContaining('"call me" cannot be read') }],
    });
    expect((await findContact('odd@phone.test')).data).toEqual({ phone: 'call me' });
  });

  it('keeps values as text with ?types=string', async () => {
    await waitForEnd('import', await startImport('email,n\ntext@import.test,5\n', { query: '?types=string' }));
    expect((await findContact('text@import.test')).data).toEqual({ n: '5' });
  });

  it('records changes of subscription, and does not remove a refusal', async () => {
    const back = await saveContact('back@import.test', { subscribed: false });
    const refused = await saveContact('refused@import.test');
    await service.call('POST', '/suppressions', { body: { email: 'refused@import.test', reason: 'unsubscribe' } });
    await service.call('POST', '/suppressions', { body: { email: 'gone@import.test', reason: 'complaint' } });
    const rows = ['back@import.test,1', 'refused@import.test,true', 'gone@import.test,yes'];
    const job = await waitForEnd('import', await startImport(`email,subscribed\n${rows.join('\n')}`));
    expect(job.result).toMatchObject({ successCount: 3, failureCount: 0 });
    expect(await findContact('back@import.test')).toMatchObject({ subscribed: true });
    expect(await listEvents(back.id)).toEqual(['contact.subscribed']);
    expect(await findContact('refused@import.test')).toMatchObject({ subscribed: false });
    expect(await listEvents(refused.id)).toEqual(['contact.subscribed', 'contact.unsubscribed']);
    expect(await findContact('gone@import.test')).toMatchObject({ subscribed: false });
    const { body } = await service.call('GET', '/suppressions');
    expect(body.data.map((entry: { reason: string }) => entry.reason).sort()).toEqual(['complaint', 'unsubscribe']);
  });

  it('refuses a row that would give a contact too much data, and imports the others', async () => {
    const fields = (prefix: string) => Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`${prefix}${i}`, 1]));
    await saveContact('full@import.test', { data: fields('a') });
    const columns = Object.keys(fields('b'));
    const row = (email: string) => [email, ...columns.map(() => '1')].join();
    const csv = [
      ['email', ...columns].join(),
      row('before@import.test'),
      row('full@import.test'),
      row('after@import.test'),
    ];
    const job = await waitForEnd('import', await startImport(csv.join('\n')));
    expect(job.result).toMatchObject({
      successCount: 2,
      createdCount: 2,
      failureCount: 1,
      errors: [{ row: 3, email: 'full@import.test' }],
    });
  });

  /** Holds an import of 12,000 rows in the middle with a lock, so that the worker stops while the import runs. */
  async function holdImport(domain: string): Promise<{ jobId: string; release: () => Promise<void> }> {
    const rows = Array.from({ length: 12_000 }, (_, i) => `p${i}@${domain},${i}`);
    const jobId = await startImport(`email,n\n${rows.join('\n')}\n`);
    const trx = await service.db.startTransaction().execute();
    await until(async () => {
      const found = await sql`SELECT id FROM jobs WHERE id = ${jobId} AND processed > 0 FOR UPDATE`.execute(trx);
      return found.rows.length > 0;
    }, 'the first rows');
    // An activity ends after some seconds. On a busy machine it may end before this lock is set, so the next activity
    // must wait for the lock.
    const { rows: own } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(trx);
    await until(async () => {
      const waiting = sql`SELECT FROM pg_stat_activity WHERE ${own[0]?.pid} = ANY(pg_blocking_pids(pid))`;
      return (await waiting.execute(service.db)).rows.length > 0;
    }, 'a chunk that waits');
    return { jobId, release: () => trx.rollback().execute() };
  }

  async function expectWhole(jobId: string, domain: string): Promise<void> {
    const { body: halted } = await service.call('GET', `/contacts/import/${jobId}`);
    expect(halted).toMatchObject({ status: 'RUNNING', state: 'active' });
    expect(halted.result.totalRows).toBe(halted.processed);
    await service.startWorker();
    expect((await waitForEnd('import', jobId)).result).toMatchObject({
      totalRows: 12_000,
      createdCount: 12_000,
      failureCount: 0,
    });
    expect((await service.call('GET', `/contacts?search=${domain}`)).body.total).toBe(12_000);
  }

  it('counts every row once, although its worker is stopped meanwhile', async () => {
    const { jobId, release } = await holdImport('durable.test');
    const stopped = service.stopWorker();
    await release();
    await stopped;
    await expectWhole(jobId, 'durable.test');
  });

  it('counts every row once, although the grace period of its stopping worker expired', async () => {
    const { jobId, release } = await holdImport('forced.test');
    const stopped = service.stopWorker();
    // The worker has cancelled the activity, and no longer waits for its end.
    await until(() => lines.some((line) => line.includes('GracefulShutdownPeriodExpired')), 'the forced stop');
    await release();
    await stopped;
    await expectWhole(jobId, 'forced.test');
  });

  it('stores the first 1,000 errors and counts all', async () => {
    const job = await waitForEnd('import', await startImport(`email\n${'bad\n'.repeat(1_500)}last@import.test\n`));
    expect(job).toMatchObject({
      status: 'COMPLETED',
      result: { totalRows: 1_501, failureCount: 1_500, successCount: 1 },
    });
    expect(job.result.errors).toHaveLength(1_000);
    expect(job.result.errors.at(-1).row).toBe(1_001);
  });

  it('shows that an operator cancelled it', async () => {
    await service.stopWorker();
    const jobId = await startImport('email\ncancelled@import.test\n');
    await handOverToTemporal(service, jobId);
    const { Client, Connection } = await import('@temporalio/client');
    const connection = await Connection.connect({ address: service.temporal.address });
    await new Client({ connection, namespace: service.temporal.namespace }).workflow
      .getHandle(service.names.job(jobId))
      .cancel();
    await connection.close();
    await service.startWorker();
    expect(await waitForEnd('import', jobId)).toMatchObject({ status: 'CANCELLED', state: 'failed' });
  });
});

describe('a bulk job', () => {
  it('with a condition changes all matching contacts once, although it changes fields of the condition', async () => {
    const lines = Array.from({ length: 700 }, (_, i) => `p${i}@where.test,${i % 7 === 0 ? 'free' : 'pro'}`);
    await waitForEnd('import', await startImport(`email,plan\n${lines.join('\n')}\n`));
    const condition = {
      logic: 'AND',
      groups: [
        {
          filters: [
            { field: 'data.plan', operator: 'equals', value: 'pro' },
            { field: 'subscribed', operator: 'equals', value: true },
          ],
        },
      ],
    };
    const where = { search: '@where.test', condition };
    const queued = await service.call('POST', '/contacts/bulk-unsubscribe', { body: { where } });
    expect(queued.status).toBe(202);
    expect(await waitForEnd('bulk', queued.body.jobId)).toMatchObject({
      status: 'COMPLETED',
      progress: 100,
      total: 600,
      processed: 600,
      result: { operation: 'unsubscribe', totalRequested: 600, successCount: 600, failureCount: 0 },
    });
    const left = encodeURIComponent(JSON.stringify(condition));
    expect((await service.call('GET', `/contacts?search=where.test&condition=${left}`)).body.total).toBe(0);
    const gone = await service.call('POST', '/contacts/bulk-delete', { body: { where: { search: '@where.test' } } });
    expect((await waitForEnd('bulk', gone.body.jobId)).result).toMatchObject({ successCount: 700 });
    expect((await service.call('GET', '/contacts?search=where.test')).body.total).toBe(0);
  });

  it('subscribes and unsubscribes, records each change, and counts unknown ids as failures', async () => {
    const contacts = await Promise.all(Array.from({ length: 300 }, (_, i) => saveContact(`bulk${i}@bulk.test`)));
    const ids: string[] = contacts.map((contact) => contact.id);
    const theirs = (
      await service.call('POST', '/contacts', { key: service.two.secretKey, body: { email: 'x@bulk.test' } })
    ).body;
    const unknown = ['no-uuid', '0190a000-0000-7000-8000-000000000000', theirs.id];
    const job = await waitForEnd('bulk', await startBulk('unsubscribe', [...ids, ...unknown]));
    expect(job).toMatchObject({
      status: 'COMPLETED',
      processed: 303,
      result: { operation: 'unsubscribe', totalRequested: 303, successCount: 300, failureCount: 3 },
    });
    expect(job.result.errors.map((error: { contactId: string }) => error.contactId)).toEqual(unknown);
    await service.call('POST', '/suppressions', { body: { email: 'bulk0@bulk.test', reason: 'unsubscribe' } });
    await waitForEnd('bulk', await startBulk('subscribe', ids.slice(0, 2)));
    await waitForEnd('bulk', await startBulk('subscribe', ids.slice(0, 2)));
    expect(await findContact('bulk0@bulk.test')).toMatchObject({ subscribed: true });
    expect(await listEvents(ids[0] ?? '')).toEqual([
      'contact.subscribed',
      'contact.unsubscribed',
      'contact.subscribed',
    ]);
    expect((await service.call('DELETE', '/suppressions/bulk0@bulk.test')).status).toBe(404);
    expect((await service.call('GET', `/contacts/${theirs.id}`, { key: service.two.secretKey })).body.subscribed).toBe(
      true,
    );
  });

  it('deletes contacts and ends their executions', async () => {
    const contact = await saveContact('deleted@bulk.test');
    const workflow = (await service.call('POST', '/workflows', { body: { name: 'w', triggerType: 'MANUAL' } })).body;
    const step = { type: 'DELAY', name: 'wait', config: { amount: 30, unit: 'days' } };
    await service.call('POST', `/workflows/${workflow.id}/steps`, { body: step });
    await service.call('PATCH', `/workflows/${workflow.id}`, { body: { enabled: true } });
    const path = `/workflows/${workflow.id}/executions`;
    const started = await service.call('POST', path, { body: { contactId: contact.id } });
    expect(started.status).toBe(201);
    const job = await waitForEnd('bulk', await startBulk('delete', [contact.id, contact.id]));
    expect(job.result).toMatchObject({ operation: 'delete', totalRequested: 1, successCount: 1 });
    expect((await service.call('GET', `/contacts/${contact.id}`)).status).toBe(404);
    const execution = (await service.call('GET', `${path}/${started.body.id}`)).body;
    expect(execution).toMatchObject({ status: 'CANCELLED', exitReason: 'contact_deleted' });
  });
});
