import { enqueue } from '../db/outbox/outbox.ts';
import { releaseHeldPage } from '../db/sending/held-emails.ts';
import { inTransaction } from '../db/transaction.ts';
import { wakeWindowPage } from '../engine/automations/window-wakes.ts';
import { wakeCampaigns } from '../engine/campaigns/lifecycle.ts';
import type { ActivityDeps } from './deps.ts';

export type MaintenanceActivities = ReturnType<typeof maintenanceActivities>;

/**
 * The number of emails that one transaction reads, and the most held emails that it releases. Five delivery workflows
 * take this many.
 */
const RELEASE_ROWS = 1_000;
/** The number of executions that one transaction checks; each one that is woken early is one signal. */
const WAKE_ROWS = 1_000;
/** The maximum number of transactions of an activity that find no held email: a second or so of a long ledger. */
const RELEASE_PAGES = 100;

/** One activity of a release, and the start of the next one; null at the end. */
export interface Released {
  released: number;
  after: string | null;
}

/** Work of a project that is too long for a request, and activities that rounds of earlier releases still ask for. */
export function maintenanceActivities({ db, outbox, log }: Pick<ActivityDeps, 'db' | 'outbox' | 'log'>) {
  return {
    keepHouse: async (_input: object): Promise<void> => {
      endEarlierRound('housekeeping');
    },
    recomputeSegments: async (): Promise<number> => endEarlierRound('segmentRecompute'),
    checkDomains: async (): Promise<number> => endEarlierRound('domainChecks'),

    /**
     * Releases a page of a project's held emails. Safe to run twice: the status decides, so each email is released
     * once and a finished page is skipped. Stops when the project is on hold again.
     */
    async releasePage({ projectId, after = null }: { projectId: string; after?: string | null }): Promise<Released> {
      for (let page = 1; ; page += 1) {
        const done = await releaseOnePage(projectId, after);
        after = done.after;
        if (done.released > 0 || after === null || page === RELEASE_PAGES) return done;
      }
    },

    /**
     * Wakes a page of a project's executions that wait for a sending window which now opens earlier. Safe to run
     * twice, because each execution checks its own window.
     */
    async wakeWindowPage(input: {
      projectId: string;
      after: string | null;
    }): Promise<{ woken: number; after: string | null }> {
      const { outbox: queued, after } = await inTransaction(db, (trx) =>
        wakeWindowPage(trx, { ...input, rows: WAKE_ROWS }),
      );
      outbox.wake(queued);
      return { woken: queued.length, after };
    },
  };

  /** Ends a round that an earlier release started. Rounds of this release do its work. */
  function endEarlierRound(workflow: string): number {
    log.warn({ workflow }, 'a workflow of an earlier release did nothing; see recoveryRound and the other rounds');
    return 0;
  }

  async function releaseOnePage(projectId: string, after: string | null): Promise<Released> {
    const {
      ids,
      last,
      outbox: queued,
    } = await inTransaction(db, async (trx) => {
      const released = await releaseHeldPage(trx, { projectId, after, rows: RELEASE_ROWS });
      const rows = released.ids.map((refId) => ({ projectId, kind: 'email.deliver' as const, refId }));
      // Campaigns release their own held emails, so the last page wakes them.
      const isLast = released.after === null && !released.heldAgain;
      const campaigns = isLast ? await wakeCampaigns(trx, projectId) : [];
      return { ids: released.ids, last: released.after, outbox: [...(await enqueue(trx, rows)), ...campaigns] };
    });
    outbox.wake(queued);
    return { released: ids.length, after: last };
  }
}
