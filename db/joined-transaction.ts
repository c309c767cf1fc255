import { AsyncLocalStorage } from 'node:async_hooks';
import type { Db, Trx } from './connection.ts';

/** A transaction that databases can join, and the calls to make after its commit. */
interface Joined {
  trx: Trx;
  committed: (() => void)[];
}

const joined = new AsyncLocalStorage<Joined>();
const joinable = new WeakSet<Db>();

/**
 * Returns a database whose statements and transactions become part of the transaction that `withinTransaction` runs.
 * Without such a transaction, it is `db` itself. A request handler therefore need not know that it runs in a
 * transaction of its caller.
 */
export function joinableDb(db: Db): Db {
  const made = new Proxy(db, {
    get(plain, name) {
      const target = joined.getStore()?.trx ?? plain;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  joinable.add(made);
  return made;
}

/** Runs `work` so that all statements to joinable databases are part of `trx`. Call `committed` after the commit. */
export async function withinTransaction<T>(
  trx: Trx,
  work: () => Promise<T>,
): Promise<{ result: T; committed: () => void }> {
  const all: Joined = { trx, committed: [] };
  const result = await joined.run(all, work);
  return { result, committed: () => all.committed.forEach((act) => void act()) };
}

/** Returns the transaction that statements to `db` join. Undefined if there is no such transaction. */
export function joinedTransaction(db: Db): Trx | undefined {
  return joinable.has(db) ? joined.getStore()?.trx : undefined;
}

/** Runs `act` after the commit of the joined transaction, or at once without one. */
export function afterCommit(act: () => void): void {
  const store = joined.getStore();
  if (store) store.committed.push(act);
  else act();
}
