import { sql } from 'kysely';
import type { CampaignStatus } from '../../rules/campaigns/campaign.ts';

/** Statuses of a campaign that has started: it sends to its recipients, or waits to be resumed. */
const BEGUN = ['SENDING', 'PAUSED'] as const satisfies CampaignStatus[];
/** Statuses in which the Temporal workflow of a start is not finished. */
const OPEN = ['SCHEDULED', ...BEGUN] as const satisfies CampaignStatus[];
/**
 * Statuses in which the content may still be sent. In these statuses, no resource that the campaign uses may be
 * deleted.
 */
const UNFINISHED = ['DRAFT', ...OPEN] as const satisfies CampaignStatus[];

const toSqlList = (statuses: readonly CampaignStatus[]) =>
  sql.raw(`(${statuses.map((status) => `'${status}'`).join(', ')})`);

/** The statuses as an SQL list, for use after `IN`. */
export const BEGUN_CAMPAIGNS = toSqlList(BEGUN);
export const OPEN_CAMPAIGNS = toSqlList(OPEN);
export const UNFINISHED_CAMPAIGNS = toSqlList(UNFINISHED);

/** Tells whether the Temporal workflow of a start is not finished. */
export function isOpenCampaign(status: CampaignStatus): boolean {
  return OPEN.some((open) => open === status);
}
