import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import {
  createCampaignChunkActivities,
  createCampaignControlActivities,
} from '../../activities/campaigns/campaigns.ts';
import type { ChunkInput } from '../../activities/campaigns/sending.ts';
import type { ActivityDeps } from '../../activities/deps.ts';
import type { EmailProvider } from '../../channels/email/provider.ts';
import { createSmtpProvider } from '../../channels/email/smtp/provider.ts';
import { createCompute } from '../../compute/compute.ts';
import type { CampaignContent, CampaignStart } from '../../db/campaigns/campaigns.ts';
import type { OpenGate } from '../../db/campaigns/chunk-clock.ts';
import { claimRange, listUnsentRanges, nextClaimNumber } from '../../db/campaigns/claims.ts';
import type { Db } from '../../db/connection.ts';
import { createSuppressionPads } from '../../db/contacts/suppressions.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { parseConfig } from '../../rules/config.ts';
import { buildContacts, buildStartedCampaign } from '../build/campaigns.ts';
import { TEST_SECRET_KEY } from '../build/senders.ts';

export type CampaignWorker = ReturnType<typeof createCampaignWorker>;

/**
 * The activities of one worker process, run without Temporal. They send campaigns to `smtpUrl` or through `provider`.
 */
export function createCampaignWorker({ db, smtpUrl, provider }: { db: Db; smtpUrl: string; provider?: EmailProvider }) {
  const bulkProvider = provider ?? createSmtpProvider({ url: smtpUrl });
  const config = parseConfig({
    DATABASE_URL: 'postgres://none',
    TEMPORAL_ADDRESS: 'none:1',
    SECRET_KEY: TEST_SECRET_KEY,
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: smtpUrl,
  });
  const log = pino({ level: 'silent' });
  const stopping = new AbortController();
  const compute = createCompute({ cpuMsPerSecond: config.projectCpuMsPerSecond });
  const deps = {
    config,
    db,
    compute,
    outbox: { wake: () => {} },
    log,
    bulkProvider,
    endLog: () => {},
    stopping: stopping.signal,
  } as unknown as ActivityDeps;
  const chunk = createCampaignChunkActivities(deps);
  const control = createCampaignControlActivities(deps);
  return {
    /** Inserts pages of the audience into the ledger. */
    take: (start: CampaignStart, round?: number) =>
      runAsActivity(() => chunk.takeCampaignAudience({ ...start, ...(round !== undefined && { round }) })),
    /** Sends the chunk `seq` for one turn. */
    send: (start: CampaignStart, seq = 1, input: Partial<ChunkInput> = {}) =>
      runAsActivity(() => chunk.sendCampaignChunk({ ...start, seq, deferrals: 0, ...input })),
    /** Marks all deferred emails of the chunk `seq` as failed. */
    expire: (start: CampaignStart, seq = 1) =>
      runAsActivity(() => chunk.expireCampaignChunk({ ...start, seq, deferrals: 9 })),
    /** Reads the state of the campaign's start. */
    read: (start: CampaignStart) => control.readCampaignStart(start),
    /** Marks the campaign as SENT. If recipients are left, returns their chunks instead. */
    finish: (start: CampaignStart) => control.finishCampaignSend(start),
    /** Starts the waiting time of a campaign's test once its share was sent, and later chooses the winner. */
    judge: (start: CampaignStart) => control.judgeCampaignTest(start),
    /** Stops the activities as a worker process does at SIGTERM. */
    stop: () => stopping.abort(),
    close: async () => {
      await bulkProvider.close();
      await compute.close();
    },
  };
}

/** Builds a campaign that is being sent to `count` new contacts of a project. The worker has stored its recipients. */
export async function buildSendingCampaign(
  db: Db,
  p: { projectId: string; count: number; worker: CampaignWorker; says?: Partial<CampaignContent> },
): Promise<CampaignStart> {
  const { projectId, count, worker } = p;
  await buildContacts(db, { projectId, count });
  const start = await buildStartedCampaign(db, p);
  await worker.read(start);
  const taken = await worker.take(start);
  if (taken.outcome !== 'taken' || !taken.done || taken.recipients !== count)
    throw new Error(`the audience was not stored: ${JSON.stringify(taken)}`);
  return start;
}

/** Runs a function in the context of an activity, as a worker does. */
function runAsActivity<T>(activity: () => Promise<T>): Promise<T> {
  return new MockActivityEnvironment().run(activity);
}

const pads = createSuppressionPads(deriveKey(TEST_SECRET_KEY, 'suppression'));

/**
 * Claims recipients with settings that were read earlier. Returns how many of the first open recipients of the first
 * chunk it claims.
 */
export async function claimFirstRecipients(
  db: Db,
  start: CampaignStart,
  p: { size: number; clock: OpenGate },
): Promise<number> {
  const chunk = { ...start, seq: 1 };
  const [range] = await listUnsentRanges(db, { ...chunk, size: p.size, from: undefined });
  if (!range) throw new Error('the chunk has no open recipient');
  const terms = { dataKeys: [], suppressionPads: pads, sendRate: null, clock: p.clock };
  return (await claimRange(db, { ...chunk, claim: await nextClaimNumber(db), range, ...terms })).length;
}
