import { describe, expect, it } from 'vitest';
import type { OutboxKind, OutboxRow } from '../rules/outbox.ts';
import { splitIntoGroups } from './groups.ts';

const rowsOf = (kind: OutboxKind, projectId: string, count: number): OutboxRow[] =>
  Array.from(
    { length: count },
    (_, n) => ({ id: `${kind} ${projectId} ${n}`, projectId, kind, refId: `${n}`, payload: {} }) as OutboxRow,
  );

describe('rows of the outbox', () => {
  it('starts one workflow for every 200 messages of a project to retry', () => {
    const groups = splitIntoGroups([...rowsOf('email.retry', 'a', 250), ...rowsOf('email.retry', 'b', 1)]);
    expect(groups.map((group) => [group.rows[0].projectId, group.rows.length])).toEqual([
      ['a', 200],
      ['a', 50],
      ['b', 1],
    ]);
  });

  it('for executions are dispatched one by one, in their order', () => {
    const rows = rowsOf('execution.start', 'a', 3);
    expect(splitIntoGroups(rows)).toEqual(rows.map((row) => ({ kind: row.kind, rows: [row] })));
  });
});
