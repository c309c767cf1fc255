import type { Compute } from '../../../compute/compute.ts';
import { listCampaignsBySlug, lockCampaignsBySlug } from '../../../db/campaigns/campaign-files.ts';
import {
  type Campaign,
  type CampaignContent,
  insertCampaign,
  listVariantTexts,
  updateCampaign,
} from '../../../db/campaigns/campaigns.ts';
import type { Db } from '../../../db/connection.ts';
import { isVerifiedSender } from '../../../db/domains/senders.ts';
import { listChangedFields } from '../../../rules/as-code/changes.ts';
import { replaceSlugsByIds } from '../../../rules/as-code/references.ts';
import { NO_TIMING } from '../../../rules/campaigns/timing.ts';
import { type CampaignChanges, CreateCampaign, mergeCampaignContent, PutCampaign } from '../campaigns/input.ts';
import { mergeVariants, refuseBadVariants } from '../campaigns/variants-input.ts';
import { mergeEmailText } from '../email-text.ts';
import {
  type ApplyState,
  addFinding,
  checkSender,
  parseItem,
  recordChange,
  refuseUnknownSlugs,
  withFieldPrefix,
} from './apply-state.ts';
import { toStoredCondition } from './conditions.ts';
import { toCampaignFields } from './document.ts';
import type { CampaignItem } from './input.ts';

/** The fields that contain an id in the API, and the names of these fields in a file, where they contain a slug. */
const NAMES: Readonly<Record<string, string>> = { segmentId: 'segment', topicId: 'topic' };

/**
 * Checks the content of changed campaigns. Runs before the transaction takes locks, because the check renders the
 * content, and renderings of a project wait for its processor budget. Unchanged content is not checked, because it was
 * checked when it was saved.
 * @throws AppError VALIDATION_ERROR
 */
export async function checkCampaigns(
  p: { db: Db; compute: Compute; projectId: string },
  items: readonly CampaignItem[],
): Promise<void> {
  const stored = indexBySlug(await listCampaignsBySlug(p.db, { projectId: p.projectId, slugs: listSlugs(items) }));
  for (const [i, item] of items.entries()) {
    const current = stored.get(item.slug);
    if (current && current.status !== 'DRAFT') continue;
    await withFieldPrefix(`campaigns.${i}`, async () => {
      const fields = { ...mergeEmailText(item, current), ...mergeVariants(item, current) };
      if (current && listChangedFields(fields, current).length === 0) return;
      const content = { ...fields, ...UNCHECKED_FIELDS };
      await refuseBadVariants(p.compute, { projectId: p.projectId, content, stored: current });
    });
  }
}

/** Placeholders for the other fields, because only the text is checked here. */
const UNCHECKED_FIELDS = {
  name: '',
  description: null,
  audienceType: 'ALL',
  segmentId: null,
  audienceFilter: null,
} as const;

/**
 * Creates and changes drafts to match the document. A campaign that is no longer a draft does not change, and the
 * response gets a finding.
 */
export async function applyCampaigns(applying: ApplyState, items: readonly CampaignItem[]): Promise<void> {
  const { trx, projectId } = applying;
  const stored = indexBySlug(await lockCampaignsBySlug(trx, { projectId, slugs: listSlugs(items) }));
  for (const [i, item] of items.entries()) {
    const current = stored.get(item.slug);
    await withFieldPrefix(`campaigns.${i}`, () =>
      current ? changeCampaign(applying, item, current) : createCampaign(applying, item),
    );
  }
}

async function createCampaign(applying: ApplyState, item: CampaignItem): Promise<void> {
  const { trx, projectId } = applying;
  const fields = parseItem(CreateCampaign, toCampaignInput(applying, item, undefined), '');
  const content = mergeCampaignContent(fields);
  if (!(await hasVerifiedSenders(applying, content)))
    return recordUnverifiedSenders(applying, item, content, 'the campaign is not created');
  const { slug, name } = await insertCampaign(trx, { projectId, content, slug: item.slug });
  recordChange(applying, { kind: 'campaign', slug, name }, undefined);
}

