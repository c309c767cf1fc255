import { groupBy } from '../rules/filters/group-by.ts';
import { isOutOfTime } from './postgres-errors.ts';
import { provesRollback } from './transaction.ts';

/**
 * The time after which a transaction counts as delayed, for example by a lock or a slow disk. Other transactions then
 * no longer wait for it.
 */
const DELAYED_AFTER_MS = 50;
/**
 * Concurrent transactions, including delayed ones. Each uses a connection of the process, which needs some for other
 * work.
 */
const RUNNING_MAX = 8;
/** The number of a queue's waiting items that are considered for a batch. Items behind them keep their position. */
const LOOK_AHEAD = 256;

export interface GroupCommitOptions<I, O> {
  /** Number of concurrent transactions besides delayed ones. With two, one is built while the other commits. */
  lanes: number;
  /** Maximum number of items per transaction. */
  max: number;
  /**
   * Number of waiting items at which another transaction starts beside a running one; a delayed transaction also lets
   * another start. 1 unless given.
   */
  worthALane?: number;
  /** Size limit of a transaction's items, in a unit of the caller. A larger item gets a transaction of its own. */
  size?: { of(item: I): number; max: number };
  /** Returns the queue of an item. Items of one queue share transactions. Queues take turns. */
  queueOf(item: I): string;
  /**
   * Returns the tenant of an item, if a queue has items of several tenants. After a failed transaction, each tenant's
   * items run separately until they are done. A tenant that waits for a lock then delays no other, if `commit` limits
   * lock waits while it has items of several tenants.
   */
  tenantOf?(item: I): string;
  /** Items with a common key do not share a transaction, because each must see the writes of the other. */
  apartBy?(item: I): string[];
  /** Items that change the same thing share a transaction only if they make the same change. */
  alikeBy?(item: I): [thing: string, change: string][];
  /** Commits all items in one transaction, and returns the results in their order. */
  commit(items: I[]): Promise<O[]>;
}

export interface GroupCommit<I, O> {
  /**
   * Resolves after the commit with the item's own result. Rejects with the error, and then nothing of the item is
   * written.
   */
  add(item: I): Promise<O>;
}

interface Waiting<I, O> {
  item: I;
  resolve: (answer: O) => void;
  reject: (error: unknown) => void;
}

/** A queue of items that can share transactions, with the number of its running transactions. */
interface Queue<I, O> {
  name: string;
  waiting: Waiting<I, O>[];
  running: number;
  /** Concurrent transactions. Delayed transactions must not take all of them. */
  runningMax: number;
}

/**
 * Creates a group commit that adds no delay: items that arrive while a transaction runs are committed together in the
 * next one. A single item is as fast as without grouping, and a busy process needs one commit for many items.
 */
