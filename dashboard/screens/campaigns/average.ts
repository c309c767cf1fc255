/** With fewer campaigns, one of them would decide the average. */
const CAMPAIGNS_MIN = 3;

/**
 * Returns by how many percentage points the open rate of a campaign is above (or, if negative, below) the average of
 * the others. Undefined with fewer than three other campaigns, or if nothing was sent.
 */
export function compareOpenRateToAverage(
  campaign: { id: string; opened: number; sent: number },
  others: readonly { id: string; openedCount: number; sentCount: number }[],
): number | undefined {
  const compared = others.filter(({ id, sentCount }) => id !== campaign.id && sentCount > 0);
  if (compared.length < CAMPAIGNS_MIN || campaign.sent === 0) return undefined;
  const rates = compared.map(({ openedCount, sentCount }) => openedCount / sentCount);
  const average = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  return 100 * (campaign.opened / campaign.sent - average);
}
