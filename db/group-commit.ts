import { isConnectionFailure } from './transaction.ts';

export interface GroupCommitOptions<I, O> {
  /** Transactions at a time: one is built while the other commits. */
  lanes: number;
  /** Items that share a transaction at most. */
  max: number;
  /** What shares transactions: items of one queue. Queues take turns. */
  queueOf(item: I): string;
  /** Two items with one of these in common do not share a transaction: each has to see what the other left. */
  apartBy?(item: I): string[];
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
 * Group commit without a timer: what comes in while the last transactions run goes together into the next, so a lone item is as fast as
 * alone, and a busy process pays for one commit what others pay for each. Source: performance.md §5.
 */
export function createGroupCommit<I, O>(options: GroupCommitOptions<I, O>): GroupCommit<I, O> {
  const queues = new Map<string, Waiting<I, O>[]>();
  let running = 0;

  function pump(): void {
    while (running < options.lanes) {
      const entry = queues.entries().next().value;
      if (!entry) return;
      const [name, queue] = entry;
      const { batch, left } = takeBatch(queue, options);
      queues.delete(name);
      // What is left goes to the end, so that queues take turns.
      if (left.length > 0) queues.set(name, left);
      running += 1;
      void run(batch).finally(() => {
        running -= 1;
        pump();
      });
    }
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

function takeBatch<I, O>(
  queue: Waiting<I, O>[],
  { max, apartBy }: Pick<GroupCommitOptions<I, O>, 'max' | 'apartBy'>,
): { batch: Waiting<I, O>[]; left: Waiting<I, O>[] } {
  if (!apartBy) return { batch: queue.slice(0, max), left: queue.slice(max) };
  const batch: Waiting<I, O>[] = [];
  const left: Waiting<I, O>[] = [];
  const taken = new Set<string>();
  for (const waiting of queue) {
    const names = apartBy(waiting.item);
    const clashes = names.some((name) => taken.has(name));
    // Also one that has to wait keeps its names taken: those behind it do not overtake it.
    for (const name of names) taken.add(name);
    if (clashes || batch.length === max) left.push(waiting);
    else batch.push(waiting);
  }
  return { batch, left };
}
