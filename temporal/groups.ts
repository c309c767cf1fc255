import type { OutboxKind, OutboxRow, OutboxRowOf } from '../rules/outbox.ts';

/**
 * The maximum number of a project's rows that share one workflow. One activity processes all of them, which saves work
 * in Temporal.
 */
const GROUP_MAX: Partial<Record<OutboxKind, number>> = { 'email.retry': 200, 'sms.retry': 100 };

export type RowsOf<K extends OutboxKind> = [OutboxRowOf<K>, ...OutboxRowOf<K>[]];

/** Rows of one kind and project that share one start, signal or cancel, in their order. */
export type RowGroup = { [K in OutboxKind]: { kind: K; rows: RowsOf<K> } }[OutboxKind];

/** Splits rows into groups that share one start, signal or cancel, in their order. */
export function splitIntoGroups(rows: OutboxRow[]): RowGroup[] {
  const groups = new Map<string, [OutboxRow, ...OutboxRow[]][]>();
  for (const row of rows) {
    const key = groupKey(row);
    const same = groups.get(key) ?? [];
    const last = same.at(-1);
    if (last && last.length < (GROUP_MAX[row.kind] ?? 1)) last.push(row);
    else same.push([row]);
    groups.set(key, same);
  }
  // The kind is part of the key.
  return [...groups.values()].flat().map((same) => ({ kind: same[0].kind, rows: same }) as RowGroup);
}

/** The key that rows of one workflow share. A row that starts its own workflow uses its own id. */
function groupKey(row: OutboxRow): string {
  return GROUP_MAX[row.kind] ? `${row.kind} ${row.projectId}` : row.id;
}
