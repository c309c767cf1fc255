import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { inTransaction } from '../db/transaction.ts';
import { notifyWaitingContacts } from '../engine/events/storefront.ts';
import type { Restock } from '../rules/storefront/storefront.ts';
import type { ActivityDeps } from './deps.ts';

/**
 * The number of contacts that one transaction notifies. The number is small, because the transaction locks these
 * contacts, and other work waits for the locks.
 */
const PAGE_CONTACTS = 250;
/**
 * How long one activity works. The longer an activity works, the fewer activities Temporal has to store for a restock.
 * If the process stops, committed pages stay, but the contacts that this activity has notified are not counted.
 */
const ACTIVITY_MS = 5_000;

export type RestockActivities = ReturnType<typeof createRestockActivities>;

/**
 * The activity that runs after a restock. Safe to run twice, because the transaction that notifies contacts also ends
 * their wait.
 */
export function createRestockActivities({ db, outbox }: ActivityDeps) {
  return {
    /** Notifies contacts that waited for a restock, page by page for some seconds. */
    async tellWaitingContacts(restock: Restock): Promise<{ done: boolean; told: number }> {
      const until = Date.now() + ACTIVITY_MS;
      for (let told = 0; ; ) {
        const page = await inTransaction(db, (trx) => notifyWaitingContacts(trx, { ...restock, limit: PAGE_CONTACTS }));
        outbox.wake(page.outbox);
        told += page.told;
        if (page.done || Date.now() > until) return { done: page.done, told };
        heartbeat(told);
        cancellationSignal().throwIfAborted();
      }
    },
  };
}
