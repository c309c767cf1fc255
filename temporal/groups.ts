import type { OutboxKind, OutboxRow, OutboxRowOf } from '../rules/outbox.ts';

/**
 * Rows of a project that start one workflow together: one activity does them all, so Temporal is paid once for many.
 */
const GROUP_MAX: Partial<Record<OutboxKind, number>> = { 'email.retry': 200, 'sms.retry': 100, 'webhook.deliver': 200 };

export type RowsOf<K extends OutboxKind> = [OutboxRowOf<K>, ...OutboxRowOf<K>[]];

/** Rows of one kind and project that one start, signal or cancel takes; in their order. */
export type RowGroup = { [K in OutboxKind]: { kind: K; rows: RowsOf<K> } }[OutboxKind];

/** Splits rows into what one start, signal or cancel each takes, in their order. */
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

/** The same for rows that may start one workflow together; the row's own where each starts its own. */
function groupKey(row: OutboxRow): string {
  if (!GROUP_MAX[row.kind]) return row.id;
  return `${row.kind} ${row.projectId} ${row.kind === 'webhook.deliver' ? row.payload.endpointId : ''}`;
}
