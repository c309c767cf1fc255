import { Anchor, Box, Group, Progress, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { CardSection } from '../../parts/card-section.tsx';
import { formatCount, formatShare } from '../../parts/count-link.tsx';
import { Instant } from '../../parts/instant.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';

type Campaign = ResponseOf<'listCampaigns'>['campaigns'][number];

/**
 * Interval of refreshes while a campaign sends; otherwise a longer one is enough. TanStack Query pauses them while
 * the tab is hidden.
 */
const MOVING_MS = 1_000;
const IDLE_MS = 10_000;
const SHOWN = 20;
/** Sent campaigns below the ones in progress. */
const RECENT = 6;

/** Campaigns that are sending now or paused, and the latest sent ones with their open rates. */
export function Running() {
  const { can } = useSession();
  const enabled = can('campaigns:view');
  const poll = {
    enabled,
    refetchInterval: ({ state }: { state: { data?: { campaigns: unknown[] } | undefined } }) =>
      state.data && state.data.campaigns.length > 0 ? MOVING_MS : IDLE_MS,
  };
  const sending = useQuery({ ...queryFor('listCampaigns', { query: { status: 'SENDING', limit: SHOWN } }), ...poll });
  const paused = useQuery({
    ...queryFor('listCampaigns', { query: { status: 'PAUSED', limit: SHOWN } }),
    enabled,
    refetchInterval: IDLE_MS,
  });
  const sent = useQuery({
    ...queryFor('listCampaigns', { query: { status: 'SENT', limit: SHOWN } }),
    enabled,
    refetchInterval: IDLE_MS,
  });
  // The lists are shown together, so that later rows do not move the page.
  const isPending = sending.isPending || paused.isPending || sent.isPending;
  const shown = { ...sending, data: isPending ? undefined : sending.data };
  if (!enabled) return null;
  const all = (
    <AppLink to="/campaigns" size="sm" className="card-link">
      {text.home.viewAll}
    </AppLink>
  );
  return (
    <CardSection title={text.home.running} className="names" aside={all}>
      <QueryView of={shown} height={180}>
        {({ campaigns }) => (
          <List
            moving={[...campaigns, ...(paused.data?.campaigns ?? [])]}
            recent={pickLastSent(sent.data?.campaigns ?? [])}
            isRead={sent.data !== undefined}
          />
        )}
      </QueryView>
    </CardSection>
  );
}

/**
 * Returns the campaigns of the list that were sent last. The API sorts the list by creation, and a campaign may be sent
 * long after it was created.
 */
function pickLastSent(campaigns: Campaign[]): Campaign[] {
  return campaigns
    .toSorted((a, b) => Date.parse(b.sentAt ?? b.createdAt) - Date.parse(a.sentAt ?? a.createdAt))
    .slice(0, RECENT);
}

function List({ moving, recent, isRead }: { moving: Campaign[]; recent: Campaign[]; isRead: boolean }) {
  if (isRead && moving.length + recent.length === 0) {
    return (
      <Text size="sm" c="dimmed" className="card-block">
        {text.home.noneRunning}
      </Text>
    );
  }
  return (
    <>
      {moving.map((campaign) => (
        <Bar key={campaign.id} campaign={campaign} />
      ))}
      {recent.map((campaign) => (
        <Recent key={campaign.id} campaign={campaign} />
      ))}
    </>
  );
}

function Recent({ campaign: { id, name, openedCount, sentCount, sentAt } }: { campaign: Campaign }) {
  return (
    <div className="card-row">
      <Box miw={0} flex={1}>
        <AppLink to={`/campaigns/${id}`} lineClamp={1}>
          {name}
        </AppLink>
      </Box>
      <Text inherit c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {text.home.openedShare(formatShare(openedCount, sentCount))}
      </Text>
      <Text inherit c="dimmed" ta="right" w={84} visibleFrom="sm" className="when">
        <Instant at={sentAt} />
      </Text>
    </div>
  );
}

function Bar({ campaign: { id, name, status, nextOpening, ...counts } }: { campaign: Campaign }) {
  const { totalRecipients: total, pendingCount } = counts;
  const done = total - pendingCount;
  return (
    <div className="card-block">
      <Group justify="space-between" gap="xs" mb={6}>
        <Group gap="xs" miw={0} style={{ flex: '1 1 200px' }}>
          <Anchor component={Link} to={`/campaigns/${id}`} lineClamp={1} maw="100%" size="sm">
            {name}
          </Anchor>
          <WordBadge kind="campaign" value={status} />
        </Group>
        <Text size="sm" c="dimmed" style={{ fontVariantNumeric: 'tabular-nums' }}>
          {text.home.progress(formatCount(done), formatCount(total))}
        </Text>
      </Group>
      <Progress
        value={total === 0 ? 0 : (100 * done) / total}
        aria-label={name}
        color={status === 'PAUSED' ? 'var(--color-idle)' : undefined}
      />
      {nextOpening && (
        <Box mt={4}>
          <Text size="xs" c="dimmed">
            {text.home.opensAt} <Instant at={nextOpening} />
          </Text>
        </Box>
      )}
    </div>
  );
}
