import { formatDetails, listStrings } from '../../parts/email-editor/findings.ts';
import type { CampaignEditorStep, Review } from './words.ts';

export type ReviewFinding = Review['findings'][number];

/** The place at which the user fixes a finding: a step of the editor, or another screen. */
export type FixLocation =
  | { name: 'content' | 'audience' | 'when'; step: CampaignEditorStep }
  | { name: 'domains' | 'settings'; step?: undefined; to: string };

const CONTENT: FixLocation = { name: 'content', step: 'content' };
const DOMAINS: FixLocation = { name: 'domains', to: '/settings/domains' };

const FIX_LOCATIONS: Record<ReviewFinding['code'], FixLocation> = {
  sender_not_verified: DOMAINS,
  dmarc_missing: DOMAINS,
  project_held: { name: 'settings', to: '/settings' },
  no_text: CONTENT,
  no_unsubscribe_link: CONTENT,
  missing_variables: CONTENT,
  bad_link: CONTENT,
  link_shortener: CONTENT,
  image_without_alt: CONTENT,
  html_too_large: CONTENT,
  subject_too_long: CONTENT,
  slow: { name: 'when', step: 'when' },
  empty_audience: { name: 'audience', step: 'audience' },
  variant_without_reader: { name: 'audience', step: 'audience' },
};

/** Returns where the user fixes a finding; undefined for a code that this release does not know. */
export function findFixLocation(code: ReviewFinding['code']): FixLocation | undefined {
  return FIX_LOCATIONS[code];
}

/** Returns the details of a finding as lines, and the names of the affected variants if not all are affected. */
export function readDetails({ details }: Pick<ReviewFinding, 'details'>): {
  lines: string[];
  variants: string[] | undefined;
} {
  const variants = listStrings(details.variants);
  return { lines: formatDetails(details), variants: variants.length > 0 ? variants : undefined };
}
