import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { enqueue } from '../../db/outbox/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { NewOutboxRow, OutboxKind, OutboxRow } from '../../rules/outbox.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import type { RowGroup } from '../../temporal/groups.ts';
import { type OutboxDispatcher, startDispatcher } from '../../worker/outbox-dispatcher.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

// The tests simulate Temporal, so they decide when a workflow starts.

/** Ids of two projects. */
const [A, B] = ['0190a000-0000-7000-8000-00000000000a', '0190a000-0000-7000-8000-00000000000b'];
let database: TestDatabase;
let dispatcher: OutboxDispatcher;
let handed: OutboxRow[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());
beforeEach(() => {
  handed = [];
  const handOver = async ({ rows }: RowGroup) => {
    handed.push(...rows);
    return { outcome: 'accepted' as const };
  };
  dispatcher = startDispatcher({ db: database.db, lifecycle: { handOver }, log: pino({ level: 'silent' }) });
});
afterEach(async () => {
  await dispatcher.stop();
  await database.db.deleteFrom('outbox').execute();
});

async function enqueueRows(projectId: string, count: number, kind: OutboxKind = 'execution.start'): Promise<void> {
  const payload = { next: { kind: 'end' } };
  const rows = Array.from({ length: count }, () => ({ projectId, kind, refId: uuidv7(), payload }) as NewOutboxRow);
  await inTransaction(database.db, (trx) => enqueue(trx, rows));
  dispatcher.wake();
}

const listHanded = (projectId: string) => handed.filter((row) => row.projectId === projectId);

function startAll(rows: OutboxRow[]): void {
  for (const { kind, refId } of rows) dispatcher.noteStarted({ kind, refId, visit: null });
}

it('the dispatcher hands 16 starts of a project to Temporal, and the next ones when these have started', async () => {
  await enqueueRows(A, 40);
  await until(() => listHanded(A).length === 16, '16 starts');
  startAll(listHanded(A).slice(0, 10));
  await until(() => listHanded(A).length === 26, '10 more');
  startAll(listHanded(A).slice(10));
  await until(() => listHanded(A).length === 40, 'all');
});

it('the dispatcher hands the starts of a project to Temporal at once, while another project has a backlog that does not start', async () => {
  await enqueueRows(A, 1_000);
  await until(() => listHanded(A).length === 16, '16 starts');
  await enqueueRows(B, 5);
  await until(() => listHanded(B).length === 5, 'the starts of the other project');
  expect(listHanded(A)).toHaveLength(16);
});

it('the dispatcher hands over rows of lower priority while the projects with higher priority have reached their limit', async () => {
  await enqueueRows(A, 100);
  await until(() => listHanded(A).length === 16, '16 starts');
  await enqueueRows(B, 1, 'job.start');
  await until(() => listHanded(B).length === 1, 'the job');
});
