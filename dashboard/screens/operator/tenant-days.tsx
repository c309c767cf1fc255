import { Text } from '@mantine/core';
import { useMemo } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { CardSection } from '../../parts/card-section.tsx';
import { formatCount, formatShare } from '../../parts/count-link.tsx';
import type { Column } from '../../parts/row-table.tsx';
import { text } from '../../text/text.ts';
import { ChartWithTable } from './chart-with-table.tsx';
import { Figures } from './fact.tsx';
import { BAR_SHARE, countWithShare } from './tenant-hours.tsx';

type Day = ResponseOf<'getTenant'>['days'][number];

const words = text.operator;
const CHART_BARS = [
  { label: words.emailCount, color: '--chart-1', of: 'sent' },
  { label: words.monthBounced, color: '--chart-line', of: 'bounced' },
  { label: words.complained, color: '--color-failed', of: 'complained' },
] as const;

/** The project's emails by day, with their results. */
export function TenantDays({ days }: { days: Day[] }) {
  const chart = useMemo(
    () => ({
      // The axis uses the viewer's time zone, so midnight in that zone shows the same date.
      atSeconds: days.map(({ date }) => Date.parse(`${date}T00:00:00`) / 1_000),
      series: CHART_BARS.map(({ of, ...bars }) => ({ ...bars, bars: BAR_SHARE, values: days.map((day) => day[of]) })),
    }),
    [days],
  );
  const sum = (of: (typeof CHART_BARS)[number]['of']) => days.reduce((total, day) => total + day[of], 0);
  const sent = sum('sent');
  return (
    <CardSection title={words.days} subtitle={words.daysMean}>
      <Figures
        of={[
          { name: words.emailCount, value: formatCount(sent) },
          { name: words.monthBounced, means: words.monthBouncedMeans, ...countWithShare(sum('bounced'), sent) },
          { name: words.complained, ...countWithShare(sum('complained'), sent) },
        ]}
      />
      {sent === 0 ? (
        <Text size="sm" c="dimmed" className="card-block">
          {words.noDays}
        </Text>
      ) : (
        <ChartWithTable
          {...chart}
          rows={days.toReversed()}
          columns={COLUMNS}
          rowKey={({ date }) => date}
          caption={words.daysChart}
        />
      )}
    </CardSection>
  );
}

const COLUMNS: Column<Day>[] = [
  { name: words.day, cell: ({ date }) => date },
  { name: words.emailCount, align: 'right', cell: ({ sent }) => formatCount(sent) },
  { name: words.monthBounced, align: 'right', cell: ({ bounced, sent }) => formatCountWithShare(bounced, sent) },
  { name: words.complained, align: 'right', cell: ({ complained, sent }) => formatCountWithShare(complained, sent) },
];

function formatCountWithShare(part: number, sent: number): string {
  return sent > 0 ? `${formatCount(part)} (${formatShare(part, sent)})` : formatCount(part);
}
