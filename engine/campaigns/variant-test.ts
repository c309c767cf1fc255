import { sql } from 'kysely';
import type { CampaignStart } from '../../db/campaigns/campaigns.ts';
import {
  type Campaign,
  type CampaignRef,
  createRefusalError,
  getCampaign,
  lockCampaign,
} from '../../db/campaigns/campaigns.ts';
import { isOfCampaignSql } from '../../db/campaigns/recipient-rows.ts';
import { findTestState, lastSendableSeqSql } from '../../db/campaigns/testing.ts';
import type { Db, Trx } from '../../db/connection.ts';
import { enqueue } from '../../db/outbox/outbox.ts';
import { BEGUN_CAMPAIGNS } from '../../db/schema/campaign-status.ts';
import {
  type CampaignVariant,
  findBestVariant,
  findVariantIndex,
  type VariantResult,
  type VariantTest,
  type WinnerSource,
} from '../../rules/campaigns/variants.ts';
import { AppError, createFieldError } from '../../rules/errors.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { ReadVersion } from '../../rules/record-version.ts';

/**
 * The state of a test. `waiting`: the winner will be chosen at `endsAt`. `paused`: the waiting time is over, but the
 * campaign is paused; the winner is chosen after a resume. `decided`: the winner is known, and chunks up to `lastSeq`
 * may be sent. `ended`: this start no longer sends the campaign.
 */
export type TestState =
  | { outcome: 'waiting'; endsAt: string }
  | { outcome: 'paused' }
  | { outcome: 'decided'; lastSeq: number }
  | { outcome: 'ended' };

/**
 * Advances the test of a campaign's variants. Starts the waiting time once the recipients in the test have their
 * emails. When that time is over, chooses the winner, and the remaining recipients get this variant. While the campaign
 * is paused, the waiting time continues, but no winner is chosen. Safe to run again at any time and concurrently with
 * `chooseWinner`, because only the first choice is stored.
 */
export async function advanceTest(trx: Trx, p: CampaignStart): Promise<TestState> {
  // Counts before taking the lock, because counting a large share takes long. Meanwhile, pages of the audience and a
  // pause would wait for the lock.
  const results = (await isTestOver(trx, p)) ? await countTestResults(trx, p) : undefined;
  const row = await lockTest(trx, p);
  if (!row) return { outcome: 'ended' };
  // Checks again under the lock, because the transaction that held the lock may have chosen a winner.
  if (row.winner !== null) return { outcome: 'decided', lastSeq: await findLastChunk(trx, p) };
  const { variants, variant_test: test, paused } = row;
  if (!results) return { outcome: 'waiting', endsAt: await startTestWait(trx, p, test) };
  if (paused) return { outcome: 'paused' };
  const counted = variants.map((_, n) => toResult(results.get(n), test));
  const winner = findBestVariant(counted, test.minimum);
  return { outcome: 'decided', lastSeq: await setWinner(trx, p, { winner, by: 'test' }) };
}

/** The campaign after a user chose its winner. */
export interface ChosenWinner {
  campaign: Campaign;
  /** The rows to pass to `outbox.wake` after the commit. */
  outbox: OutboxRow[];
}

/**
 * Chooses the variant that the remaining recipients get, on a user's request and before the test ends. The campaign may
 * be PAUSED.
 * @throws AppError NOT_FOUND; CONFLICT if the campaign is neither SENDING nor PAUSED, has no test, or already has a
 * winner; VALIDATION_ERROR for an unknown variant
 */
export async function chooseWinner(
  trx: Trx,
  p: CampaignRef & { variant: string; read?: ReadVersion | undefined },
): Promise<ChosenWinner> {
  const { projectId, id, variant, read } = p;
  if (read) await lockCampaign(trx, { projectId, id }, read);
  const { rows } = await sql<{
    variants: CampaignVariant[] | null;
    winner: number | null;
    tests: boolean;
    send_no: number;
  }>`
    SELECT variants, winner, variant_test IS NOT NULL AS tests, send_no FROM campaigns
    WHERE project_id = ${projectId} AND id = ${id} AND status IN ${BEGUN_CAMPAIGNS} FOR NO KEY UPDATE
  `.execute(trx);
  const row = rows[0];
  if (!row) {
    throw await createRefusalError(trx, p, {
      message: 'A winner is chosen while the campaign is SENDING or PAUSED.',
      suggestion: 'Start a campaign that has a test with POST /v1/campaigns/{id}/send first.',
    });
  }
  if (!row.tests)
    throw new AppError('CONFLICT', {
      message: 'This campaign has no test, so it has no winner.',
      suggestion: 'Only a campaign that was started with variants and test needs a winner.',
    });
  const { winner: currentWinner, variants } = row;
  if (currentWinner !== null) {
    const details = { winner: variants?.[currentWinner]?.name ?? null };
    throw new AppError('CONFLICT', {
      message: 'This campaign has its winner already.',
      details,
      suggestion: 'The winner cannot change. GET /v1/campaigns/{id}/stats shows the result of each variant.',
    });
  }
  const winner = findVariantIndex(variants, variant);
  if (winner === undefined) throw createFieldError('variant', 'No variant of this campaign has this name');
  await setWinner(trx, { projectId, campaignId: id }, { winner, by: 'hand' });
  const payload = { sendNo: row.send_no };
  const outbox = await enqueue(trx, [{ projectId, kind: 'campaign.changed', refId: id, payload }]);
  return { campaign: await getCampaign(trx, p), outbox };
}

