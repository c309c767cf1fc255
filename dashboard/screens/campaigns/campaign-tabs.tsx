import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { formatCount } from '../../parts/count-link.tsx';
import { text } from '../../text/text.ts';

const words = text.campaigns;
/** Filters of the recipients do not change which tab is open. */
const EXACT = { exact: true, includeSearch: false };

/** The two views of a campaign that has started: its report, and its recipients. */
export function CampaignTabs({
  id,
  active,
  total,
}: {
  id: string;
  active: 'report' | 'recipients';
  total: number | undefined;
}) {
  const params = { campaignId: id };
  const current = (name: typeof active) => ({ 'aria-current': name === active ? ('page' as const) : undefined });
  return (
    <nav aria-label={words.views} className="nav-tabs">
      <Link to="/campaigns/$campaignId" params={params} activeOptions={EXACT} {...current('report')}>
        {words.report}
      </Link>
      <Link to="/campaigns/$campaignId/recipients" params={params} activeOptions={EXACT} {...current('recipients')}>
        {words.recipients}
        {total !== undefined && (
          <Text span inherit c="dimmed" fw={400}>
            {formatCount(total)}
          </Text>
        )}
      </Link>
    </nav>
  );
}
