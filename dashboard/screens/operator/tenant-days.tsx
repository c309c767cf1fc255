import { Button, Group, Paper, Table, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMemo } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { formatCount, formatShare } from '../../parts/count-link.tsx';
import { TimeSeries } from '../../parts/time-series.tsx';
import { text } from '../../text/text.ts';
import { Figure, withShare } from './tenant-hours.tsx';

type Day = ResponseOf<'getTenant'>['days'][number];

const words = text.operator;
const DRAWN = [
  { label: words.mailCount, color: '--chart-1', of: 'sent' },
  { label: words.monthBounced, color: '--chart-line', of: 'bounced' },
  { label: words.complained, color: '--color-failed', of: 'complained' },
] as const;

/** The project's emails by day, with their results. */
export function TenantDays({ days }: { days: Day[] }) {
  const [asTable, { toggle }] = useDisclosure();
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
        <Figure name={words.mailCount} value={formatCount(sent)} />
        <Figure name={words.monthBounced} means={words.monthBouncedMeans} value={withShare(sum('bounced'), sent)} />
        <Figure name={words.complained} value={withShare(sum('complained'), sent)} />
      </Group>
      {sent === 0 ? (
        <Text size="sm" c="dimmed">
          {words.noDays}
        </Text>
      ) : (
        <>
          <TimeSeries {...drawn} label={words.daysChart} />
          <Button variant="subtle" size="xs" onClick={toggle} aria-expanded={asTable}>
            {asTable ? words.hideTable : words.showTable}
          </Button>
          {asTable && <DaysTable days={days} />}
        </>
      )}
    </Paper>
  );
}

/** The numbers of the chart as a table, newest day first. */
function DaysTable({ days }: { days: Day[] }) {
  return (
    <Table verticalSpacing={4} aria-label={words.daysChart}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.day}</Table.Th>
          {DRAWN.map(({ label }) => (
            <Table.Th key={label} ta="right">
              {label}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {days.toReversed().map(({ date, sent, bounced, complained }) => (
          <Table.Tr key={date}>
            <Table.Td>{date}</Table.Td>
            <Table.Td ta="right">{formatCount(sent)}</Table.Td>
            <Table.Td ta="right">
              {formatCount(bounced)} {sent > 0 && `(${formatShare(bounced, sent)})`}
            </Table.Td>
            <Table.Td ta="right">
              {formatCount(complained)} {sent > 0 && `(${formatShare(complained, sent)})`}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
