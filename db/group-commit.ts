import { groupBy } from '../rules/filters/group-by.ts';
import { isOutOfTime } from './postgres-errors.ts';
import { provesRollback } from './transaction.ts';

/**
 * The time after which a transaction counts as delayed, for example by a lock or a slow disk. Further transactions
 * start without waiting for a delayed one.
 */
const DELAYED_AFTER_MS = 50;
/**
 * The maximum number of concurrent transactions, including delayed ones. Each needs a connection, and the process needs
 * some of its connections for other work.
 */
const RUNNING_MAX = 8;
/** The maximum number of a queue's waiting items that are considered for a batch. */
const LOOK_AHEAD = 256;

export interface GroupCommitOptions<I, O> {
  /**
   * Maximum number of concurrent transactions, not counting delayed ones. With two, one batch is prepared while the
   * other commits.
   */
  lanes: number;
  /** Maximum number of items per transaction. */
  max: number;
  /**
   * Number of a queue's waiting items at which another transaction starts while one is running. Defaults to 1. If all
   * running transactions are delayed, one waiting item is enough.
   */
  worthALane?: number;
  /**
   * The limit for the total size of a transaction's items, in a unit that the caller chooses. An item above the limit
   * gets a separate transaction.
   */
  size?: { of(item: I): number; max: number };
  /** Returns the name of an item's queue. Only items of one queue share transactions. Queues take turns. */
  queueOf(item: I): string;
  /**
   * Returns the tenant of an item, for queues with items of several tenants. After a transaction with items of several
   * tenants was rolled back, the items of each of these tenants run separately until they are done. One tenant that
   * waits for a lock then does not delay the others. For this to work, `commit` must limit how long it waits for locks
   * while it has items of several tenants.
   */
  tenantOf?(item: I): string;
  /**
   * Returns keys of an item. Two items with a common key do not share a transaction, because the second must see the
   * writes of the first.
   */
  apartBy?(item: I): string[];
  /**
   * Returns changes that an item makes, as pairs of a resource and the new value. Items that change the same resource
   * share a transaction only if they set the same value.
   */
  alikeBy?(item: I): [resource: string, change: string][];
  /** Commits all items in one transaction, and returns the results in their order. */
  commit(items: I[]): Promise<O[]>;
}

export interface GroupCommit<I, O> {
  /**
   * Resolves after the commit with the item's result. Rejects with the error of the commit. After a connection error,
   * the item may have been written nevertheless (`provesRollback`).
   */
  add(item: I): Promise<O>;
}

interface Waiting<I, O> {
  item: I;
  resolve: (answer: O) => void;
  reject: (error: unknown) => void;
}

/** Items that may share transactions, with the number of their running transactions. */
interface Queue<I, O> {
  name: string;
  waiting: Waiting<I, O>[];
  running: number;
  /**
   * The maximum number of this queue's concurrent transactions. A queue with items of several tenants may use all
   * `RUNNING_MAX`. Any other queue gets `lanes`, so that its delayed transactions leave some for other queues.
   */
  runningMax: number;
}

/**
 * Creates a group commit. It adds no delay: an item that arrives while no transaction is running is committed at once.
 * Items of a queue that arrive during a transaction are committed together in the next transaction, so a busy process
 * needs one commit for many items.
 */
export function createGroupCommit<I, O>(options: GroupCommitOptions<I, O>): GroupCommit<I, O> {
  const { worthALane = 1, lanes, queueOf, tenantOf } = options;
  /** Queues with waiting or running items. The first one that has a turn (`hasTurn`) is served next. */
  const queues = new Map<string, Queue<I, O>>();
  let running = 0;
  let delayed = 0;

  function getOrAddQueue(name: string, runningMax: number): Queue<I, O> {
    const queue = queues.get(name) ?? { name, waiting: [], running: 0, runningMax };
    queues.set(name, queue);
    return queue;
  }

  /** Returns the name of the separate queue for one tenant's items. The queue exists only while they run separately. */
  const ownName = (item: I) => `${queueOf(item)} of ${tenantOf?.(item)}`;

  function startBatches(): void {
    while (running - delayed < lanes && running < RUNNING_MAX) {
      const queue = [...queues.values()].find(hasTurn);
      if (!queue) return;
      const batch = takeBatch(queue.waiting, options);
      // Moves the queue to the end, so that the other queues come first next time.
      queues.delete(queue.name);
      queues.set(queue.name, queue);
      startBatch(queue, batch);
    }
  }

  function hasTurn({ waiting, ...queue }: Queue<I, O>): boolean {
    if (waiting.length === 0 || queue.running >= queue.runningMax) return false;
    return running === delayed || waiting.length >= worthALane;
  }

  function startBatch(queue: Queue<I, O>, batch: Waiting<I, O>[]): void {
    let late = 0;
    const timer = setTimeout(() => {
      late = 1;
      delayed += late;
      startBatches();
    }, DELAYED_AFTER_MS);
    running += 1;
    queue.running += 1;
    void runBatch(batch).finally(() => {
      clearTimeout(timer);
      running -= 1;
      queue.running -= 1;
      delayed -= late;
      if (queue.running === 0 && queue.waiting.length === 0) queues.delete(queue.name);
      startBatches();
    });
  }

  async function runBatch(batch: Waiting<I, O>[]): Promise<void> {
    try {
      const results = await options.commit(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as O);
    } catch (error) {
      const tenants = groupBy(batch, ({ item }) => ownName(item));
      // A batch may run again only if its transaction was rolled back. If Postgres is unreachable, all items get the
      // same error.
      const again = batch.length > 1 && provesRollback(error);
      if (again && tenants.size > 1) moveToTenantQueues(tenants);
      // Usually one item caused the failure. If each item runs separately, only that item fails. After a timeout, items
      // do not run separately, because each could time out again.
      else if (again && !isOutOfTime(error)) for (const waiting of batch) await runBatch([waiting]);
      else for (const { reject } of batch) reject(error);
    }
  }

  /** Moves the failed and waiting items of these tenants into separate queues. */
  function moveToTenantQueues(tenants: Map<string, Waiting<I, O>[]>): void {
    for (const [name, failed] of tenants) {
      const own = getOrAddQueue(name, lanes);
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
        const queue = own ?? getOrAddQueue(queueOf(item), tenantOf ? RUNNING_MAX : lanes);
        queue.waiting.push({ item, resolve, reject });
        startBatches();
      });
    },
  };
}

/** Removes the next batch from the queue and returns it. */
function takeBatch<I, O>(queue: Waiting<I, O>[], options: GroupCommitOptions<I, O>): Waiting<I, O>[] {
  const { max, size } = options;
  const batch: Waiting<I, O>[] = [];
  const left: Waiting<I, O>[] = [];
  const taken = new Map<string, string | undefined>();
  let room = size?.max ?? 0;
  for (const waiting of queue.splice(0, LOOK_AHEAD)) {
    const needs = size?.of(waiting.item) ?? 0;
    const isTooLarge = batch.length > 0 && needs > room;
    // An item that is too large adds its resources too, so that a smaller item with the same resources waits for it.
    if (batch.length === max || hasConflict(waiting.item, taken, options) || isTooLarge) {
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
 * Adds the item's resources to `taken`.
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
  // An item that must wait adds its resources too, so that later items with the same resources wait until it is done.
  for (const [name, change] of things) taken.set(name, clash ? undefined : change);
  return clash;
}
