import { type EmailText, NO_TEXT } from '../content/email-text.ts';

export const VARIANTS_MIN = 2;
export const VARIANTS_MAX = 5;
export const TEST_METRICS = ['opens', 'clicks'] as const;
export type TestMetric = (typeof TEST_METRICS)[number];

/**
 * A variant of a campaign: the text fields that differ from the campaign's, and the weight of its share of the
 * recipients.
 */
export interface CampaignVariant extends OwnText {
  name: string;
  weight: number;
}

type OwnText = { [Field in keyof EmailText]?: NonNullable<EmailText[Field]> };

/** The test by which a campaign finds the better variant before most recipients get it. */
export interface VariantTest {
  /**
   * The share of recipients that takes part in the test, from 0.02 to 1. All other recipients get the better variant.
   */
  share: number;
  metric: TestMetric;
  /** The minutes between the last email of the test and the choice of the winner. */
  waitMinutes: number;
  /**
   * The number of recipients with an open or click by a human that the better variant must have. With fewer, the first
   * variant wins.
   */
  minimum: number;
}

/** How the winner was chosen: `test` by the statistics of the test, `hand` by a person. */
export const WINNER_SOURCES = ['test', 'hand'] as const;
export type WinnerSource = (typeof WINNER_SOURCES)[number];

/** Returns the text of a variant's emails. The campaign's text fills fields that the variant does not set. */
export function getVariantText(campaign: EmailText, variant: CampaignVariant): EmailText {
  const fields = Object.keys(NO_TEXT) as (keyof EmailText)[];
  return Object.fromEntries(fields.map((field) => [field, variant[field] ?? campaign[field]])) as unknown as EmailText;
}

/** Returns the index of the variant with this name; undefined if no variant has the name. */
export function findVariantIndex(variants: readonly CampaignVariant[] | null, name: string): number | undefined {
  const index = variants?.findIndex((variant) => variant.name === name) ?? -1;
  return index < 0 ? undefined : index;
}

/**
 * The numbers of recipients that are already assigned: to each variant, and to the rest, which waits for the winner.
 */
export interface AssignmentCounts {
  variants: number[];
  rest: number;
}

/** The assignment of a recipient who waits for the winner. */
export const REST = -1;

/**
 * The tolerance for floating-point errors. The tolerance is far smaller than any fraction of a recipient that a share
 * can produce.
 */
const ROUNDING = 1e-7;

/**
 * Assigns the next `n` recipients: each gets the index of a variant or `REST`. After every recipient, the test has
 * exactly its share of all recipients, rounded up to whole recipients. The number of recipients of a variant differs
 * from its share by weight by at most one. An audience of any size that is read page by page is therefore split
 * exactly. The same counts give the same assignment, so a page that is read again is split in the same way.
 */
export function assignVariants(p: {
  weights: readonly number[];
  share: number;
  before: AssignmentCounts;
  n: number;
}): number[] {
  const counts = [...p.before.variants];
  let tested = counts.reduce((sum, count) => sum + count, 0);
  let total = tested + p.before.rest;
  return Array.from({ length: p.n }, () => {
    total += 1;
    if (tested >= Math.ceil(total * p.share - ROUNDING)) return REST;
    tested += 1;
    const variant = findVariantFurthestBehind(p.weights, counts, tested);
    counts[variant] = (counts[variant] ?? 0) + 1;
    return variant;
  });
}

/**
 * Returns the index of the variant whose number of recipients is furthest below its share by weight of the `tested`
 * recipients. Returns the first one if several are equal.
 */
function findVariantFurthestBehind(weights: readonly number[], counts: readonly number[], tested: number): number {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const missing = weights.map((weight, n) => weight * tested - (counts[n] ?? 0) * sum);
  return missing.indexOf(Math.max(...missing));
}

/**
 * The result of a test for one variant: how many recipients got the variant, and how many of them opened or clicked.
 */
export interface VariantResult {
  sent: number;
  successes: number;
}

/**
 * Returns the index of the variant with the highest rate. Returns the first one of equal variants, and the first of all
 * variants if the best one has fewer successes than the minimum.
 */
export function findBestVariant(results: readonly VariantResult[], minimum: number): number {
  let best = 0;
  results.forEach((result, n) => {
    if (computeRate(result) > computeRate(results[best])) best = n;
  });
  return (results[best]?.successes ?? 0) >= minimum ? best : 0;
}

/** Returns a rate from 0 to 1; 0 without recipients. */
export function computeRate(result: VariantResult | undefined): number {
  return result && result.sent > 0 ? result.successes / result.sent : 0;
}
