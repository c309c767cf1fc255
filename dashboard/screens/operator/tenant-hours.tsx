import { Text } from '@mantine/core';
import { useMemo } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { CardSection } from '../../parts/card-section.tsx';
import { formatCount, formatShare, ShareFigure } from '../../parts/count-link.tsx';
import type { Column } from '../../parts/row-table.tsx';
import type { Series } from '../../parts/time-series.tsx';
import { text } from '../../text/text.ts';
import { ChartWithTable } from './chart-with-table.tsx';
import { Figures } from './fact.tsx';

type Tenant = ResponseOf<'getTenant'>;

const words = text.operator;
const HOURS = 48;
const HOUR_SECONDS = 3_600;
/** Width of a bar as a share of its time span. Bars overlap: bounces and complaints are parts of the emails. */
export const BAR_SHARE = 0.65;
const HOUR_FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/**
 * Shows a project's emails by hour, and its rates of bounces and complaints in the last 24 hours with the rates at
 * which sending pauses.
 */
export function TenantHours({ tenant: { hours, mails, dead, complaints, limits } }: { tenant: Tenant }) {
  const { atSeconds, series } = useMemo(() => toChartData(hours), [hours]);
  return (
    <CardSection title={words.hours}>
      <Figures
        of={[
          { name: words.emailCount, means: words.emailsMean, value: formatCount(mails) },
          {
            name: words.bounced,
            means: words.bouncedMeans,
            value: <ShareFigure part={dead} whole={Math.max(1, mails)} />,
            detail: words.countBelow(formatCount(dead), formatShare(limits.bounceGuard, 1)),
            isWarning: mails > 0 && dead >= limits.bounceGuard * mails,
          },
          {
            name: words.complained,
            value: <ShareFigure part={complaints} whole={Math.max(1, mails)} />,
            detail: words.countBelow(formatCount(complaints), formatShare(limits.complaintGuard, 1)),
            isWarning: mails > 0 && complaints >= limits.complaintGuard * mails,
          },
        ]}
      />
      {hours.length === 0 ? (
        <Text size="sm" c="dimmed" className="card-block">
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
    </CardSection>
  );
}

const COLUMNS: Column<Tenant['hours'][number]>[] = [
  { name: words.hour, cell: ({ hour }) => HOUR_FORMAT.format(new Date(hour)) },
  { name: words.emailCount, align: 'right', cell: ({ mails }) => formatCount(mails) },
  { name: words.bounced, align: 'right', cell: ({ dead }) => formatCount(dead) },
  { name: words.complained, align: 'right', cell: ({ complaints }) => formatCount(complaints) },
];

/** A figure: the share of `part` in `whole`, and `part` below it. If `whole` is 0, `part` alone. */
export function countWithShare(part: number, whole: number) {
  if (whole === 0) return { value: formatCount(part) };
  return { value: <ShareFigure part={part} whole={whole} />, detail: formatCount(part) };
}

/** Returns bars for each of the last 48 hours. Hours without email are zero. */
function toChartData(hours: Tenant['hours']): { atSeconds: number[]; series: Series[] } {
  const last = Math.floor(Date.now() / 1000 / HOUR_SECONDS) * HOUR_SECONDS;
  const atSeconds = Array.from({ length: HOURS }, (_, index) => last - (HOURS - 1 - index) * HOUR_SECONDS);
  const byHour = new Map(hours.map((hour) => [Date.parse(hour.hour) / 1000, hour]));
  const bars = (label: string, color: string, of: 'mails' | 'dead' | 'complaints'): Series => ({
    label,
    color,
    bars: BAR_SHARE,
    values: atSeconds.map((at) => byHour.get(at)?.[of] ?? 0),
  });
  return {
    atSeconds,
    series: [
      bars(words.emailCount, '--chart-1', 'mails'),
      bars(words.bounced, '--chart-line', 'dead'),
      bars(words.complained, '--color-failed', 'complaints'),
    ],
  };
}
