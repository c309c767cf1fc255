import type { OutboxKind, OutboxRow } from '../domain/outbox.ts';

/** Rows of a project that start one workflow together: one activity does them all, so Temporal is paid once for many. */
const GROUP_MAX: Partial<Record<OutboxKind, number>> = { 'email.retry': 200, 'sms.retry': 100, 'webhook.deliver': 200 };

/** One start, signal or cancel. */
export type RowGroup = [OutboxRow, ...OutboxRow[]];

/** Splits rows into what one start, signal or cancel each takes, in their order. */
export function splitIntoGroups<R extends OutboxRow>(rows: R[]): [R, ...R[]][] {
  const groups = new Map<string, [R, ...R[]][]>();
  for (const row of rows) {
    const key = groupKey(row);
    const same = groups.get(key) ?? [];
    const last = same.at(-1);
    if (last && last.length < (GROUP_MAX[row.kind] ?? 1)) last.push(row);
    else same.push([row]);
    groups.set(key, same);
  }
  return [...groups.values()].flat();
}

/** The same for rows that may start one workflow together; the row's own where each starts its own. */
function groupKey(row: OutboxRow): string {
  if (!GROUP_MAX[row.kind]) return row.id;
  return `${row.kind} ${row.projectId} ${String(row.payload.endpointId ?? '')}`;
}
