import { AsyncLocalStorage } from 'node:async_hooks';
import type { Db, Trx } from './connection.ts';

/** A transaction that joinable databases join, and the functions to call after its commit. */
interface Joined {
  trx: Trx;
  committed: (() => void)[];
}

const joined = new AsyncLocalStorage<Joined>();
const joinable = new WeakSet<Db>();

/**
 * Returns a database whose statements and transactions become part of the transaction that `withinTransaction` is
 * running. Outside of such a transaction, they run on `db`. A request handler can therefore run within its caller's
 * transaction without knowing about it.
 */
export function createJoinableDb(db: Db): Db {
  const proxy = new Proxy(db, {
    get(plain, name) {
      const target = joined.getStore()?.trx ?? plain;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  joinable.add(proxy);
  return proxy;
}

/**
 * Runs `work` so that all statements on joinable databases are part of `trx`. The caller calls the returned `committed`
 * after the commit.
 */
export async function withinTransaction<T>(
  trx: Trx,
  work: () => Promise<T>,
): Promise<{ result: T; committed: () => void }> {
  const all: Joined = { trx, committed: [] };
  const result = await joined.run(all, work);
  return { result, committed: () => all.committed.forEach((act) => void act()) };
}

/** Returns the transaction that statements to `db` join. Undefined if there is no such transaction. */
export function findJoinedTransaction(db: Db): Trx | undefined {
  return joinable.has(db) ? joined.getStore()?.trx : undefined;
}

/** Runs `act` after the commit of the joined transaction. Outside of a joined transaction, runs it at once. */
export function runAfterCommit(act: () => void): void {
  const store = joined.getStore();
  if (store) store.committed.push(act);
  else act();
}
