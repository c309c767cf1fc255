import { Box, Paper, Table, Text, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { CountLink, formatCount, formatShare } from '../../parts/count-link.tsx';
import { Empty } from '../../parts/empty.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { text } from '../../text/text.ts';
import { useFirstMail } from '../messages/first-mail.ts';
import { Section } from './section.tsx';

const TimeSeries = lazy(() => import('../../parts/time-series.tsx').then((part) => ({ default: part.TimeSeries })));

type Overview = ResponseOf<'getMailOverview'>;
type Figure = keyof Overview['totals'];

const FIGURES = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained'] as const satisfies Figure[];
/** Color tokens of the theme. Their values depend on the color scheme. */
const COLORS = {
  sent: '--chart-1',
  delivered: '--color-done',
  opened: '--color-moving',
  clicked: '--chart-line',
  bounced: '--color-failed',
} as const;
const DRAWN = ['sent', 'delivered', 'opened', 'clicked', 'bounced'] as const satisfies Figure[];
const CHART_HEIGHT = 230;
const DAY_MS = 86_400_000;
const POLL_MS = 30_000;

/** Results of the last 30 days' emails, in total and by day. Each number links to its emails. */
export function Figures() {
  const overview = useQuery({ ...queryFor('getMailOverview'), refetchInterval: POLL_MS });
  return (
    <Section title={text.home.month}>
      <QueryView of={overview} height={420}>
        {(data) => <Shown overview={data} />}
      </QueryView>
    </Section>
  );
}

function Shown({ overview: { timezone, totals, days } }: { overview: Overview }) {
  const since = days[0]?.date ?? new Date(Date.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  const isEmpty = FIGURES.every((figure) => totals[figure] === 0);
  return (
    <>
      <Paper withBorder className="stats">
        {FIGURES.map((figure) => (
          <div key={figure}>
            <Tooltip label={text.home.figureMeans[figure]} multiline maw={260} events={EVENTS}>
              <Text size="xs" fw={500} c="dimmed" tabIndex={0} w="fit-content">
                {text.home.figures[figure]}
              </Text>
            </Tooltip>
            <div className="stats-figure">
              <CountLink n={totals[figure]} href={`/messages?happened=${figure}&since=${since}`} />
            </div>
            <Text size="xs" c="dimmed" mih={18}>
              {figure !== 'sent' && totals.sent > 0 && text.home.ofSent(formatShare(totals[figure], totals.sent))}
            </Text>
          </div>
        ))}
      </Paper>
      <Box mt="md">{isEmpty ? <NoMail /> : <ByDay days={days} timezone={timezone} />}</Box>
    </>
  );
}

const EVENTS = { hover: true, focus: true, touch: true };

function NoMail() {
  return <Empty title={text.home.noMail} what={text.home.noMailWhy} curl={useFirstMail()} />;
}

function ByDay({ days, timezone }: Pick<Overview, 'days' | 'timezone'>) {
  const drawn = useMemo(
    () => ({
      // The axis uses the viewer's time zone, so midnight in that zone shows the same date.
      atSeconds: days.map(({ date }) => Date.parse(`${date}T00:00:00`) / 1_000),
      series: DRAWN.map((figure) => ({
        label: text.home.figures[figure],
        color: COLORS[figure],
        values: days.map((day) => day[figure]),
      })),
    }),
    [days],
  );
  return (
    <>
      <Text size="sm" c="dimmed" mb={4}>
        {text.home.byDay(timezone)}
      </Text>
      <Suspense fallback={<Box h={CHART_HEIGHT} />}>
        <TimeSeries {...drawn} height={CHART_HEIGHT} label={text.home.byDay(timezone)} />
      </Suspense>
      <details>
        <summary>
          <Text span size="sm" c="dimmed">
            {text.home.asTable}
          </Text>
        </summary>
        <Table.ScrollContainer minWidth={320} type="native">
          <Table aria-label={text.home.byDay(timezone)} verticalSpacing={4}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{text.home.day}</Table.Th>
                {FIGURES.map((figure) => (
                  <Table.Th key={figure} ta="right">
                    {text.home.figures[figure]}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {days.toReversed().map((day) => (
                <Table.Tr key={day.date}>
                  <Table.Td style={{ whiteSpace: 'nowrap' }}>{day.date}</Table.Td>
                  {FIGURES.map((figure) => (
                    <Table.Td key={figure} ta="right">
                      {formatCount(day[figure])}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </details>
    </>
  );
}
