import { Box, Group, Paper, Stack, Text } from '@mantine/core';
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
    <Paper withBorder p="md">
      <Group gap="lg" mb="sm">
        <Count label={text.home.delays} n={delays} href="/automations" color="var(--chart-2)" />
        <Count
          label={text.home.campaigns}
          n={campaigns.length}
          href="/campaigns?status=SCHEDULED"
          color="var(--chart-line)"
        />
      </Group>
      <HourBars hours={hours} />
      {campaigns.length > 0 && (
        <Stack component="ul" gap="xs" mt="md" mb={0} p={0} className="names" style={{ listStyle: 'none' }}>
          {campaigns.map(({ id, name, scheduledAt }) => (
            <Group key={id} component="li" justify="space-between" gap="xs">
              <AppLink to={`/campaigns/${id}`}>{name}</AppLink>
              <Text span c="dimmed" size="sm">
                <ScheduledTime at={scheduledAt} />
              </Text>
            </Group>
          ))}
        </Stack>
      )}
    </Paper>
  );
}

function Count({ label, n, href, color }: { label: string; n: number; href: string; color: string }) {
  return (
    <Group gap={6} fz="sm">
      <Box w={10} h={10} bg={color} style={{ borderRadius: 3 }} aria-hidden />
      <span>{label}</span>
      <CountLink n={n} href={href} />
    </Group>
  );
}