async function changeCampaign(applying: ApplyState, item: CampaignItem, current: Campaign): Promise<void> {
  const { trx, projectId } = applying;
  const reference = { kind: 'campaign' as const, slug: item.slug };
  if (current.status !== 'DRAFT') {
    const message = `The campaign ${item.slug} is ${current.status}: it does not change.`;
    addFinding(applying, {
      code: 'campaign_begun',
      severity: 'info',
      message,
      details: { ...reference, status: current.status },
    });
    return recordChange(applying, { ...reference, name: current.name }, []);
  }
  const changes: CampaignChanges = parseItem(PutCampaign, toCampaignInput(applying, item, current), '');
  const wanted = mergeCampaignContent(changes, current);
  const differences = listChangedCampaignFields(wanted, current);
  if (differences.length === 0) return recordChange(applying, { ...reference, name: current.name }, []);
  const content = await withVerifiedSenders(applying, wanted, current);
  if (content !== wanted) await recordUnverifiedSenders(applying, item, wanted, 'the sender does not change');
  const appliedChanges = content ? listChangedCampaignFields(content, current) : [];
  if (content && appliedChanges.length > 0) await updateCampaign(trx, { projectId, id: current.id, content });
  recordChange(applying, { ...reference, name: content?.name ?? current.name }, appliedChanges);
}

/**
 * Converts a campaign of a file to the body of `POST /campaigns`, with ids instead of slugs.
 * @throws AppError VALIDATION_ERROR for an unknown slug
 */
function toCampaignInput(
  applying: ApplyState,
  { audienceFilter, ...item }: CampaignItem,
  current: Campaign | undefined,
) {
  const stored = current?.audienceFilter;
  const condition = toStoredCondition(applying, { condition: audienceFilter, stored, field: 'audienceFilter' });
  const fields = replaceSlugsByIds(item, applying.ids, (name) => refuseUnknownSlugs([name], ''));
  return { ...fields, ...(condition && condition !== stored && { audienceFilter: condition }) };
}

/**
 * Returns the wanted content with verified senders only. If a wanted sender is not verified, uses the sender of the
 * stored campaign. If this is not enough, also uses the stored variants and test. Undefined if a sender is still not
 * verified.
 */
async function withVerifiedSenders(applying: ApplyState, wanted: CampaignContent, { from, variants, test }: Campaign) {
  const withStoredSender = { ...wanted, from };
  for (const content of [wanted, withStoredSender, { ...withStoredSender, variants, test }]) {
    if (await hasVerifiedSenders(applying, content)) return content;
  }
  return undefined;
}

async function hasVerifiedSenders({ trx, projectId }: ApplyState, content: CampaignContent): Promise<boolean> {
  for (const from of listSenders(content)) if (!(await isVerifiedSender(trx, { projectId, from }))) return false;
  return true;
}

/** Records a finding for each sender that is not verified. */
async function recordUnverifiedSenders(
  applying: ApplyState,
  { slug }: CampaignItem,
  content: CampaignContent,
  outcome: string,
) {
  for (const from of listSenders(content)) await checkSender(applying, from, { kind: 'campaign', slug }, outcome);
}

function listSenders(content: CampaignContent): Set<string> {
  return new Set([content, ...listVariantTexts(content)].map(({ from }) => from));
}

function listChangedCampaignFields(wanted: CampaignContent, current: Campaign): string[] {
  const { timing = NO_TIMING } = wanted;
  const changes = listChangedFields(toCampaignFields({ ...wanted, timing }), toCampaignFields(current));
  return changes.map((name) => NAMES[name] ?? name);
}

function listSlugs(items: readonly CampaignItem[]): string[] {
  return items.map(({ slug }) => slug);
}

function indexBySlug(campaigns: readonly Campaign[]): Map<string, Campaign> {
  return new Map(campaigns.map((campaign) => [campaign.slug, campaign]));
}
