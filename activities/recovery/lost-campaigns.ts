import {
  cancelStopped,
  enqueueCampaigns,
  listOpenCampaigns,
  type OpenCampaign,
} from '../../db/recovery/lost-campaigns.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { ActivityDeps } from '../deps.ts';

type Deps = Pick<ActivityDeps, 'db' | 'lifecycle' | 'log'>;

const PAGE = 1_000;

/**
 * Makes campaigns and Temporal agree again. One whose workflow was terminated or cancelled there is cancelled, since
 * whoever did so wanted it to stop; one that Temporal has forgotten, or whose workflow failed, is sent on. May run at
 * any time, and again.
 */
export async function recoverCampaigns(deps: Deps): Promise<void> {
  let page: OpenCampaign[] = [];
  do {
    page = await listOpenCampaigns(deps.db, { after: page.at(-1)?.campaignId, limit: PAGE });
    for (const campaign of page) await recover(deps, campaign);
  } while (page.length === PAGE);
}

async function recover({ db, lifecycle, log }: Deps, { cancelled, ...start }: OpenCampaign): Promise<void> {
  const status = await lifecycle.findStatus(lifecycle.names.campaign(start.campaignId, start.sendNo));
  // COMPLETED: it has ended since the row was read.
  if (status === 'RUNNING' || status === 'PAUSED' || status === 'COMPLETED') return;
  const stopped = status === 'TERMINATED' || status === 'CANCELLED';
  const outbox = await inTransaction(db, (trx) =>
    stopped && !cancelled ? cancelStopped(trx, start) : enqueueCampaigns(trx, [start]),
  );
  lifecycle.dispatch(outbox);
  const { projectId, campaignId } = start;
  log.warn({ projectId, campaignId, status }, stopped ? 'a stopped campaign is cancelled' : 'a campaign is sent on');
}
