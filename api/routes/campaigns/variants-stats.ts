import type { Campaign } from '../../../db/campaigns/campaigns.ts';
import { type CampaignCounts, countVariants, NO_COUNTS } from '../../../db/campaigns/stats.ts';
import { testResults } from '../../../db/campaigns/variant-test.ts';
import type { Db } from '../../../db/connection.ts';
import { compareVariants, wilsonInterval } from '../../../rules/campaigns/variant-figures.ts';
import type { TestMetric } from '../../../rules/campaigns/variants.ts';
import { percent } from './answer.ts';

/** The figures of a campaign's variants. */
export async function variantStats(db: Db, projectId: string, campaign: Campaign) {
  const { id, variants, winner } = campaign;
  if (!variants) return { variants: null, comparison: null };
  const metric: TestMetric = campaign.test?.metric ?? 'opens';
  const [counts, results] = await Promise.all([
    countVariants(db, { projectId, id }),
    testResults(db, { projectId, campaignId: id }),
  ]);
  const compared = variants.map(({ name }, n) => {
    const { sent = 0, [metric]: successes = 0 } = results.get(n) ?? {};
    return { name, sent, successes };
  });
  return {
    variants: variants.map(({ name, weight }, n) => ({
      ...{ name, weight, winner: name === winner },
      ...figuresOf(counts.get(n) ?? NO_COUNTS, metric),
    })),
    comparison: compareVariants(compared, metric),
  };
}

function figuresOf(counts: CampaignCounts, metric: TestMetric) {
  const { sent, opened, clicked } = counts;
  const openInterval = wilsonInterval({ sent, successes: opened });
  const clickInterval = wilsonInterval({ sent, successes: clicked });
  return {
    ...counts,
    openRate: percent(opened, sent),
    clickRate: percent(clicked, sent),
    openInterval,
    clickInterval,
    interval: metric === 'opens' ? openInterval : clickInterval,
  };
}