export function createGroupCommit<I, O>(options: GroupCommitOptions<I, O>): GroupCommit<I, O> {
  const { worthALane = 1, lanes, queueOf, tenantOf } = options;
  /** Queues with waiting or running items, in the order of their turns. */
  const queues = new Map<string, Queue<I, O>>();
  let running = 0;
  let delayed = 0;

  function queueNamed(name: string, runningMax: number): Queue<I, O> {
    const queue = queues.get(name) ?? { name, waiting: [], running: 0, runningMax };
    queues.set(name, queue);
    return queue;
  }

  /** Name of the queue for one tenant's items, which exists while they run separately. */
  const ownName = (item: I) => `${queueOf(item)} of ${tenantOf?.(item)}`;

  function pump(): void {
    while (running - delayed < lanes && running < RUNNING_MAX) {
      const queue = [...queues.values()].find(hasTurn);
      if (!queue) return;
      const batch = takeBatch(queue.waiting, options);
      // Moves the queue to the end, so that queues take turns.
      queues.delete(queue.name);
      queues.set(queue.name, queue);
      start(queue, batch);
    }
  }

  function hasTurn({ waiting, ...queue }: Queue<I, O>): boolean {
    if (waiting.length === 0 || queue.running >= queue.runningMax) return false;
    return running === delayed || waiting.length >= worthALane;
  }

  function start(queue: Queue<I, O>, batch: Waiting<I, O>[]): void {
    let late = 0;
    const timer = setTimeout(() => {
      late = 1;
      delayed += late;
      pump();
    }, DELAYED_AFTER_MS);
    running += 1;
    queue.running += 1;
    void run(batch).finally(() => {
      clearTimeout(timer);
      running -= 1;
      queue.running -= 1;
      delayed -= late;
      if (queue.running === 0 && queue.waiting.length === 0) queues.delete(queue.name);
      pump();
    });
  }

  async function run(batch: Waiting<I, O>[]): Promise<void> {
    try {
      const answers = await options.commit(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as O);
    } catch (error) {
      const tenants = groupBy(batch, ({ item }) => ownName(item));
      // A batch may run again only if nothing of it remains. If Postgres is unreachable, the error is the same for
      // all.
      const again = batch.length > 1 && provesRollback(error);
      if (again && tenants.size > 1) separateTenants(tenants);
      // One item made the transaction fail; run alone, only that item fails. After a timeout this is skipped, because
      // each item could time out again.
      else if (again && !isOutOfTime(error)) for (const waiting of batch) await run([waiting]);
      else for (const { reject } of batch) reject(error);
    }
  }

  /** Moves the items of these tenants, failed and waiting, into queues of their own. */
  function separateTenants(tenants: Map<string, Waiting<I, O>[]>): void {
    for (const [name, failed] of tenants) {
      const own = queueNamed(name, lanes);
      own.waiting.unshift(...failed);
      const shared = failed[0] && queues.get(queueOf(failed[0].item));
      if (!shared) continue;
      own.waiting.push(...shared.waiting.filter(({ item }) => ownName(item) === name));
      shared.waiting = shared.waiting.filter(({ item }) => ownName(item) !== name);
    }
  }

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        const own = tenantOf && queues.get(ownName(item));
        const queue = own ?? queueNamed(queueOf(item), tenantOf ? RUNNING_MAX : lanes);
        queue.waiting.push({ item, resolve, reject });
        pump();
      });
    },
  };
}

/** Takes the next batch off the queue. */
function takeBatch<I, O>(queue: Waiting<I, O>[], options: GroupCommitOptions<I, O>): Waiting<I, O>[] {
  const { max, size } = options;
  const batch: Waiting<I, O>[] = [];
  const left: Waiting<I, O>[] = [];
  const taken = new Map<string, string | undefined>();
  let room = size?.max ?? 0;
  for (const waiting of queue.splice(0, LOOK_AHEAD)) {
    const needs = size?.of(waiting.item) ?? 0;
    const full = batch.length === max || (batch.length > 0 && needs > room);
    if (full || hasConflict(waiting.item, taken, options)) {
      left.push(waiting);
      continue;
    }
    room -= needs;
    batch.push(waiting);
  }
  queue.unshift(...left);
  return batch;
}

/**
 * Tells whether an item cannot share a transaction with the items before it, because they change the same resources.
 * Its own resources are then marked as taken.
 */
function hasConflict<I, O>(
  item: I,
  taken: Map<string, string | undefined>,
  { apartBy, alikeBy }: GroupCommitOptions<I, O>,
): boolean {
  const things = [
    ...(alikeBy?.(item) ?? []),
    ...(apartBy?.(item) ?? []).map((name): [string, undefined] => [name, undefined]),
  ];
  const clash = things.some(
    ([name, change]) => taken.has(name) && (change === undefined || taken.get(name) !== change),
  );
  // A waiting item marks its resources too, so that later items wait behind it.
  for (const [name, change] of things) taken.set(name, clash ? undefined : change);
  return clash;
}
