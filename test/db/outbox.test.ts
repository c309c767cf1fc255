import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  claimRowsFairly,
  deferOutboxRows,
  deleteStartedOutboxRows,
  enqueue,
  type FairClaim,
  findEndedTargets,
  mayLeaveDueRows,
  readOutboxState,
  releaseOutboxRows,
} from '../../db/outbox/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type NewOutboxRow, OUTBOX_PRIORITY, type OutboxKind } from '../../rules/outbox.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { BEFORE_ALL_PROJECTS, findLastServedProject } from '../../worker/turns.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const START = OUTBOX_PRIORITY['execution.start'];
const [A, B, C] = ['a', 'b', 'c'].map((letter) => `0190a000-0000-7000-8000-00000000000${letter}`) as [
  string,
  string,
  string,
];

/** A project whose id is above all others. */
const LAST = 'ffffffff-ffff-7fff-bfff-ffffffffffff';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.db.deleteFrom('outbox').execute());

function enqueueRows(projectId: string, count: number, kind: OutboxKind = 'execution.start') {
  // The tests do not depend on the kind of these rows.
  const rows = Array.from({ length: count }, () => ({ projectId, kind, refId: uuidv7() }) as NewOutboxRow);
  return inTransaction(database.db, (trx) => enqueue(trx, rows));
}

const claimRows = (p: Partial<FairClaim> = {}) =>
  claimRowsFairly(database.db, { priority: START, limit: 10, after: BEFORE_ALL_PROJECTS, leaseMs: 60_000, ...p });

/** Claims until no row is left, as a worker does. */
async function claimAll(p: Partial<FairClaim> = {}) {
  const taken = [];
  let after = BEFORE_ALL_PROJECTS;
  for (;;) {
    const rows = await claimRows({ ...p, after });
    if (rows.length === 0) return taken;
    after = findLastServedProject(rows, after);
    taken.push(...rows);
  }
}

describe('waiting rows of the outbox', () => {
  it('are claimed round-robin over the projects, and in order within each project', async () => {
    const mine = await enqueueRows(A, 200);
    const theirs = await enqueueRows(B, 3);
    const rows = await claimRows();
    expect(rows.filter((row) => row.projectId === B).map((row) => row.id)).toEqual(theirs.map((row) => row.id));
    const ours = rows.filter((row) => row.projectId === A).map((row) => row.id);
    expect(ours).toEqual(mine.slice(0, ours.length).map((row) => row.id));
  });

  it('are all claimed within a few rounds for hundreds of projects, also the rows of a busy project', async () => {
    const projects = Array.from({ length: 300 }, () => uuidv7());
    await enqueueRows(A, 100);
    for (const projectId of projects) await enqueueRows(projectId, 1);
    const served = new Set<string>();
    let after = BEFORE_ALL_PROJECTS;
    for (let round = 0; round < 4; round += 1) {
      const rows = await claimRows({ limit: 100, after });
      after = findLastServedProject(rows, after);
      for (const row of rows) served.add(row.projectId);
    }
    expect(served.size).toBe(301);
  });

  it('are each claimed by one of many concurrent processes', async () => {
    await enqueueRows(A, 300);
    await enqueueRows(B, 100);
    const taken = await Promise.all(Array.from({ length: 8 }, () => claimAll()));
    const ids = taken.flat().map((row) => row.id);
    expect(ids).toHaveLength(400);
    expect(new Set(ids).size).toBe(400);
  });

  it('stay if their project has reached its limit, and other projects continue', async () => {
    await enqueueRows(A, 50);
    await enqueueRows(B, 5);
    const freeSlotsByProject = new Map([[A, 0]]);
    expect((await claimAll({ freeSlotsByProject })).map((row) => row.projectId)).toEqual(Array(5).fill(B));
    const rows = await claimRows({ freeSlotsByProject: new Map([[A, 2]]) });
    expect(rows).toHaveLength(2);
  });
});

describe('a claim', () => {
  it('takes all due rows of a project while other projects have only rows in progress', async () => {
    for (let project = 0; project < 20; project += 1) await enqueueRows(uuidv7(), 1);
    expect(await claimRows({ limit: 20 })).toHaveLength(20);
    await enqueueRows(A, 10);
    expect(await claimRows({ limit: 20 })).toHaveLength(10);
  });

  it('finds a due row behind any number of projects that have only rows in progress', async () => {
    for (let project = 0; project < 150; project += 1) await enqueueRows(uuidv7(), 1);
    expect(await claimAll({ limit: 100 })).toHaveLength(150);
    await enqueueRows(LAST, 1);
    expect(await claimRows()).toHaveLength(1);
  });

  it('of a single project leaves no due row of it, unless the project or the claim is at its limit', async () => {
    await enqueueRows(A, 10);
    expect(mayLeaveDueRows(await claimRows())).toBe(false);
    await enqueueRows(A, 10);
    await enqueueRows(B, 1);
    expect(mayLeaveDueRows(await claimRows())).toBe(true);
    expect(mayLeaveDueRows([])).toBe(false);
  });
});

