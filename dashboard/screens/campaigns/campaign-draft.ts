import type { InputOf } from '../../api/client.ts';
import {
  type DraftCondition,
  isComplete,
  newCondition,
  toCondition,
  toConditionDraft,
} from '../../parts/condition-builder/draft.ts';
import type { Campaign } from './words.ts';

type Variant = NonNullable<Campaign['variants']>[number];

/** A variant in the editor. An empty field uses the campaign's value. */
export interface VariantDraft {
  key: string;
  name: string;
  weight: number;
  subject: string;
  preheader: string;
  from: string;
  /** Undefined uses the campaign's body. */
  body: string | undefined;
  /** Fields of a variant that the API stores and this screen does not edit. */
  others: Omit<Variant, 'name' | 'weight' | 'subject' | 'preheader' | 'from' | 'body'>;
}

export interface TestDraft {
  /** Percentage of the audience. */
  share: number;
  metric: 'opens' | 'clicks';
  waitMinutes: number;
  minimum: number;
}

export type WindowDraft = NonNullable<Campaign['sendingWindow']>;

/** The editable fields of a campaign. */
export interface CampaignDraft {
  name: string;
  subject: string;
  preheader: string;
  body: string;
  from: string;
  fromName: string;
  replyTo: string;
  variants: VariantDraft[];
  test: TestDraft | undefined;
  audienceType: Campaign['audienceType'];
  segmentId: string | null;
  condition: DraftCondition;
  topicId: string | null;
  /** Undefined uses the project's window; null means no window. */
  window: WindowDraft | null | undefined;
}

export const NEW_TEST: TestDraft = { share: 20, metric: 'opens', waitMinutes: 240, minimum: 0 };
export const NEW_WINDOW: WindowDraft = { from: '08:00', to: '21:00', days: [1, 2, 3, 4, 5, 6, 7] };
export const VARIANTS_MAX = 5;

/** Returns the stored campaign as a draft. */
export function toCampaignDraft(campaign: Campaign): CampaignDraft {
  const { test, audienceFilter } = campaign;
  return {
    name: campaign.name,
    subject: campaign.subject,
    preheader: campaign.preheader ?? '',
    body: campaign.body,
    from: campaign.from,
    fromName: campaign.fromName ?? '',
    replyTo: campaign.replyTo ?? '',
    variants: (campaign.variants ?? []).map(toVariantDraft),
    test: test ? { ...test, share: Math.round(test.share * 100) } : undefined,
    audienceType: campaign.audienceType,
    segmentId: campaign.segmentId,
    condition: audienceFilter
      ? toConditionDraft(audienceFilter as Parameters<typeof toConditionDraft>[0])
      : newCondition(),
    topicId: campaign.topicId,
    window: campaign.sendingWindow,
  };
}

function toVariantDraft({ name, weight, subject, preheader, from, body, ...others }: Variant, n: number): VariantDraft {
  return {
    key: `${n} ${name}`,
    name,
    weight,
    subject: subject ?? '',
    preheader: preheader ?? '',
    from: from ?? '',
    body,
    others,
  };
}

/** Returns the request body of a draft. Empty inputs are null. */
export function toCampaignBody(draft: CampaignDraft): InputOf<'updateCampaign'>['body'] {
  const { test, variants } = draft;
  return {
    name: draft.name,
    subject: draft.subject,
    preheader: draft.preheader || null,
    body: draft.body,
    from: draft.from,
    fromName: draft.fromName || null,
    replyTo: draft.replyTo || null,
    variants: variants.length === 0 ? null : variants.map(toVariant),
    test: test && variants.length > 0 ? { ...test, share: test.share / 100 } : null,
    audienceType: draft.audienceType,
    ...(draft.audienceType === 'SEGMENT' && { segmentId: draft.segmentId }),
    ...(draft.audienceType === 'FILTERED' && {
      audienceFilter: toCondition(draft.condition) as unknown as Record<string, unknown>,
    }),
    topicId: draft.topicId,
    sendingWindow: draft.window === undefined ? 'project' : draft.window,
  };
}

type CampaignBody = InputOf<'updateCampaign'>['body'];
const AUDIENCE = ['audienceType', 'segmentId', 'audienceFilter'] as const;

/**
 * Returns the request body with only the fields that differ from the stored campaign. The fields of an audience are
 * sent together.
 */
export function toChangedFields(draft: CampaignDraft, stored: CampaignDraft): CampaignBody {
  const [body, storedBody] = [toCampaignBody(draft), toCampaignBody(stored)];
  const isChanged = (name: keyof CampaignBody) => JSON.stringify(body[name]) !== JSON.stringify(storedBody[name]);
  const isAudienceChanged = AUDIENCE.some(isChanged);
  const names = (Object.keys(body) as (keyof CampaignBody)[]).filter(
    (name) => isChanged(name) || (isAudienceChanged && AUDIENCE.some((part) => part === name)),
  );
  return Object.fromEntries(names.map((name) => [name, body[name]]));
}

/** Settings of the step that sends. They do not affect the checks before sending, and are saved when the user sends. */
const SAVED_ON_SEND: readonly (keyof CampaignBody)[] = ['sendingWindow', 'test'];

/** Returns whether the draft differs from the stored campaign in a field that must be saved before sending. */
export function hasUnreviewedChanges(draft: CampaignDraft, stored: CampaignDraft): boolean {
  const names = Object.keys(toChangedFields(draft, stored)) as (keyof CampaignBody)[];
  return names.some((name) => !SAVED_ON_SEND.includes(name));
}

function toVariant({ name, weight, subject, preheader, from, body, others }: VariantDraft) {
  return {
    ...others,
    name,
    weight,
    ...(subject !== '' && { subject }),
    ...(preheader !== '' && { preheader }),
    ...(from !== '' && { from }),
    ...(body !== undefined && { body }),
  };
}

/** Returns the first two variants. All their fields are empty, so both have the campaign's content. */
export function createFirstVariants(): VariantDraft[] {
  return [createVariant('A'), createVariant('B')];
}

export function createVariant(name: string): VariantDraft {
  return {
    key: crypto.randomUUID(),
    name,
    weight: 1,
    subject: '',
    preheader: '',
    from: '',
    body: undefined,
    others: {},
  };
}

/** Returns the first letter from A to J that is not yet the name of a variant, or else a number. */
export function chooseVariantName(variants: readonly VariantDraft[]): string {
  const usedNames = new Set(variants.map(({ name }) => name.toUpperCase()));
  return [...'ABCDEFGHIJ'].find((letter) => !usedNames.has(letter)) ?? `${variants.length + 1}`;
}

/** Returns whether the audience is chosen. */
export function hasAudience({ audienceType, segmentId, condition }: CampaignDraft): boolean {
  if (audienceType === 'SEGMENT') return segmentId !== null;
  return audienceType === 'ALL' || isComplete(condition);
}
