import { Group, Paper, Text, Title } from '@mantine/core';
import { useMemo } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { formatCount, formatShare } from '../../parts/count-link.tsx';
import type { Column } from '../../parts/row-table.tsx';
import type { Series } from '../../parts/time-series.tsx';
import { text } from '../../text/text.ts';
import { ChartWithTable } from './chart-with-table.tsx';
import { Explained } from './fact.tsx';

type Tenant = ResponseOf<'getTenant'>;

const words = text.operator;
const HOURS = 48;
const HOUR_SECONDS = 3_600;
const HOUR_FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** The project's emails by hour, and the guards' rates of the last 24 hours. */
export function TenantHours({ tenant: { hours, mails, dead, complaints } }: { tenant: Tenant }) {
  const { atSeconds, series } = useMemo(() => toChartData(hours), [hours]);
  return (
    <Paper withBorder p="md">
      <Group gap="xl" mb="sm">
        <Figure name={words.mails} means={words.emailsMean} value={formatCount(mails)} />
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
        <ChartWithTable
          atSeconds={atSeconds}
          series={series}
          rows={hours.toReversed()}
          columns={COLUMNS}
          rowKey={({ hour }) => hour}
          caption={words.hoursChart}
        />
      )}
    </Paper>
  );
}

const COLUMNS: Column<Tenant['hours'][number]>[] = [
  { name: words.hour, cell: ({ hour }) => HOUR_FORMAT.format(new Date(hour)) },
  { name: words.emailCount, align: 'right', cell: ({ mails }) => formatCount(mails) },
  { name: words.bounced, align: 'right', cell: ({ dead }) => formatCount(dead) },
  { name: words.complained, align: 'right', cell: ({ complaints }) => formatCount(complaints) },
];

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
      line(words.emailCount, '--chart-1', 'mails'),
      line(words.bounced, '--chart-line', 'dead'),
      line(words.complained, '--color-failed', 'complaints'),
    ],
  };
}
