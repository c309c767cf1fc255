import { enqueue } from '../db/outbox/outbox.ts';
import { releaseHeldEmails } from '../db/sending/held-emails.ts';
import { inTransaction } from '../db/transaction.ts';
import { wakeWindowPage } from '../engine/automations/window-wakes.ts';
import { wakeCampaigns } from '../engine/campaigns/lifecycle.ts';
import type { ActivityDeps } from './deps.ts';

export type MaintenanceActivities = ReturnType<typeof createMaintenanceActivities>;

/** The number of emails that one transaction reads. The transaction releases at most this many emails. */
const RELEASE_ROWS = 1_000;
/** The number of executions that one transaction checks. Each execution that it wakes gets one signal. */
const WAKE_ROWS = 1_000;
/**
 * An activity ends after this many transactions that find no held email. In a project with many emails, these
 * transactions take about one second.
 */
const RELEASE_PAGES = 100;

/**
 * The result of one activity that releases held email. The next activity starts at the position `after`; null means
 * that all held email is released, or that the project is on hold again.
 */
export interface Released {
  released: number;
  after: string | null;
}

/**
 * Activities for work that takes too long for an API request, and activities that only workflows of earlier releases
 * call.
 */
export function createMaintenanceActivities({ db, outbox, log }: Pick<ActivityDeps, 'db' | 'outbox' | 'log'>) {
  return {
    keepHouse: async (_input: object): Promise<void> => {
      endEarlierRound('housekeeping');
    },
    recomputeSegments: async (): Promise<number> => endEarlierRound('segmentRecompute'),
    checkDomains: async (): Promise<number> => endEarlierRound('domainChecks'),

    /**
     * Releases a page of a project's held emails. Safe to run twice: only emails with the status HELD are released, so
     * a second run skips the emails of the first run. Releases nothing more when the project is on hold again.
     */
    async releasePage({ projectId, after = null }: { projectId: string; after?: string | null }): Promise<Released> {
      for (let page = 1; ; page += 1) {
        const done = await releaseOnePage(projectId, after);
        after = done.after;
        if (done.released > 0 || after === null || page === RELEASE_PAGES) return done;
      }
    },

    /**
     * Checks a page of a project's executions that wait for a sending window, after a change of the settings, and wakes
     * those executions whose window now opens earlier. Safe to run twice, because each woken execution checks its
     * window itself.
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

  /**
   * Ends a round of periodic work that an earlier release started, without doing the round's work. The rounds of this
   * release do the work instead.
   */
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
      const released = await releaseHeldEmails(trx, { projectId, after, rows: RELEASE_ROWS });
      const rows = released.ids.map((refId) => ({ projectId, kind: 'email.deliver' as const, refId }));
      // Campaigns release their held emails themselves, so the transaction of the last page only wakes the project's
      // campaigns.
      const isLast = released.after === null && !released.heldAgain;
      const campaigns = isLast ? await wakeCampaigns(trx, projectId) : [];
      return { ids: released.ids, last: released.after, outbox: [...(await enqueue(trx, rows)), ...campaigns] };
    });
    outbox.wake(queued);
    return { released: ids.length, after: last };
  }
}
