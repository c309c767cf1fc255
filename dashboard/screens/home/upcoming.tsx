import { Box, Group, List, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { CountLink } from '../../parts/count-link.tsx';
import { ScheduledTime } from '../../parts/instant.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { text } from '../../text/text.ts';
import { HourBars } from './hour-bars.tsx';
import { Section } from './section.tsx';

export const UPCOMING = queryFor('listUpcomingHours', { query: { hours: 48 } });
const POLL_MS = 60_000;

/** Scheduled campaigns, and the number of delays that end in each of the next hours. */
export function Upcoming() {
  const upcoming = useQuery({ ...UPCOMING, refetchInterval: POLL_MS });
  return (
    <Section title={text.home.upcoming}>
      <QueryView of={upcoming} height={160}>
        {(data) => <Coming {...data} />}
      </QueryView>
    </Section>
  );
}

function Coming({ hours, campaigns }: ResponseOf<'listUpcomingHours'>) {
  const delays = hours.reduce((sum, hour) => sum + hour.delays, 0);
  if (delays === 0 && campaigns.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {text.home.nothingComes}
      </Text>
    );
  }
  return (
    <Box>
      <Group gap="xl" mb="xs">
        <Count label={text.home.delays} n={delays} href="/automations" />
        <Count label={text.home.campaigns} n={campaigns.length} href="/campaigns?status=SCHEDULED" />
      </Group>
      <HourBars hours={hours} />
      <List size="sm" mt="xs" listStyleType="none">
        {campaigns.map(({ id, name, scheduledAt }) => (
          <List.Item key={id}>
            <Group gap="xs">
              <AppLink to={`/campaigns/${id}`}>{name}</AppLink>
              <Text span c="dimmed" size="sm">
                <ScheduledTime at={scheduledAt} />
              </Text>
            </Group>
          </List.Item>
        ))}
      </List>
    </Box>
  );
}

function Count({ label, n, href }: { label: string; n: number; href: string }) {
  return (
    <Group gap={6} fz="sm">
      <span>{label}</span>
      <CountLink n={n} href={href} />
    </Group>
  );
}
