import type { TaskQueue } from './queues.ts';

/** The state of a task queue in Temporal. */
export interface QueueStats {
  queue: TaskQueue;
  /** The approximate number of tasks that no worker has taken. */
  backlog: number;
  /** The age of the oldest waiting task. */
  backlogSeconds: number;
  /** The approximate number of tasks per second in the last half minute. */
  addedPerSecond: number;
  dispatchedPerSecond: number;
  /** The number of workers that polled within the last 70 seconds. */
  pollers: number;
}

/** The state of every task queue at an instant. A worker sends this state to Temporal, where operators read it. */
export interface QueueReading {
  /** The time of the reading, in ISO 8601. */
  readAt: string;
  queues: QueueStats[];
}

/**
 * A queue is behind if its oldest task has waited this long. A worker with a free slot takes a task within
 * milliseconds.
 */
const BEHIND_SECONDS = 10;

/** Returns the queues that no worker serves. */
export function listUnservedQueues(stats: readonly QueueStats[]): TaskQueue[] {
  return stats.filter(({ pollers }) => pollers === 0).map(({ queue }) => queue);
}

/** Creates a reading with rounded numbers, because Temporal stores each reading in the history of a workflow. */
export function toQueueReading(stats: readonly QueueStats[], readAt: Date): QueueReading {
  const queues = stats.map((queue) => ({
    ...queue,
    backlogSeconds: Math.round(queue.backlogSeconds),
    addedPerSecond: roundRate(queue.addedPerSecond),
    dispatchedPerSecond: roundRate(queue.dispatchedPerSecond),
  }));
  return { readAt: readAt.toISOString(), queues };
}

/** Describes a reading as a Markdown table. Queues that no worker serves or that are behind are first, and bold. */
export function formatQueueTable({ readAt, queues }: QueueReading): string {
  const unserved = queues.filter(({ pollers }) => pollers === 0);
  const behind = queues.filter((queue) => queue.pollers > 0 && isBehind(queue));
  const others = queues.filter((queue) => queue.pollers > 0 && !isBehind(queue));
  const urgent = [...sortByAge(unserved), ...sortByAge(behind)];
  return [
    `Task queues at ${readAt}: ${describeUrgent(unserved.length, behind.length)}`,
    '',
    '| Queue | Waiting tasks | Oldest waits | Workers | Added/s | Started/s |',
    '|---|---|---|---|---|---|',
    ...urgent.map((queue) => toRow(toCells(queue).map((cell) => `**${cell}**`))),
    ...sortByAge(others).map((queue) => toRow(toCells(queue))),
  ].join('\n');
}

function isBehind({ backlog, backlogSeconds }: QueueStats): boolean {
  return backlog > 0 && backlogSeconds >= BEHIND_SECONDS;
}

function describeUrgent(unserved: number, behind: number): string {
  if (unserved + behind === 0) return 'none is behind.';
  return `${unserved} without a worker, ${behind} behind.`;
}

/**
 * Sorts queues by the age of their oldest waiting task, oldest first. Queues without waiting tasks keep their order.
 */
function sortByAge(queues: QueueStats[]): QueueStats[] {
  const ageOf = ({ backlog, backlogSeconds }: QueueStats) => (backlog > 0 ? backlogSeconds : -1);
  return queues.toSorted((queue, other) => ageOf(other) - ageOf(queue));
}

function toCells({
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

function toRow(cells: string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function roundRate(perSecond: number): number {
  return Math.round(perSecond * 10) / 10;
}
