import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createImportJob } from '../../db/contacts/jobs.ts';
import { inTransaction } from '../../db/transaction.ts';
import { readCsvLayout } from '../../rules/contacts/csv-layout.ts';
import { countCsvRows } from '../../rules/contacts/csv-rows.ts';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { track } from '../build/events.ts';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { type BuiltWorkflow, buildWorkflow, expectOk } from '../build/workflows.ts';
import { connectOperator, type TestOperator } from '../support/operator.ts';
import { connectRecovery, type Recovery } from '../support/recovery.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

let service: TestService;
let operator: TestOperator;
let recovery: Recovery;
let sink: SmtpSink;
let workflow: BuiltWorkflow;

beforeAll(async () => {
  sink = await startSmtpSink();
  service = await startTestService({ EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url });
  operator = await connectOperator(service);
  recovery = await connectRecovery(service);
  await buildDomain(service.db, { projectId: service.one.id, signing: false });
  const config = { templateId: await buildTemplate(service.db, { projectId: service.one.id }) };
  workflow = await buildWorkflow(service, {
    eventName: 'enter',
    allowReentry: true,
    steps: {
      first: { type: 'SEND_EMAIL', config, to: 'wait' },
      wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'go' }, to: { event: 'second' } },
      second: { type: 'SEND_EMAIL', config, to: 'last' },
      last: { type: 'WAIT_FOR_EVENT', config: { eventName: 'finish' }, to: { event: 'out' } },
      out: { type: 'EXIT', config: { reason: 'through' } },
    },
  });
});
afterAll(async () => {
  await recovery?.close();
  await operator?.close();
  await service?.close();
  await sink?.close();
});

