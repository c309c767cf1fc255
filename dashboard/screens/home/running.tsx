import { Anchor, Box, Group, Paper, Progress, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { formatCount } from '../../parts/count-link.tsx';
import { Instant } from '../../parts/instant.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { Section } from './section.tsx';

type Campaign = ResponseOf<'listCampaigns'>['campaigns'][number];

/**
 * Interval of refreshes while a campaign sends; otherwise a longer one is enough. TanStack Query pauses them while
 * the tab is hidden.
 */
const MOVING_MS = 1_000;
const STILL_MS = 10_000;
const SHOWN = 20;

/** Campaigns that are sending now, and campaigns that are paused. */
export function Running() {
  const { can } = useSession();
  const enabled = can('campaigns:view');
  const poll = {
    enabled,
    refetchInterval: ({ state }: { state: { data?: { campaigns: unknown[] } | undefined } }) =>
      state.data && state.data.campaigns.length > 0 ? MOVING_MS : STILL_MS,
  };
  const sending = useQuery({ ...queryFor('listCampaigns', { query: { status: 'SENDING', limit: SHOWN } }), ...poll });
  const paused = useQuery({
    ...queryFor('listCampaigns', { query: { status: 'PAUSED', limit: SHOWN } }),
    enabled,
    refetchInterval: STILL_MS,
  });
  if (!enabled) return null;
  return (
    <Section title={text.home.running}>
      <QueryView of={sending} height={28}>
        {({ campaigns }) => <Bars campaigns={[...campaigns, ...(paused.data?.campaigns ?? [])]} />}
      </QueryView>
    </Section>
  );
}

function Bars({ campaigns }: { campaigns: Campaign[] }) {
  if (campaigns.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {text.home.noneRunning}
      </Text>
    );
  }
  return (
    <Stack gap="sm">
      {campaigns.map((campaign) => (
        <Bar key={campaign.id} campaign={campaign} />
      ))}
    </Stack>
  );
}

function Bar({ campaign: { id, name, status, nextOpening, ...counts } }: { campaign: Campaign }) {
  const { totalRecipients: total, pendingCount } = counts;
  const done = total - pendingCount;
  return (
    <Paper withBorder p="md" className="names">
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
        color={status === 'PAUSED' ? 'gray' : undefined}
      />
      {nextOpening && (
        <Box mt={4}>
          <Text size="xs" c="dimmed">
            {text.home.opensAt} <Instant at={nextOpening} />
          </Text>
        </Box>
      )}
    </Paper>
  );
}
