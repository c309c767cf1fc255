import { Button, Group, Paper, Table, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMemo } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { formatCount, formatShare } from '../../parts/count-link.tsx';
import { type Series, TimeSeries } from '../../parts/time-series.tsx';
import { text } from '../../text/text.ts';
import { Explained } from './fact.tsx';

type Tenant = ResponseOf<'getTenant'>;

const words = text.operator;
const HOURS = 48;
const HOUR_SECONDS = 3_600;
const HOUR_FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** The project's emails by hour, and the guards' rates of the last 24 hours. */
export function TenantHours({ tenant: { hours, mails, dead, complaints } }: { tenant: Tenant }) {
  const [asTable, { toggle }] = useDisclosure();
  const { atSeconds, series } = useMemo(() => toChartData(hours), [hours]);
  return (
    <Paper withBorder p="md">
      <Group gap="xl" mb="sm">
        <Figure name={words.mails} means={words.mailsMean} value={formatCount(mails)} />
        <Figure name={words.bounced} means={words.bouncedMeans} value={withShare(dead, mails)} />
        <Figure name={words.complained} value={withShare(complaints, mails)} />
      </Group>
      <Title order={2} size="h4" mb="xs">
        {words.hours}
      </Title>
      {hours.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.noHours}
        </Text>
      ) : (
        <>
          <TimeSeries atSeconds={atSeconds} series={series} label={words.hoursChart} />
          <Button variant="subtle" size="xs" onClick={toggle} aria-expanded={asTable}>
            {asTable ? words.hideTable : words.showTable}
          </Button>
          {asTable && <HoursTable hours={hours} />}
        </>
      )}
    </Paper>
  );
}

/** The numbers of the chart as a table, newest hour first. */
function HoursTable({ hours }: { hours: Tenant['hours'] }) {
  return (
    <Table verticalSpacing={4} aria-label={words.hoursChart}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.hour}</Table.Th>
          <Table.Th ta="right">{words.mailCount}</Table.Th>
          <Table.Th ta="right">{words.bounced}</Table.Th>
          <Table.Th ta="right">{words.complained}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {hours.toReversed().map(({ hour, mails, dead, complaints }) => (
          <Table.Tr key={hour}>
            <Table.Td>{HOUR_FORMAT.format(new Date(hour))}</Table.Td>
            <Table.Td ta="right">{formatCount(mails)}</Table.Td>
            <Table.Td ta="right">{formatCount(dead)}</Table.Td>
            <Table.Td ta="right">{formatCount(complaints)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

export function Figure({ name, means, value }: { name: string; means?: string; value: string }) {
  return (
    <div>
      <Text size="sm" c="dimmed">
        <Explained means={means}>{name}</Explained>
      </Text>
      <Text size="xl" fw={650}>
        {value}
      </Text>
    </div>
  );
}

export function withShare(part: number, whole: number): string {
  return whole === 0 ? formatCount(part) : `${formatCount(part)} · ${formatShare(part, whole)}`;
}

/** Returns every hour of the two days. Hours without email are zero. */
function toChartData(hours: Tenant['hours']): { atSeconds: number[]; series: Series[] } {
  const last = Math.floor(Date.now() / 1000 / HOUR_SECONDS) * HOUR_SECONDS;
  const atSeconds = Array.from({ length: HOURS }, (_, index) => last - (HOURS - 1 - index) * HOUR_SECONDS);
  const byHour = new Map(hours.map((hour) => [Date.parse(hour.hour) / 1000, hour]));
  const line = (label: string, color: string, of: 'mails' | 'dead' | 'complaints'): Series => ({
    label,
    color,
    values: atSeconds.map((at) => byHour.get(at)?.[of] ?? 0),
  });
  return {
    atSeconds,
    series: [
      line(words.mailCount, '--chart-1', 'mails'),
      line(words.bounced, '--chart-line', 'dead'),
      line(words.complained, '--color-failed', 'complaints'),
    ],
  };
}
