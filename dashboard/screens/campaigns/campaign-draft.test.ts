import { expect, it } from 'vitest';
import {
  type CampaignDraft,
  hasUnreviewedChanges,
  toCampaignBody,
  toCampaignDraft,
  toChangedFields,
} from './campaign-draft.ts';
import type { Campaign } from './words.ts';

/** Variants as the API returns them, with all fields. */
const VARIANTS = [
  { name: 'A', weight: 1 },
  { name: 'B', weight: 2, subject: 'Other', from: 'b@a.test', fromName: 'Bo', replyTo: 'answers@a.test' },
];

it('a variant keeps all its fields, also the hidden ones', () => {
  const campaign = { subject: 'News', body: '<p>Hi</p>', audienceType: 'ALL', variants: VARIANTS } as Campaign;
  expect(toCampaignBody(toCampaignDraft(campaign)).variants).toEqual(VARIANTS);
});

it('omits fields that were cleared in a variant', () => {
  const campaign = { subject: 'News', body: '<p>Hi</p>', audienceType: 'ALL', variants: VARIANTS } as Campaign;
  const draft = toCampaignDraft(campaign);
  const variants = draft.variants.map((variant) => ({ ...variant, subject: '' }));
  expect(toCampaignBody({ ...draft, variants }).variants?.[1]).not.toHaveProperty('subject');
});

it('only changed fields are sent, and an audience as a whole', () => {
  const fields = { name: 'N', subject: 'News', body: '<p>Hi</p>', audienceType: 'ALL', from: 'a@a.test' };
  const stored = toCampaignDraft({ ...fields, variants: VARIANTS } as Campaign);
  expect(toChangedFields({ ...stored, subject: 'Other', preheader: '' }, stored)).toEqual({ subject: 'Other' });
  expect(toChangedFields({ ...stored, audienceType: 'SEGMENT', segmentId: 's1' }, stored)).toEqual({
    audienceType: 'SEGMENT',
    segmentId: 's1',
  });
  const ofSegment = { ...stored, audienceType: 'SEGMENT' as const, segmentId: 's1' };
  expect(toChangedFields({ ...ofSegment, segmentId: 's2' }, ofSegment)).toEqual({
    audienceType: 'SEGMENT',
    segmentId: 's2',
  });
  expect(toChangedFields({ ...stored, variants: [] }, stored)).toEqual({ variants: null });
});

it.each<[boolean, Partial<CampaignDraft>]>([
  [true, { name: 'M' }],
  [true, { subject: 'Other' }],
  [true, { variants: [] }],
  [true, { topicId: 't1' }],
  [true, { audienceType: 'SEGMENT', segmentId: 's1' }],
  [false, { segmentId: 's1' }],
  [false, { window: null }],
  [false, { test: { share: 20, metric: 'opens', waitMinutes: 5, minimum: 0 } }],
])('answers %s to whether a change must be saved before sending: %o', (expected, change) => {
  const fields = { name: 'N', subject: 'News', body: '<p>Hi</p>', audienceType: 'ALL', from: 'a@a.test' };
  const stored = toCampaignDraft({
    ...fields,
    segmentId: null,
    topicId: null,
    variants: VARIANTS,
  } as unknown as Campaign);
  expect(hasUnreviewedChanges({ ...stored, ...change }, stored)).toBe(expected);
});
