import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { inTransaction } from '../db/transaction.ts';
import { notifyWaiting } from '../engine/events/storefront.ts';
import type { Restock } from '../rules/storefront/storefront.ts';
import type { ActivityDeps } from './deps.ts';

/** The number of contacts per transaction. It is small, so that other work does not wait long for a locked contact. */
const PAGE_CONTACTS = 250;
/**
 * How long one activity works. It is long enough to be worth its cost in Temporal, and short enough that a stop loses
 * little.
 */
const ACTIVITY_MS = 5_000;

export type StorefrontActivities = ReturnType<typeof storefrontActivities>;

/** The work that a restock starts. Safe to run twice, because each page commits together with the end of its waits. */
export function storefrontActivities({ db, outbox }: ActivityDeps) {
  return {
    /** Notifies contacts that waited for a restock, page by page for some seconds. */
    async tellWaitingContacts(restock: Restock): Promise<{ done: boolean; told: number }> {
      const until = Date.now() + ACTIVITY_MS;
      for (let told = 0; ; ) {
        const page = await inTransaction(db, (trx) => notifyWaiting(trx, { ...restock, limit: PAGE_CONTACTS }));
        outbox.wake(page.outbox);
        told += page.told;
        if (page.done || Date.now() > until) return { done: page.done, told };
        heartbeat(told);
        cancellationSignal().throwIfAborted();
      }
    },
  };
}
