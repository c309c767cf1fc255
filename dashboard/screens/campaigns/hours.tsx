import { Table, Text } from '@mantine/core';
import { useMemo } from 'react';
import { CardSection } from '../../parts/card-section.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { formatExactTime } from '../../parts/instant.tsx';
import { TimeSeries } from '../../parts/time-series.tsx';
import { text } from '../../text/text.ts';
import type { Stats } from './words.ts';

const words = text.campaigns;

/** The chart shows at least a day, so that the first hours of a campaign do not look like its whole result. */
const HOURS_MIN = 24;

/** Returns the hours until one hour after the last opens or clicks, but at least the first day. */
function trimQuietHours<Hour extends { opened: number; clicked: number; machines?: { opens: number; clicks: number } }>(
  hours: Hour[],
): Hour[] {
  const last = hours.findLastIndex(
    ({ opened, clicked, machines }) => opened + clicked + (machines ? machines.opens + machines.clicks : 0) > 0,
  );
  return hours.slice(0, Math.max(HOURS_MIN, last + 2));
}

/** Opens and clicks by humans and bots, hour by hour: as a chart and, collapsed, as a table. */
export function Hours({ stats }: { stats: Stats }) {
  // The chart is redrawn only when the numbers change.
  const key = JSON.stringify(stats.series.map((hour, n) => ({ ...hour, machines: stats.machineSeries[n] })));
  const { atSeconds, series, busy } = useMemo(() => {
    const all = JSON.parse(key) as (Stats['series'][number] & { machines?: Stats['machineSeries'][number] })[];
    const hours = trimQuietHours(all);
    const byMachines = hours.map(({ machines }) => (machines ? machines.opens + machines.clicks : 0));
    return {
      atSeconds: hours.map(({ at }) => Date.parse(at) / 1000),
      series: [
        { label: words.opens, color: '--chart-2', bars: 0.8, values: hours.map(({ opened }) => opened) },
        { label: words.clicks, color: '--chart-1', bars: 0.8, values: hours.map(({ clicked }) => clicked) },
        ...(byMachines.some((n) => n > 0) ? [{ label: words.byBots, color: '--color-idle', values: byMachines }] : []),
      ],
      busy: hours.filter(({ opened, clicked }, n) => opened + clicked + (byMachines[n] ?? 0) > 0),
    };
  }, [key]);
  return (
    <CardSection title={words.byHour} isPadded>
      {busy.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.noOpens}
        </Text>
      ) : (
        <>
          <TimeSeries atSeconds={atSeconds} series={series} label={words.byHourLabel} />
          <details className="fold">
            <summary>{text.parts.asTable}</summary>
            <Table aria-label={words.byHour}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{words.hour}</Table.Th>
                  <Table.Th ta="right">{words.opens}</Table.Th>
                  <Table.Th ta="right">{words.clicks}</Table.Th>
                  <Table.Th ta="right">{words.opensByBots}</Table.Th>
                  <Table.Th ta="right">{words.clicksByBots}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {busy.map(({ at, opened, clicked, machines }) => (
                  <Table.Tr key={at}>
                    <Table.Td>{formatExactTime(at)}</Table.Td>
                    <Table.Td ta="right">{formatCount(opened)}</Table.Td>
                    <Table.Td ta="right">{formatCount(clicked)}</Table.Td>
                    <Table.Td ta="right">{formatCount(machines?.opens ?? 0)}</Table.Td>
                    <Table.Td ta="right">{formatCount(machines?.clicks ?? 0)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </details>
        </>
      )}
    </CardSection>
  );
}
