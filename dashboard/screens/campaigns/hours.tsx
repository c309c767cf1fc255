import { Accordion, Table, Text, Title } from '@mantine/core';
import { useMemo } from 'react';
import { formatCount } from '../../parts/count-link.tsx';
import { exactly } from '../../parts/instant.tsx';
import { TimeSeries } from '../../parts/time-series.tsx';
import { text } from '../../text/text.ts';
import type { Stats } from './words.ts';

const words = text.campaigns;

/** Opens and clicks by humans and bots, hour by hour: as a chart, and as a table for screen readers. */
export function Hours({ stats }: { stats: Stats }) {
  // The chart is redrawn only when the numbers change.
  const key = JSON.stringify(stats.series.map((hour, n) => ({ ...hour, machines: stats.machineSeries[n] })));
  const { atSeconds, series, busy } = useMemo(() => {
    const hours = JSON.parse(key) as (Stats['series'][number] & { machines?: Stats['machineSeries'][number] })[];
    const byMachines = hours.map(({ machines }) => (machines ? machines.opens + machines.clicks : 0));
    return {
      atSeconds: hours.map(({ at }) => Date.parse(at) / 1000),
      series: [
        { label: words.opens, color: '--chart-2', bars: 0.8, values: hours.map(({ opened }) => opened) },
        { label: words.clicks, color: '--chart-1', bars: 0.8, values: hours.map(({ clicked }) => clicked) },
        { label: words.byMachines, color: '--color-idle', values: byMachines },
      ],
      busy: hours.filter(({ opened, clicked }, n) => opened + clicked + (byMachines[n] ?? 0) > 0),
    };
  }, [key]);
  return (
    <section aria-label={words.byHour}>
      <Title order={2} size="h4" mb="sm">
        {words.byHour}
      </Title>
      {busy.length === 0 ? (
        <Text c="dimmed">{words.noOpens}</Text>
      ) : (
        <>
          <TimeSeries atSeconds={atSeconds} series={series} label={words.byHourLabel} />
          <Accordion variant="subtle">
            <Accordion.Item value="table">
              <Accordion.Control>{words.byHourTable}</Accordion.Control>
              <Accordion.Panel>
                <Table aria-label={words.byHour}>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>{words.hour}</Table.Th>
                      <Table.Th ta="right">{words.opens}</Table.Th>
                      <Table.Th ta="right">{words.clicks}</Table.Th>
                      <Table.Th ta="right">{words.opensOfMachines}</Table.Th>
                      <Table.Th ta="right">{words.clicksOfMachines}</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {busy.map(({ at, opened, clicked, machines }) => (
                      <Table.Tr key={at}>
                        <Table.Td>{exactly(at)}</Table.Td>
                        <Table.Td ta="right">{formatCount(opened)}</Table.Td>
                        <Table.Td ta="right">{formatCount(clicked)}</Table.Td>
                        <Table.Td ta="right">{formatCount(machines?.opens ?? 0)}</Table.Td>
                        <Table.Td ta="right">{formatCount(machines?.clicks ?? 0)}</Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </Accordion.Panel>
            </Accordion.Item>
          </Accordion>
        </>
      )}
    </section>
  );
}
