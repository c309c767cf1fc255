import { type MailText, NO_TEXT } from '../content/mail-text.ts';

export const VARIANTS_MIN = 2;
export const VARIANTS_MAX = 5;
export const TEST_METRICS = ['opens', 'clicks'] as const;
export type TestMetric = (typeof TEST_METRICS)[number];

/** A variant of a campaign: the fields that differ from the campaign, and its share of the recipients. */
export interface CampaignVariant extends OwnText {
  name: string;
  weight: number;
}

type OwnText = { [Field in keyof MailText]?: NonNullable<MailText[Field]> };

/** How a campaign finds out which variant is the better one, before most recipients get it. */
export interface VariantTest {
  /** Share of the recipients, 0.02 to 1, who get the variants. The rest gets the better one. */
  share: number;
  metric: TestMetric;
  /** From when the share was sent until it is judged. */
  waitMinutes: number;
  /** Human opens or clicks that the better variant has to have; with fewer the first one wins. */
  minimum: number;
}

/** How the winner was chosen: by the statistics of the test, or by a person. */
export const WINNER_SOURCES = ['test', 'hand'] as const;
export type WinnerSource = (typeof WINNER_SOURCES)[number];

/** Returns the text of a variant's emails. The campaign's text fills fields that the variant does not set. */
export function variantText(campaign: MailText, variant: CampaignVariant): MailText {
  const fields = Object.keys(NO_TEXT) as (keyof MailText)[];
  return Object.fromEntries(fields.map((field) => [field, variant[field] ?? campaign[field]])) as unknown as MailText;
}

/** Returns the number of the variant with this name. Undefined if it does not exist. */
export function variantNamed(variants: readonly CampaignVariant[] | null, name: string): number | undefined {
  const index = variants?.findIndex((variant) => variant.name === name) ?? -1;
  return index < 0 ? undefined : index;
}

/** Recipients with an assignment: by variant, and recipients who wait for the winner. */
export interface Dealt {
  variants: number[];
  rest: number;
}

/** The assignment of a recipient who waits for the winner. */
export const REST = -1;

/** Far below the smallest part of a person that a share can come to, and above what floating point adds. */
const ROUNDING = 1e-7;

/**
 * The places of the next `n` recipients, each the number of a variant or `REST`. After every single one the test has
 * exactly the share, rounded up to whole people, and each variant its part by weight to within one: so an audience of
 * any size that is taken page by page is split exactly, and a page that is taken again is split the same. The same
 * counts give the same places.
 */
export function dealPlaces(p: { weights: readonly number[]; share: number; before: Dealt; n: number }): number[] {
  const counts = [...p.before.variants];
  let tested = counts.reduce((sum, count) => sum + count, 0);
  let total = tested + p.before.rest;
  return Array.from({ length: p.n }, () => {
    total += 1;
    if (tested >= Math.ceil(total * p.share - ROUNDING)) return REST;
    tested += 1;
    const variant = furthestBehind(p.weights, counts, tested);
    counts[variant] = (counts[variant] ?? 0) + 1;
    return variant;
  });
}

/** Returns the variant that is furthest below its share by weight of `tested` recipients; the first of equals. */
function furthestBehind(weights: readonly number[], counts: readonly number[], tested: number): number {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const missing = weights.map((weight, n) => weight * tested - (counts[n] ?? 0) * sum);
  return missing.indexOf(Math.max(...missing));
}

/** Result of a test for one variant: recipients it was sent to, and how many of them opened or clicked. */
export interface VariantResult {
  sent: number;
  successes: number;
}

/**
 * The number of the variant with the higher rate; the first of equals, and the first of all where the better one has
 * fewer successes than the minimum.
 */
export function betterVariant(results: readonly VariantResult[], minimum: number): number {
  let best = 0;
  results.forEach((result, n) => {
    if (rateOf(result) > rateOf(results[best])) best = n;
  });
  return (results[best]?.successes ?? 0) >= minimum ? best : 0;
}

/** From 0 to 1; 0 of nothing. */
export function rateOf(result: VariantResult | undefined): number {
  return result && result.sent > 0 ? result.successes / result.sent : 0;
}