interface CountedResult {
  variant: number;
  sent: number;
  opens: number;
  clicks: number;
}

/**
 * Counts sent emails, openers and clickers of each variant, by the variant's number. Includes the recipients of the
 * test, but not the rest, which gets the winner. Without a test, includes all recipients.
 */
export async function countTestResults(
  db: Db,
  p: { projectId: string; campaignId: string },
): Promise<Map<number, CountedResult>> {
  const { rows } = await sql<CountedResult>`
    SELECT k.variant, count(e.sent_at)::int AS sent, count(e.opened_at)::int AS opens, count(e.clicked_at)::int AS clicks
    FROM campaign_chunks k JOIN emails e ON e.project_id = k.project_id AND e.id BETWEEN k.first_id AND k.last_id
    WHERE k.project_id = ${p.projectId} AND k.campaign_id = ${p.campaignId} AND k.variant IS NOT NULL AND NOT k.rest
      AND ${isOfCampaignSql(sql`e.campaign_id`, p)}
    GROUP BY k.variant
  `.execute(db);
  return new Map(rows.map((row) => [row.variant, row]));
}

function toResult(counted: CountedResult | undefined, { metric }: VariantTest): VariantResult {
  return { sent: counted?.sent ?? 0, successes: counted?.[metric] ?? 0 };
}

interface TestRow {
  variants: CampaignVariant[];
  variant_test: VariantTest;
  winner: number | null;
  paused: boolean;
}

async function isTestOver(trx: Trx, p: CampaignStart): Promise<boolean> {
  const { rows } = await sql`
    SELECT id FROM campaigns
    WHERE project_id = ${p.projectId} AND id = ${p.campaignId} AND test_ends_at <= clock_timestamp() AND winner IS NULL
  `.execute(trx);
  return rows.length > 0;
}

async function lockTest(trx: Trx, p: CampaignStart): Promise<TestRow | undefined> {
  const { rows } = await sql<TestRow>`
    SELECT variants, variant_test, winner, status = 'PAUSED' AS paused
    FROM campaigns WHERE project_id = ${p.projectId} AND id = ${p.campaignId} AND send_no = ${p.sendNo}
      AND status IN ${BEGUN_CAMPAIGNS} AND variant_test IS NOT NULL
    FOR NO KEY UPDATE
  `.execute(trx);
  return rows[0];
}

async function startTestWait(trx: Trx, p: CampaignStart, { waitMinutes }: VariantTest): Promise<string> {
  const { rows } = await sql<{ endsAt: Date }>`
    UPDATE campaigns SET test_ends_at = coalesce(test_ends_at, clock_timestamp() + make_interval(secs => ${waitMinutes * 60}))
    WHERE project_id = ${p.projectId} AND id = ${p.campaignId} RETURNING test_ends_at AS "endsAt"
  `.execute(trx);
  if (!rows[0]) throw new Error('a locked campaign is missing');
  return rows[0].endsAt.toISOString();
}

/**
 * Assigns the winner to the waiting chunks, and gives these chunks the numbers after the chunks of the test. Returns
 * the number of the last chunk. The caller has locked the campaign.
 */
async function setWinner(
  trx: Trx,
  p: { projectId: string; campaignId: string },
  how: { winner: number; by: WinnerSource },
): Promise<number> {
  await sql`
    UPDATE campaigns SET winner = ${how.winner}, winner_by = ${how.by}, winner_at = now(), updated_at = now()
    WHERE project_id = ${p.projectId} AND id = ${p.campaignId}
  `.execute(trx);
  await sql`
    UPDATE campaign_chunks k SET seq = ${lastSendableSeqSql(sql`k.campaign_id`)} - k.seq, variant = ${how.winner}
    WHERE k.project_id = ${p.projectId} AND k.campaign_id = ${p.campaignId} AND k.seq < 0
  `.execute(trx);
  return findLastChunk(trx, p);
}

async function findLastChunk(trx: Trx, p: { projectId: string; campaignId: string }): Promise<number> {
  return (await findTestState(trx, p))?.lastSeq ?? 0;
}
