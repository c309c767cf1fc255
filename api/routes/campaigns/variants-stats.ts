import type { Campaign } from '../../../db/campaigns/campaigns.ts';
import type { Figures } from '../../../db/campaigns/figures.ts';
import { type CampaignCounts, NO_COUNTS } from '../../../rules/campaigns/counts.ts';
import { compareVariants, computeWilsonInterval } from '../../../rules/campaigns/variant-figures.ts';
import type { TestMetric } from '../../../rules/campaigns/variants.ts';
import { toPercentage } from './response.ts';

/** Returns the statistics of a campaign's variants. `figures` is undefined if the campaign has no recipients yet. */
export function toVariantStats({ variants, winner, test }: Campaign, figures: Figures | undefined) {
  if (!variants) return { variants: null, comparison: null };
  const metric: TestMetric = test?.metric ?? 'opens';
  const compared = variants.map(({ name }, n) => {
    const { sent, opened, clicked } = figures?.tested.get(n) ?? NO_COUNTS;
    return { name, sent, successes: metric === 'opens' ? opened : clicked };
  });
  return {
    variants: variants.map(({ name, weight }, n) => ({
      name,
      weight,
      winner: name === winner,
      ...toVariantFigures(figures?.variants.get(n) ?? NO_COUNTS, metric),
    })),
    comparison: compareVariants(compared, metric),
  };
}

function toVariantFigures(counts: CampaignCounts, metric: TestMetric) {
  const { sent, opened, clicked } = counts;
  const openInterval = computeWilsonInterval({ sent, successes: opened });
  const clickInterval = computeWilsonInterval({ sent, successes: clicked });
  return {
    ...counts,
    openRate: toPercentage(opened, sent),
    clickRate: toPercentage(clicked, sent),
    openInterval,
    clickInterval,
    interval: metric === 'opens' ? openInterval : clickInterval,
  };
}
