import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { inTransaction } from '../db/transaction.ts';
import { notifyWaiting } from '../engine/events/storefront.ts';
import type { Restock } from '../rules/storefront/storefront.ts';
import type { ActivityDeps } from './deps.ts';

/** Contacts of one transaction: few enough that nobody waits long for one of them. */
const PAGE_CONTACTS = 250;
/** Work of one activity: long enough to be worth its cost in Temporal, short enough that a stop loses no time to it. */
const ACTIVITY_MS = 5_000;

export type StorefrontActivities = ReturnType<typeof storefrontActivities>;

/** The work that a restock starts. May run again, because each page commits with the end of its waits. */
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
