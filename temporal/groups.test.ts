import { describe, expect, it } from 'vitest';
import type { OutboxKind, OutboxRow } from '../rules/outbox.ts';
import { splitIntoGroups } from './groups.ts';

const createRows = (kind: OutboxKind, projectId: string, count: number): OutboxRow[] =>
  Array.from(
    { length: count },
    (_, n) => ({ id: `${kind} ${projectId} ${n}`, projectId, kind, refId: `${n}`, payload: {} }) as OutboxRow,
  );

describe('splitIntoGroups', () => {
  it('puts all messages of a project that wait for a retry into one group', () => {
    const groups = splitIntoGroups([
      ...createRows('email.retry', 'a', 15),
      ...createRows('email.retry', 'b', 1),
      ...createRows('sms.retry', 'a', 2),
    ]);
    expect(groups.map(({ kind, rows }) => [kind, rows[0].projectId, rows.length])).toEqual([
      ['email.retry', 'a', 15],
      ['email.retry', 'b', 1],
      ['sms.retry', 'a', 2],
    ]);
  });

  it('puts messages that wait for a sending window into a group for each opening', () => {
    const openings = [new Date(Date.now() + 60 * 3_600_000).toISOString(), new Date(Date.now() + 9e6).toISOString()];
    const waits = openings.flatMap((dueAt) =>
      createRows('sms.retry', 'a', 2).map((row) => ({ ...row, payload: { dueAt } })),
    );
    const soon = { dueAt: new Date(Date.now() + 45_000).toISOString() };
    const retries = createRows('sms.retry', 'a', 1).map((row) => ({ ...row, payload: soon }));
    const groups = splitIntoGroups([...waits, ...retries, ...createRows('sms.retry', 'a', 1)] as OutboxRow[]);
    expect(groups.map(({ rows }) => rows.map(({ payload }) => payload))).toEqual([
      [{ dueAt: openings[0] }, { dueAt: openings[0] }],
      [{ dueAt: openings[1] }, { dueAt: openings[1] }],
      [soon, {}],
    ]);
  });

  it('puts each row of an execution into a separate group, in order', () => {
    const rows = createRows('execution.start', 'a', 3);
    expect(splitIntoGroups(rows)).toEqual(rows.map((row) => ({ kind: row.kind, rows: [row] })));
  });
});
