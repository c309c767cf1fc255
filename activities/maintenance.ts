import { heartbeat } from '@temporalio/activity';
import { wakeCampaigns } from '../db/campaign-lifecycle.ts';
import { unholdEmails } from '../db/email-ledger.ts';
import { deleteExpired } from '../db/housekeeping.ts';
import { enqueue } from '../db/outbox.ts';
import { computeSegment } from '../db/segment-compute.ts';
import { listTrackedSegments } from '../db/segments.ts';
import { inTransaction } from '../db/transaction.ts';
import type { ActivityDeps } from './deps.ts';
import { recoverLostWork } from './lost-work.ts';

export type MaintenanceActivities = ReturnType<typeof maintenanceActivities>;

/** What an operator may ask of a round; the schedule asks for nothing. */
export interface HousekeepingInput {
  /** How far back to look for messages that Temporal has lost; a little more than a day unless given. */
  messagesOfHours?: number;
}

/** Held mails a transaction: as many as five delivery workflows take. */
const RELEASE_PAGE = 1_000;

/** What comes round by itself, and what is too long for a request. */
export function maintenanceActivities({ db, lifecycle, log }: ActivityDeps) {
  return {
    /** Recomputes every tracked segment; returns how many. One that fails does not keep the others from it. */
    async recomputeSegments(): Promise<number> {
      let count = 0;
      let refs = await listTrackedSegments(db);
      while (refs.length > 0) {
        for (const { projectId, id } of refs) {
          await computeSegment(db, {
            projectId,
            segmentId: id,
            onPage: (outbox) => {
              lifecycle.dispatch(outbox);
              heartbeat();
            },
          }).catch((error: Error) =>
            log.warn({ projectId, segmentId: id, reason: error.message }, 'segment not computed'),
          );
          heartbeat();
          count += 1;
        }
        refs = await listTrackedSegments(db, refs.at(-1)?.id);
      }
      return count;
    },

    /** Deletes what has outlived its use, and takes up what has lost its workflow. */
    async keepHouse(input: HousekeepingInput = {}): Promise<void> {
      await deleteExpired(db);
      await recoverLostWork({ db, lifecycle, log }, input);
    },

    /** Puts a page of a project's held mails back on their way; returns how many. The status decides: each leaves once. */
    async releasePage({ projectId }: { projectId: string }): Promise<number> {
      const { ids, outbox } = await inTransaction(db, async (trx) => {
        const released = await unholdEmails(trx, { projectId, limit: RELEASE_PAGE });
        const rows = released.map((refId) => ({ projectId, kind: 'email.deliver' as const, refId }));
        // The last page wakes the campaigns, which keep their held mails themselves.
        const campaigns = released.length < RELEASE_PAGE ? await wakeCampaigns(trx, projectId) : [];
        return { ids: released, outbox: [...(await enqueue(trx, rows)), ...campaigns] };
      });
      lifecycle.dispatch(outbox);
      return ids.length;
    },
  };
}
