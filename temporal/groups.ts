import type { OutboxKind, OutboxRow, OutboxRowOf } from '../rules/outbox.ts';

/**
 * For these kinds of outbox rows, the rows of a project share one workflow. One activity of this workflow processes all
 * the rows, which saves work in Temporal. A group contains at most the rows that one claim of the outbox has returned.
 */
const GROUPED: ReadonlySet<OutboxKind> = new Set(['email.retry', 'sms.retry']);

export type RowsOf<K extends OutboxKind> = [OutboxRowOf<K>, ...OutboxRowOf<K>[]];

/**
 * Rows of one kind and project that together cause one start, signal or cancellation of a workflow. The rows are in the
 * order in which the outbox returned them.
 */
export type RowGroup = { [K in OutboxKind]: { kind: K; rows: RowsOf<K> } }[OutboxKind];

/** Splits rows into groups. Each group causes one start, signal or cancellation of a workflow. Keeps the order. */
export function splitIntoGroups(rows: OutboxRow[]): RowGroup[] {
  const groups = new Map<string, [OutboxRow, ...OutboxRow[]]>();
  for (const row of rows) {
    const key = toGroupKey(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  // All rows of a group have the same kind, because the kind is part of the key or the group has one row.
  return [...groups.values()].map((group) => ({ kind: group[0].kind, rows: group }) as RowGroup);
}

/** A deferred message is due again within a minute. A message that is due later waits for its sending window. */
const WINDOW_WAIT_MS = 3_600_000;

/**
 * Returns a key that is equal for rows of the same group. A row of a kind that is not grouped has its id as the key.
 * Messages that wait for a sending window share a group only if they are due at the same time, because all retries of a
 * group end at the same time.
 */
function toGroupKey(row: OutboxRow): string {
  if (!GROUPED.has(row.kind)) return row.id;
  const dueAt = 'dueAt' in row.payload ? row.payload.dueAt : undefined;
  const isLate = dueAt !== undefined && Date.parse(dueAt) > Date.now() + WINDOW_WAIT_MS;
  return `${row.kind} ${row.projectId}${isLate ? ` ${dueAt}` : ''}`;
}
