import type { TaskQueue } from './queues.ts';

/** The state of a task queue in Temporal. */
export interface QueueStats {
  queue: TaskQueue;
  /** The approximate number of tasks that no worker has taken. */
  backlog: number;
  /** The age of the oldest waiting task. */
  backlogSeconds: number;
  /** Approximate tasks a second over the last half minute. */
  addedPerSecond: number;
  dispatchedPerSecond: number;
  /** Workers that polled within the last minute. */
  pollers: number;
}

/** The state of every task queue at an instant. A worker signals it to Temporal, where operators read it. */
export interface QueueReading {
  /** ISO 8601. */
  readAt: string;
  queues: QueueStats[];
}

/** A queue whose oldest task waits this long is behind. A worker with a free slot takes a task in milliseconds. */
const BEHIND_SECONDS = 10;

/** Returns the queues that no worker serves. */
export function unservedQueues(stats: readonly QueueStats[]): TaskQueue[] {
  return stats.filter(({ pollers }) => pollers === 0).map(({ queue }) => queue);
}

/** Rounds the numbers of a reading, because Temporal keeps each reading in a history. */
export function toReading(stats: readonly QueueStats[], readAt: Date): QueueReading {
  const queues = stats.map((one) => ({
    ...one,
    backlogSeconds: Math.round(one.backlogSeconds),
    addedPerSecond: roundRate(one.addedPerSecond),
    dispatchedPerSecond: roundRate(one.dispatchedPerSecond),
  }));
  return { readAt: readAt.toISOString(), queues };
}

/** Describes a reading as a Markdown table. Queues that no worker serves or that are behind are first, and bold. */
export function describeQueues({ readAt, queues }: QueueReading): string {
  const unserved = queues.filter(({ pollers }) => pollers === 0);
  const behind = queues.filter((one) => one.pollers > 0 && isBehind(one));
  const others = queues.filter((one) => one.pollers > 0 && !isBehind(one));
  const urgent = [...sortByAge(unserved), ...sortByAge(behind)];
  return [
    `Task queues at ${readAt}: ${describeUrgent(unserved.length, behind.length)}`,
    '',
    '| Queue | Waiting tasks | Oldest waits | Workers | Added/s | Started/s |',
    '|---|---|---|---|---|---|',
    ...urgent.map((one) => rowOf(cellsOf(one).map((cell) => `**${cell}**`))),
    ...sortByAge(others).map((one) => rowOf(cellsOf(one))),
  ].join('\n');
}

function isBehind({ backlog, backlogSeconds }: QueueStats): boolean {
  return backlog > 0 && backlogSeconds >= BEHIND_SECONDS;
}

function describeUrgent(unserved: number, behind: number): string {
  if (unserved + behind === 0) return 'none is behind.';
  return `${unserved} without a worker, ${behind} behind.`;
}

/** Sorts the queue with the oldest waiting task first. Queues without one keep their order. */
function sortByAge(queues: QueueStats[]): QueueStats[] {
  const ageOf = ({ backlog, backlogSeconds }: QueueStats) => (backlog > 0 ? backlogSeconds : -1);
  return queues.toSorted((one, other) => ageOf(other) - ageOf(one));
}

function cellsOf({
  queue,
  backlog,
  backlogSeconds,
  pollers,
  addedPerSecond,
  dispatchedPerSecond,
}: QueueStats): string[] {
  const oldest = backlog > 0 ? `${backlogSeconds} s` : '–';
  return [queue, `${backlog}`, oldest, `${pollers}`, `${addedPerSecond}`, `${dispatchedPerSecond}`];
}

function rowOf(cells: string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function roundRate(perSecond: number): number {
  return Math.round(perSecond * 10) / 10;
}
