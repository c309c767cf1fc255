import { describe, expect, it } from 'vitest';
import type { OutboxKind, OutboxRow } from '../rules/outbox.ts';
import { splitIntoGroups } from './groups.ts';

const rowsOf = (kind: OutboxKind, projectId: string, count: number): OutboxRow[] =>
  Array.from(
    { length: count },
    (_, n) => ({ id: `${kind} ${projectId} ${n}`, projectId, kind, refId: `${n}`, payload: {} }) as OutboxRow,
  );

describe('rows of the outbox', () => {
  it('starts one workflow for the messages of a project to retry', () => {
    const groups = splitIntoGroups([
      ...rowsOf('email.retry', 'a', 15),
      ...rowsOf('email.retry', 'b', 1),
      ...rowsOf('sms.retry', 'a', 2),
    ]);
    expect(groups.map(({ kind, rows }) => [kind, rows[0].projectId, rows.length])).toEqual([
      ['email.retry', 'a', 15],
      ['email.retry', 'b', 1],
      ['sms.retry', 'a', 2],
    ]);
  });

  it('for executions are dispatched one by one, in their order', () => {
    const rows = rowsOf('execution.start', 'a', 3);
    expect(splitIntoGroups(rows)).toEqual(rows.map((row) => ({ kind: row.kind, rows: [row] })));
  });
});
