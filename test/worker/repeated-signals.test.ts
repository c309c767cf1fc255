import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { enqueue } from '../../db/outbox/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import type { RowGroup } from '../../temporal/groups.ts';
import { type OutboxDispatcher, startDispatcher } from '../../worker/outbox-dispatcher.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { until } from '../support/until.ts';

/**
 * Some signals only tell a workflow that it has new rows to read. The dispatcher sends one such signal for all rows of
 * a workflow, and sends no other until the workflow has received it. The test simulates Temporal, so that it decides
 * when a workflow receives a signal.
 */
let api: TestApi;
let dispatcher: OutboxDispatcher;
/** The rows for which signals were sent. */
let sent: OutboxRow[] = [];

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());
beforeEach(() => {
  sent = [];
  dispatcher = start();
});
afterEach(async () => {
  await dispatcher.stop();
  await sql`DELETE FROM outbox`.execute(api.db);
});

function start(): OutboxDispatcher {
  const handOver = async ({ rows: [row] }: RowGroup) => {
    sent.push(row);
    return { outcome: 'accepted' as const };
  };
  return startDispatcher({
    db: api.db,
    lifecycle: { handOver },
    log: pino({ level: 'silent' }),
  });
}

async function wakeEndpoint(endpointId: string, count: number): Promise<void> {
  await inTransaction(api.db, (trx) =>
    enqueue(
      trx,
      Array.from({ length: count }, () => ({
        projectId: api.one.id,
        kind: 'webhook.deliver' as const,
        refId: endpointId,
        payload: { endpointId },
      })),
    ),
  );
  dispatcher.wake();
}

async function wakeWait(executionId: string, visit: number, count: number): Promise<void> {
  const row = { projectId: api.one.id, kind: 'execution.event' as const, refId: executionId, payload: { visit } };
  await inTransaction(api.db, (trx) =>
    enqueue(
      trx,
      Array.from({ length: count }, () => row),
    ),
  );
  dispatcher.wake();
}

async function countRows(): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*)::int AS n FROM outbox`.execute(api.db);
  return rows[0]?.n ?? 0;
}

const noteReceived = (row: OutboxRow | undefined) =>
  row && dispatcher.noteStarted({ kind: row.kind, refId: row.refId, visit: null, rowId: row.id });

it('a thousand rows for one workflow become one signal, and the next signal is sent after the workflow has received the first', async () => {
  const endpointId = uuidv7();
  await wakeEndpoint(endpointId, 1_000);
  await until(async () => (await countRows()) <= 2, 'the merge of the rows');
  expect(sent).toHaveLength(1);

  for (let n = 0; n < 5; n += 1) await wakeEndpoint(endpointId, 100);
  await until(async () => (await countRows()) <= 2, 'the merge of the later rows');
  expect(sent).toHaveLength(1);

  noteReceived(sent[0]);
  await until(() => sent.length === 2, 'the second signal');
  expect(sent[1]?.id).not.toBe(sent[0]?.id);
  noteReceived(sent[1]);
  await until(async () => (await countRows()) === 0, 'the end of all rows');
  expect(sent).toHaveLength(2);
});

it('a thousand events for one wait become a few signals, and each wait of an execution gets separate signals', async () => {
  const executionId = uuidv7();
  await wakeWait(executionId, 1, 1_000);
  await wakeWait(executionId, 2, 1);
  await until(async () => (await countRows()) <= 3, 'the merge of the rows');
  const listVisits = () => sent.map((row) => row.kind === 'execution.event' && row.payload.visit);
  await until(() => listVisits().includes(2), 'the signal of the second wait');
  expect(listVisits().filter((visit) => visit === 1).length).toBeLessThanOrEqual(2);
  for (const visit of [1, 2]) dispatcher.noteStarted({ kind: 'execution.event', refId: executionId, visit });
  await until(async () => {
    dispatcher.noteStarted({ kind: 'execution.event', refId: executionId, visit: 1 });
    return (await countRows()) === 0;
  }, 'the end of all rows');
});

it('signals to one workflow do not wait for signals to another', async () => {
  const endpoints = Array.from({ length: 10 }, () => uuidv7());
  for (const endpointId of endpoints) await wakeEndpoint(endpointId, 3);
  await until(() => sent.length === endpoints.length, 'a signal to each');
  expect(new Set(sent.map(({ refId }) => refId))).toEqual(new Set(endpoints));
});

it('the signal of a killed worker is sent again when its lease has expired', async () => {
  const endpointId = uuidv7();
  await wakeEndpoint(endpointId, 10);
  await until(async () => (await countRows()) <= 2, 'the merge of the rows');
  await dispatcher.stop();
  await sql`UPDATE outbox SET available_at = now()`.execute(api.db);
  dispatcher = start();
  dispatcher.wake();
  await until(() => sent.length === 2, 'the repeated signal');
  expect(sent[1]?.id).toBe(sent[0]?.id);
  noteReceived(sent[1]);
  await until(async () => (await countRows()) === 0, 'the end of the rows');
});