const RUN_STATES = ['unknown', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED'] as const;
type RunState = (typeof RUN_STATES)[number];

/**
 * For each status of the record, the statuses of the last run that agree with it. `null` means that no run exists,
 * because no work is left.
 */
const AGREEING: Record<string, (string | null)[]> = {
  open: ['RUNNING'],
  COMPLETED: ['COMPLETED', null],
  EXITED: ['COMPLETED', null],
  SENT: ['COMPLETED', null],
  FAILED: ['FAILED'],
  CANCELLED: ['CANCELLED', 'TERMINATED', null],
  DRAFT: ['CANCELLED', 'TERMINATED', null],
};

interface Pair {
  id: string;
  workflowId: string;
  row: string;
  run: RunState;
}

/** Builds every pair of states of a record and its run with `make`. */
async function buildPairs(rows: readonly string[], make: (row: string, run: RunState) => Promise<Pair>) {
  const pairs: Pair[] = [];
  for (const row of rows) for (const run of RUN_STATES) pairs.push(await make(row, run));
  return pairs;
}

const describeRun = (workflowId: string) =>
  operator.client.workflow
    .getHandle(workflowId)
    .describe()
    .catch(() => undefined);

async function readRunStatus(workflowId: string): Promise<string | null> {
  return (await describeRun(workflowId))?.status.name ?? null;
}

/**
 * Tells whether a run has not reached its step yet. The outbox is empty as soon as a run has started, but the run's
 * step is known only when its first task has ended. In between, recovery correctly tells the run to read its record
 * again.
 */
async function isBeforeItsStep(workflowId: string): Promise<boolean> {
  const run = await describeRun(workflowId);
  return run?.type === 'contactExecution' && run.status.name === 'RUNNING' && !run.searchAttributes.StepId;
}

const waitForStatus = (workflowId: string, status: string) =>
  until(async () => (await readRunStatus(workflowId)) === status, `${workflowId} ${status}`);

/** Waits until Temporal lists all running workflows of the pairs as running. */
const waitForListing = (pairs: Pair[]) =>
  until(async () => {
    const found = new Set<string>();
    for await (const { workflowId } of operator.client.workflow.list({ query: `ExecutionStatus = 'Running'` }))
      found.add(workflowId);
    for (const { workflowId } of pairs)
      if (found.has(workflowId) !== ((await readRunStatus(workflowId)) === 'RUNNING')) return false;
    return true;
  }, 'the list of running workflows');

/**
 * Runs one round of recovery and expects that every pair agrees. Then runs a second round, which must change nothing.
 */
async function expectAgreement(pairs: Pair[], statusOf: (id: string) => Promise<string>): Promise<void> {
  await waitForListing(pairs);
  const sentBefore = sink.counts.messages;
  const repairs = await recovery.round();
  const listDisagreeing = async () => {
    const found: string[] = [];
    for (const { id, workflowId, row, run } of pairs) {
      const status = await statusOf(id);
      const isOpen = !(status in AGREEING);
      const last = await readRunStatus(workflowId);
      if (!AGREEING[isOpen ? 'open' : status]?.includes(last)) found.push(`${row}/${run}: ${status} and ${last}`);
      else if (await isBeforeItsStep(workflowId)) found.push(`${row}/${run}: has no step`);
    }
    return found;
  };
  let left: string[] = [];
  await until(async () => {
    left = await listDisagreeing();
    return left.length === 0;
  }, 'the agreement of all pairs').catch(() => expect(left).toEqual([]));
  expect(repairs.filter(({ done }) => done === undefined)).toEqual([]);
  await emptyOutbox();
  await waitForListing(pairs);
  expect(await recovery.round()).toEqual([]);
  expect(await listDisagreeing()).toEqual([]);
  expect(sink.counts.messages).toBe(sentBefore);
}

async function emptyOutbox(): Promise<void> {
  let left: unknown[] = [];
  await until(async () => {
    left = (await sql`SELECT kind, ref_id, attempts, taken_at, last_error FROM outbox`.execute(service.db)).rows;
    return left.length === 0;
  }, 'the end of the outbox').catch(() => expect(left).toEqual([]));
}

let contacts = 0;

/** Starts an execution for a new contact. Returns it when it waits for `go`. */
async function startExecution(): Promise<Pair> {
  const email = `contact-${contacts++}@example.com`;
  const { contact } = (await track(service, email, 'enter')).data;
  const id = await until(async () => {
    const found = await service.db
      .selectFrom('executions')
      .select('id')
      .where('contact_id', '=', contact)
      .where('status', '=', 'WAITING')
      .executeTakeFirst();
    return found?.id;
  }, 'the wait');
  const workflowId = service.names.execution(id);
  await waitForStatus(workflowId, 'RUNNING');
  return { id, workflowId, row: 'open', run: 'RUNNING' };
}

/** Ends a run as an operator or another installation does: the record in Postgres does not change. */
async function endRun(workflowId: string, run: RunState): Promise<void> {
  const handle = operator.client.workflow.getHandle(workflowId);
  switch (run) {
    case 'COMPLETED':
    case 'FAILED':
      await handle.signal('ended', { status: run, reason: run === 'FAILED' ? 'webhook_failed' : null });
      return void (await waitForStatus(workflowId, run));
    case 'CANCELLED':
      return operator.cancel(workflowId);
    case 'TERMINATED':
      return operator.terminate(workflowId);
    case 'unknown':
      return operator.deleteWorkflows(workflowId);
    case 'RUNNING':
  }
}

const readExecutionStatus = async (id: string) =>
  (await service.db.selectFrom('executions').select('status').where('id', '=', id).executeTakeFirstOrThrow()).status;

describe('one round of recovery', () => {
  it('makes every pair of states of an execution and its run agree, and sends nothing twice', async () => {
    const pairs = await buildPairs(['open', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'], async (row, run) => {
      const pair = await startExecution();
      await endRun(pair.workflowId, run);
      if (row !== 'open') {
        await sql`
          WITH steps AS (UPDATE execution_steps SET status = 'COMPLETED', completed_at = now()
            WHERE execution_id = ${pair.id} AND completed_at IS NULL)
          UPDATE executions SET status = ${row}, completed_at = now(),
            exit_reason = ${row === 'FAILED' ? 'webhook_failed' : null} WHERE id = ${pair.id}
        `.execute(service.db);
      }
      return { ...pair, row, run };
    });
    await expectAgreement(pairs, readExecutionStatus);
    const failed = pairs.filter(({ row }) => row === 'FAILED');
    for (const { workflowId } of failed) {
      const { type } = (await operator.client.workflow
        .getHandle(workflowId)
        .result()
        .catch((e) => e.cause)) as { type: string };
      expect(type).toBe('webhook_failed');
    }
  });

  it("moves a run that is behind its record forward to the record's position", async () => {
    const pair = await startExecution();
    await service.stopWorker();
    await expectOk(
      service.call('POST', `/workflows/${workflow.id}/executions/${pair.id}/advance`, { body: { branch: 'event' } }),
    );
    await sql`DELETE FROM outbox WHERE ref_id = ${pair.id}`.execute(service.db);
    await service.startWorker();
    const before = sink.counts.messages;
    expect(await recovery.round()).toMatchObject([
      { workflowId: pair.workflowId, done: 'signaled to read its record again' },
    ]);
    await waitUntilWaitingAt(pair.id, 'last');
    expect(sink.counts.messages).toBe(before + 1);
    expect(await recovery.round()).toEqual([]);
  });

  for (const end of ['that waits', 'that has ended']) {
    it(`moves a record that is behind its run forward, and sends nothing again, for a run ${end}`, async () => {
      const pair = await startExecution();
      const email = `contact-${contacts - 1}@example.com`;
      const restore = await copyExecution(pair.id);
      await track(service, email, 'go');
      await waitUntilWaitingAt(pair.id, 'last');
      if (end === 'that has ended') {
        await track(service, email, 'finish');
        await waitForStatus(pair.workflowId, 'COMPLETED');
      }
      await restore();
      const before = sink.counts.messages;
      expect(await recovery.round()).toHaveLength(1);
      if (end === 'that waits') await waitUntilWaitingAt(pair.id, 'last');
      else await until(async () => (await readExecutionStatus(pair.id)) === 'EXITED', 'the end');
      await emptyOutbox();
      expect(await recovery.round()).toEqual([]);
      expect(sink.counts.messages).toBe(before);
      if (end === 'that waits') await track(service, email, 'finish');
      await until(async () => (await readExecutionStatus(pair.id)) === 'EXITED', 'the end');
    });
  }

  it('continues where its run was, and sends nothing again, if the record was first missing and is then restored to an earlier position', async () => {
    const pair = await startExecution();
    const email = `contact-${contacts - 1}@example.com`;
    const restore = await copyExecution(pair.id);
    await track(service, email, 'go');
    await waitUntilWaitingAt(pair.id, 'last');
    await sql`DELETE FROM executions WHERE id = ${pair.id}`.execute(service.db);
    await recovery.round();
    await waitForStatus(pair.workflowId, 'FAILED');
    await restore();
    const before = sink.counts.messages;
    expect(await recovery.round()).toMatchObject([{ executionId: pair.id, workflow: 'FAILED, ahead of the record' }]);
    await waitUntilWaitingAt(pair.id, 'last');
    await emptyOutbox();
    expect(await recovery.round()).toEqual([]);
    await track(service, email, 'finish');
    await until(async () => (await readExecutionStatus(pair.id)) === 'EXITED', 'the end');
    expect(sink.counts.messages).toBe(before);
  });

  it('makes every pair of states of a campaign and its run agree', async () => {
    // Each repetition of the test has its own address, because otherwise the second would find the contact of the
    // first.
    await buildContacts(service.db, { projectId: service.one.id, count: 1, localPart: uuidv7() });
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
    const setStatus = (id: string, status: string) =>
      sql`UPDATE campaigns SET status = ${status} WHERE id = ${id}`.execute(service.db);
    const pairs = await buildPairs(['open', 'SENT', 'CANCELLED', 'DRAFT'], async (row, run) => {
      const body = createCampaignBody({ from: 'News <news@shop.example.com>' });
      const { id } = (await expectOk(service.call('POST', '/campaigns', { body }))).data;
      await expectOk(service.call('POST', `/campaigns/${id}/send`, { body: { scheduledFor } }));
      const workflowId = service.names.campaign(id, 1);
      await waitForStatus(workflowId, 'RUNNING');
      if (run === 'COMPLETED' || run === 'FAILED') {
        const other = run === 'FAILED';
        if (other) await sql`UPDATE campaigns SET id = uuidv7(), name = ${id} WHERE id = ${id}`.execute(service.db);
        else await setStatus(id, 'SENT');
        await operator.client.workflow.getHandle(workflowId).signal('changed');
        await waitForStatus(workflowId, run);
        if (other) await sql`UPDATE campaigns SET id = ${id} WHERE name = ${id}`.execute(service.db);
      } else await endRun(workflowId, run);
      await setStatus(id, row === 'open' ? 'SCHEDULED' : row);
      return { id, workflowId, row, run };
    });
    await expectAgreement(pairs, async (id) => {
      const { status } = await service.db
        .selectFrom('campaigns')
        .select('status')
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      return status;
    });
  });

  it('makes every pair of states of a job and its run agree', async () => {
    // Builds an import that is never started, so that other imports of its project wait for it.
    const first = await buildImport(new Date(Date.now() + 86_400_000));
    const setStatus = (id: string, status: string) =>
      sql`UPDATE jobs SET status = ${status}, completed_at = CASE WHEN ${status} <> 'QUEUED' THEN now() END WHERE id = ${id}`.execute(
        service.db,
      );
    const pairs = await buildPairs(['open', 'COMPLETED', 'FAILED', 'CANCELLED'], async (row, run) => {
      const id = await buildImport();
      const workflowId = service.names.job(id);
      await waitForStatus(workflowId, 'RUNNING');
      if (run === 'COMPLETED' || run === 'FAILED') {
        await setStatus(id, run);
        await waitForStatus(workflowId, run);
      } else await endRun(workflowId, run);
      await setStatus(id, row === 'open' ? 'QUEUED' : row);
      return { id, workflowId, row, run };
    });
    await expectAgreement(pairs, async (id) => {
      const { status } = await service.db
        .selectFrom('jobs')
        .select('status')
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      return status;
    });
    await sql`DELETE FROM jobs WHERE id = ${first}`.execute(service.db);
  });

  it('starts a run for every webhook endpoint with waiting deliveries, and ends a run without any', async () => {
    const receiver = await startWebhookReceiver((_, response) => response.writeHead(503).end());
    for (const pending of [true, false]) {
      for (const run of ['unknown', 'RUNNING', 'CANCELLED', 'TERMINATED'] as const) {
        const body = { url: receiver.url, events: ['ring'] };
        const { id } = await expectOk(service.call('POST', '/webhooks', { body }));
        await track(service, 'ring@example.com', 'ring');
        const workflowId = service.names.webhooks(id);
        await until(async () => {
          const { rows } =
            await sql`SELECT 1 FROM webhook_deliveries WHERE endpoint_id = ${id} AND attempts > 0`.execute(service.db);
          return rows.length > 0;
        }, 'the first attempt');
        await endRun(workflowId, run);
        if (!pending) await sql`DELETE FROM webhook_deliveries WHERE endpoint_id = ${id}`.execute(service.db);
        await waitForListing([{ id, workflowId, row: 'open', run }]);
        await recovery.round();
        await until(async () => ((await readRunStatus(workflowId)) === 'RUNNING') === pending, `the end of ${run}`);
        await expectOk(service.call('DELETE', `/webhooks/${id}`));
        await until(async () => (await readRunStatus(workflowId)) !== 'RUNNING', 'the end').catch(() =>
          recovery.round(),
        );
      }
    }
    await receiver.close();
  });
});

/** Waits until an execution waits at a step, and Temporal lists it there. */
async function waitUntilWaitingAt(id: string, step: string): Promise<void> {
  await until(async () => {
    const row = await service.db
      .selectFrom('executions')
      .select(['status', 'current_step_id'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const query = `WorkflowId = '${service.names.execution(id)}' AND StepId = '${workflow.steps[step]}'`;
    const there = row.status === 'WAITING' && row.current_step_id === workflow.steps[step];
    return there && (await operator.client.workflow.count(query)).count === 1;
  }, `the wait at ${step}`);
}

/** Copies the rows of an execution. Returns a function that restores the copy, as from a backup. */
async function copyExecution(id: string): Promise<() => Promise<void>> {
  const readRows = async (table: string, key: string) =>
    (
      await sql<{
        row: string;
      }>`SELECT to_jsonb(t)::text AS row FROM ${sql.table(table)} t WHERE ${sql.ref(key)} = ${id}`.execute(service.db)
    ).rows;
  const tables = [
    ['executions', 'id'],
    ['execution_steps', 'execution_id'],
    ['execution_waits', 'execution_id'],
  ] as const;
  const copies = await Promise.all(
    tables.map(async ([table, key]) => ({ table, key, rows: await readRows(table, key) })),
  );
  return () =>
    inTransaction(service.db, async (trx) => {
      await sql`DELETE FROM emails WHERE execution_id = ${id} AND visit > 1`.execute(trx);
      for (const { table, key, rows } of copies) {
        await sql`DELETE FROM ${sql.table(table)} WHERE ${sql.ref(key)} = ${id}`.execute(trx);
        for (const { row } of rows)
          await sql`INSERT INTO ${sql.table(table)} SELECT * FROM jsonb_populate_record(NULL::${sql.table(table)}, ${row}::jsonb)`.execute(
            trx,
          );
      }
    });
}

/** Builds an import of one row. With `at`, it was requested at that time and has no workflow. */
async function buildImport(at?: Date): Promise<string> {
  const file = Buffer.from('email\nsomebody@import.test\n');
  const layout = readCsvLayout(file);
  const p = {
    projectId: service.one.id,
    file,
    layout,
    rows: countCsvRows(file, layout),
    text: false,
    mode: 'live' as const,
  };
  return inTransaction(service.db, async (trx) => {
    const { id } = await createImportJob(trx, p);
    if (at) {
      await sql`DELETE FROM outbox WHERE ref_id = ${id}`.execute(trx);
      await sql`UPDATE jobs SET created_at = ${at} WHERE id = ${id}`.execute(trx);
    }
    return id;
  });
}
