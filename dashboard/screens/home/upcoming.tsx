import { Box, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ResponseOf } from '../../api/client.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { CardSection } from '../../parts/card-section.tsx';
import { CountLink, formatCount } from '../../parts/count-link.tsx';
import { describeDuration } from '../../parts/format-duration.ts';
import { ScheduledTime } from '../../parts/instant.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { text } from '../../text/text.ts';
import { HourBars } from './hour-bars.tsx';
import { UPCOMING } from './upcoming-query.ts';

const POLL_MS = 60_000;

/** Scheduled campaigns, and the number of delays that end in each of the next hours. */
export function Upcoming() {
  const upcoming = useQuery({ ...UPCOMING, refetchInterval: POLL_MS });
  return (
    <CardSection title={text.home.upcoming} className="names">
      <QueryView of={upcoming} height={180}>
        {(data) => <UpcomingHours {...data} />}
      </QueryView>
    </CardSection>
  );
}

function UpcomingHours({ hours, campaigns, sendRatePerSecond }: ResponseOf<'listUpcomingHours'>) {
  const delays = hours.reduce((sum, hour) => sum + hour.delays, 0);
  if (delays === 0 && campaigns.length === 0) {
    return (
      <Text size="sm" c="dimmed" className="card-block">
        {text.home.nothingScheduled}
      </Text>
    );
  }
  return (
    <>
      <div className="card-block">
        <Group gap="4px 24px" mb="sm">
          <Count label={text.home.delays} n={delays} href="/automations" color="var(--chart-2)" />
          <Count
            label={text.home.campaigns}
            n={campaigns.length}
            href="/campaigns?status=SCHEDULED"
            color="var(--chart-line)"
          />
        </Group>
        <HourBars hours={hours} />
        <BusiestHour hours={hours} rate={sendRatePerSecond} />
      </div>
      {campaigns.map(({ id, name, scheduledAt }) => (
        <div key={id} className="card-row">
          <Box miw={0} flex={1}>
            <AppLink to={`/campaigns/${id}`} lineClamp={1}>
              {name}
            </AppLink>
          </Box>
          <Text span inherit c="dimmed">
            <ScheduledTime at={scheduledAt} />
          </Text>
        </div>
      ))}
    </>
  );
}

/** If fewer delays end in an hour, their emails are sent within moments, so no estimate is shown. */
const WAVE_MIN = 100;

/**
 * Shows when the busiest hour starts, and the least time that its emails take. The time of the last email cannot be
 * known: each delay ends on time, but the speed of the service depends on its load.
 */
function BusiestHour({ hours, rate }: { hours: ResponseOf<'listUpcomingHours'>['hours']; rate: number | null }) {
  const busiest = hours.reduce((most, hour) => (hour.delays > most.delays ? hour : most));
  if (busiest.delays < WAVE_MIN) return null;
  return (
    <Text size="sm" c="dimmed" mt="sm">
      {text.home.busiestHour} <ScheduledTime at={busiest.at} />
      {text.home.busiestSteps(formatCount(busiest.delays))}{' '}
      {rate !== null && text.home.waveAtRate(formatCount(rate), describeDuration(busiest.delays / rate))}
    </Text>
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
