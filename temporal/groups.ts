import type { OutboxKind, OutboxRow, OutboxRowOf } from '../rules/outbox.ts';

/**
 * Kinds whose rows of a project share one workflow. One activity processes all of them, which saves work in Temporal.
 * A group has at most the rows of one claim.
 */
const GROUPED: ReadonlySet<OutboxKind> = new Set(['email.retry', 'sms.retry']);

export type RowsOf<K extends OutboxKind> = [OutboxRowOf<K>, ...OutboxRowOf<K>[]];

/** Rows of one kind and project that share one start, signal or cancel, in their order. */
export type RowGroup = { [K in OutboxKind]: { kind: K; rows: RowsOf<K> } }[OutboxKind];

/** Splits rows into groups that share one start, signal or cancel, in their order. */
export function splitIntoGroups(rows: OutboxRow[]): RowGroup[] {
  const groups = new Map<string, [OutboxRow, ...OutboxRow[]]>();
  for (const row of rows) {
    const key = groupKey(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  // The kind is part of the key.
  return [...groups.values()].map((group) => ({ kind: group[0].kind, rows: group }) as RowGroup);
}

/** The key that rows of one workflow share. A row that starts its own workflow uses its own id. */
function groupKey(row: OutboxRow): string {
  return GROUPED.has(row.kind) ? `${row.kind} ${row.projectId}` : row.id;
}