describe('outbox rows that were handed to Temporal', () => {
  it('are counted by project until their work starts, over all processes', async () => {
    await enqueueRows(A, 50);
    await enqueueRows(B, 1);
    const rows = await claimRows({ limit: 6, forTemporal: true });
    const countWithTemporal = async () =>
      Object.fromEntries((await readOutboxState(database.db, [START])).withTemporal);
    expect((await readOutboxState(database.db, [2, START])).waiting).toEqual([START]);
    expect(await countWithTemporal()).toEqual({ [A]: 3, [B]: 1 });
    const begun = rows
      .filter(({ projectId }) => projectId === A)
      .map(({ kind, refId }) => ({ kind, refId, visit: null }));
    await deleteStartedOutboxRows(database.db, begun.slice(0, 2));
    expect(await countWithTemporal()).toEqual({ [A]: 1, [B]: 1 });
  });

  it('do not count toward the limit when their lease has expired', async () => {
    await enqueueRows(A, 6);
    await claimRows({ forTemporal: true, leaseMs: 0 });
    expect(await readOutboxState(database.db, [START])).toEqual({ waiting: [START], withTemporal: new Map() });
    expect((await claimRows({ forTemporal: true })).map((row) => row.attempts)).toEqual(Array(6).fill(2));
  });

  it('are deleted when their work starts; a row that was not handed over stays', async () => {
    const [row] = await enqueueRows(A, 1);
    await deleteStartedOutboxRows(database.db, [{ kind: 'execution.start', refId: row?.refId ?? '', visit: null }]);
    expect(await claimRows()).toHaveLength(1);
  });

  it('are deleted for the one of two signals that the execution has received', async () => {
    const refId = uuidv7();
    const createEventRow = (visit: number) => ({
      projectId: A,
      kind: 'execution.event' as const,
      refId,
      payload: { visit },
    });
    await inTransaction(database.db, (trx) => enqueue(trx, [createEventRow(1), createEventRow(2)]));
    await claimRows({ priority: OUTBOX_PRIORITY['execution.event'], forTemporal: true });
    await deleteStartedOutboxRows(database.db, [{ kind: 'execution.event', refId, visit: 1 }]);
    const left = await database.db.selectFrom('outbox').select('payload').execute();
    expect(left).toEqual([{ payload: { visit: 2 } }]);
  });
});

describe('a claimed row of the outbox', () => {
  it('is claimed again when its lease has expired, and is marked as repeated', async () => {
    await enqueueRows(A, 1);
    expect((await claimRows({ leaseMs: 0 })).map((row) => row.attempts)).toEqual([1]);
    expect((await claimRows()).map((row) => row.attempts)).toEqual([2]);
    expect(await claimRows()).toEqual([]);
  });

  it('a row that is released is as if it had not been claimed', async () => {
    await enqueueRows(A, 1);
    const rows = await claimRows({ forTemporal: true });
    await releaseOutboxRows(
      database.db,
      rows.map((row) => row.id),
    );
    expect((await claimRows({ forTemporal: true })).map((row) => row.attempts)).toEqual([1]);
  });

  it('a row that is deferred waits, with the reason for the operator', async () => {
    await enqueueRows(A, 1);
    const rows = await claimRows();
    await deferOutboxRows(
      database.db,
      rows.map((row) => row.id),
      'no such workflow',
    );
    expect(await claimRows()).toEqual([]);
    const row = await database.db.selectFrom('outbox').select('last_error').executeTakeFirst();
    expect(row?.last_error).toBe('no such workflow');
  });
});

it('a cancellation of an ended execution stays in the outbox while the start of the execution waits there', async () => {
  const [start] = await enqueueRows(C, 1);
  const [cancel] = await inTransaction(database.db, (trx) =>
    enqueue(trx, [{ projectId: C, kind: 'execution.cancel', refId: start?.refId ?? '' }]),
  );
  if (!start || !cancel) throw new Error('nothing was queued');
  expect(await findEndedTargets(database.db, [cancel])).toEqual(new Set());
  await database.db.deleteFrom('outbox').where('id', '=', start.id).execute();
  expect(await findEndedTargets(database.db, [cancel])).toEqual(new Set([cancel.id]));
});
