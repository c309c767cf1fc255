import { isConnectionFailure } from './transaction.ts';

/** A running transaction is held up after this, by a lock or a slow disk: others do not wait for what one of its items waits for. */
const HELD_UP_MS = 50;
/** Waiting items of a queue looked at for a batch; the others keep their turn. */
const LOOK_AHEAD = 256;

export interface GroupCommitOptions<I, O> {
  /** Transactions at a time: one is built while the other commits. */
  lanes: number;
  /** Items that share a transaction at most. */
  max: number;
  /** Beside a running transaction another begins when this many items wait, or when it is held up; 1 unless given. */
  worthALane?: number;
  /** What the items of a transaction may be together, in a unit of the caller's; one that is larger goes alone. */
  size?: { of(item: I): number; max: number };
  /** What shares transactions: items of one queue. Queues take turns. */
  queueOf(item: I): string;
  /** Two items with one of these in common do not share a transaction: each has to see what the other left. */
  apartBy?(item: I): string[];
  /** Items that do something to one thing share a transaction only if they do the same to it. */
  alikeBy?(item: I): [thing: string, change: string][];
  /** Does all in one transaction; answers in the order of the items. */
  commit(items: I[]): Promise<O[]>;
}

export interface GroupCommit<I, O> {
  /** Resolves after the commit with the item's own answer; rejects with what failed, and then nothing of the item is left. */
  add(item: I): Promise<O>;
}

interface Waiting<I, O> {
  item: I;
  resolve: (answer: O) => void;
  reject: (error: unknown) => void;
}

/**
 * Group commit without a delay: what comes in while the last transactions run goes together into the next, so a lone item is as fast as
 * alone, and a busy process pays for one commit what others pay for each. Source: performance.md §5.
 */
export function createGroupCommit<I, O>(options: GroupCommitOptions<I, O>): GroupCommit<I, O> {
  const { worthALane = 1 } = options;
  const queues = new Map<string, Waiting<I, O>[]>();
  let running = 0;
  let heldUp = 0;

  function pump(): void {
    while (running < options.lanes) {
      const entry = queues.entries().next().value;
      if (!entry) return;
      const [name, queue] = entry;
      if (running > heldUp && queue.length < worthALane) return;
      const batch = takeBatch(queue, options);
      queues.delete(name);
      // What is left goes to the end, so that queues take turns.
      if (queue.length > 0) queues.set(name, queue);
      start(batch);
    }
  }

  function start(batch: Waiting<I, O>[]): void {
    let late = 0;
    const timer = setTimeout(() => {
      late = 1;
      heldUp += late;
      pump();
    }, HELD_UP_MS);
    running += 1;
    void run(batch).finally(() => {
      clearTimeout(timer);
      running -= 1;
      heldUp -= late;
      pump();
    });
  }

  async function run(batch: Waiting<I, O>[]): Promise<void> {
    try {
      const answers = await options.commit(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as O);
    } catch (error) {
      // One of them made the transaction fail, and nothing of the batch is left: alone, only that one fails. Where Postgres is away, it
      // is so for all.
      if (batch.length > 1 && !isConnectionFailure(error)) for (const waiting of batch) await run([waiting]);
      else for (const { reject } of batch) reject(error);
    }
  }

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        const name = options.queueOf(item);
        const queue = queues.get(name);
        if (queue) queue.push({ item, resolve, reject });
        else queues.set(name, [{ item, resolve, reject }]);
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
    if (full || clashes(waiting.item, taken, options)) {
      left.push(waiting);
      continue;
    }
    room -= needs;
    batch.push(waiting);
  }
  queue.unshift(...left);
  return batch;
}

/** Whether an item cannot share a transaction with those whose things are taken already; its own are taken then. */
function clashes<I, O>(
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
  // Also one that has to wait takes its things, from everybody: those behind it do not overtake it.
  for (const [name, change] of things) taken.set(name, clash ? undefined : change);
  return clash;
}
