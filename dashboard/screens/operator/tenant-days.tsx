import { Group, Paper, Text, Title } from '@mantine/core';
import { useMemo } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { formatCount, formatShare } from '../../parts/count-link.tsx';
import type { Column } from '../../parts/row-table.tsx';
import { text } from '../../text/text.ts';
import { ChartWithTable } from './chart-with-table.tsx';
import { Figure, withShare } from './tenant-hours.tsx';

type Day = ResponseOf<'getTenant'>['days'][number];

const words = text.operator;
const DRAWN = [
  { label: words.emailCount, color: '--chart-1', of: 'sent' },
  { label: words.monthBounced, color: '--chart-line', of: 'bounced' },
  { label: words.complained, color: '--color-failed', of: 'complained' },
] as const;

/** The project's emails by day, with their results. */
export function TenantDays({ days }: { days: Day[] }) {
  const drawn = useMemo(
    () => ({
      // The axis uses the viewer's time zone, so midnight in that zone shows the same date.
      atSeconds: days.map(({ date }) => Date.parse(`${date}T00:00:00`) / 1_000),
      series: DRAWN.map(({ of, ...line }) => ({ ...line, values: days.map((day) => day[of]) })),
    }),
    [days],
  );
  const sum = (of: (typeof DRAWN)[number]['of']) => days.reduce((total, day) => total + day[of], 0);
  const sent = sum('sent');
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h4">
        {words.days}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {words.daysMean}
      </Text>
      <Group gap="xl" mb="sm">
        <Figure name={words.emailCount} value={formatCount(sent)} />
        <Figure name={words.monthBounced} means={words.monthBouncedMeans} value={withShare(sum('bounced'), sent)} />
        <Figure name={words.complained} value={withShare(sum('complained'), sent)} />
      </Group>
      {sent === 0 ? (
        <Text size="sm" c="dimmed">
          {words.noDays}
        </Text>
      ) : (
        <ChartWithTable
          {...drawn}
          rows={days.toReversed()}
          columns={COLUMNS}
          rowKey={({ date }) => date}
          caption={words.daysChart}
        />
      )}
    </Paper>
  );
}

const COLUMNS: Column<Day>[] = [
  { name: words.day, cell: ({ date }) => date },
  { name: words.emailCount, align: 'right', cell: ({ sent }) => formatCount(sent) },
  { name: words.monthBounced, align: 'right', cell: ({ bounced, sent }) => countOf(bounced, sent) },
  { name: words.complained, align: 'right', cell: ({ complained, sent }) => countOf(complained, sent) },
];

function countOf(part: number, sent: number): string {
  return sent > 0 ? `${formatCount(part)} (${formatShare(part, sent)})` : formatCount(part);
}
