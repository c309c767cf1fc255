import type { OutboxKind, OutboxRow } from '../domain/outbox.ts';

/** Rows of a project that start one workflow together: one activity does them all, so Temporal is paid once for many. */
const GROUP_MAX: Partial<Record<OutboxKind, number>> = {
  'email.deliver': 200,
  'sms.deliver': 100,
  'webhook.deliver': 200,
};
/** Groups are made of what queues up while this many dispatches are under way, like a database's group commit. */
const GROUPS_IN_FLIGHT_MAX = 4;
/**
 * After a start the next one of its group waits this long, unless the group is full: a start costs Temporal 3 ms of CPU and its workflow
 * 13 more, so that thousands of mails a second must not become hundreds of workflows. A lone mail never waits.
 */
const GROUP_INTERVAL_MS = 50;
/** Starts that cannot be grouped want more at a time: each is one small RPC. */
const SINGLES_IN_FLIGHT_MAX = 32;
/** Beyond this the relay takes what is left: memory stays bounded while Temporal is slow or away. */
const QUEUE_MAX_ROWS = 20_000;

/** The rows that may start one workflow together; undefined where each row starts its own. */
function groupKey(row: OutboxRow): string | undefined {
  if (!GROUP_MAX[row.kind]) return undefined;
  return `${row.kind} ${row.projectId} ${String(row.payload.endpointId ?? '')}`;
}

/** Rows that one start takes. */
function groupMax([first]: OutboxRow[]): number {
  return (first && GROUP_MAX[first.kind]) ?? 1;
}

/** Splits rows into what one start each takes, in their order. */
export function splitIntoGroups(rows: OutboxRow[]): OutboxRow[][] {
  const groups = new Map<string, OutboxRow[]>();
  for (const row of rows) {
    const key = groupKey(row) ?? row.id;
    pushTo(groups, key, row);
  }
  return [...groups.values()].flatMap((group) => chunksOf(group, groupMax(group)));
}

export interface DispatchQueue {
  add(rows: OutboxRow[]): void;
  /** Lets go of what is queued, which the relay takes, and resolves when nothing is under way. */
  close(): Promise<void>;
}

/** A bounded queue in front of Temporal: an idle service starts a row at once, a busy one starts many together. */
export function createDispatchQueue(run: (rows: OutboxRow[]) => Promise<void>): DispatchQueue {
  const singles: OutboxRow[] = [];
  const groups = new Map<string, OutboxRow[]>();
  /** Groups that were started within the interval. */
  const paced = new Set<string>();
  const inFlight = { single: 0, group: 0 };
  const waiting: (() => void)[] = [];
  let queued = 0;

  const empty = () => queued === 0 && inFlight.single + inFlight.group === 0;

  function enqueue(row: OutboxRow): void {
    const key = groupKey(row);
    if (key === undefined) singles.push(row);
    else pushTo(groups, key, row);
    queued += 1;
  }

  function start(rows: OutboxRow[], lane: 'single' | 'group'): void {
    queued -= rows.length;
    inFlight[lane] += 1;
    void run(rows).finally(() => {
      inFlight[lane] -= 1;
      pump();
      if (empty()) for (const resolve of waiting.splice(0)) resolve();
    });
  }

  function pump(): void {
    while (inFlight.single < SINGLES_IN_FLIGHT_MAX) {
      const row = singles.shift();
      if (!row) break;
      start([row], 'single');
    }
    for (const [key, rows] of groups) {
      if (inFlight.group >= GROUPS_IN_FLIGHT_MAX) break;
      const max = groupMax(rows);
      if (paced.has(key) && rows.length < max) continue;
      const batch = rows.splice(0, max);
      groups.delete(key);
      // What is left goes to the end, so that projects take turns.
      if (rows.length > 0) groups.set(key, rows);
      pace(key);
      start(batch, 'group');
    }
  }

  function pace(key: string): void {
    if (paced.has(key)) return;
    paced.add(key);
    setTimeout(() => {
      paced.delete(key);
      pump();
    }, GROUP_INTERVAL_MS);
  }

  return {
    add(rows) {
      for (const row of rows.slice(0, Math.max(0, QUEUE_MAX_ROWS - queued))) enqueue(row);
      pump();
    },
    close() {
      singles.length = 0;
      groups.clear();
      queued = 0;
      if (empty()) return Promise.resolve();
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}

function chunksOf<T>(items: T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size));
  return chunks;
}

function pushTo(groups: Map<string, OutboxRow[]>, key: string, row: OutboxRow): void {
  const group = groups.get(key);
  if (group) group.push(row);
  else groups.set(key, [row]);
}
