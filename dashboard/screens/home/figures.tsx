import { Box, Checkbox, Group, Paper, Table, Text, Tooltip } from '@mantine/core';
import { IconChartBar } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { CountLink, formatCount, ShareFigure } from '../../parts/count-link.tsx';
import { Empty } from '../../parts/empty.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { text } from '../../text/text.ts';
import { useFirstEmail } from '../messages/first-email.ts';
import { ChangeIndicator, formatChange, getDirection } from './change.tsx';
import { Section } from './section.tsx';

const TimeSeries = lazy(() => import('../../parts/time-series.tsx').then((part) => ({ default: part.TimeSeries })));

type Overview = ResponseOf<'getMailOverview'>;
type Figure = keyof Overview['totals'];

const FIGURES = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained'] as const satisfies Figure[];
/** Statistics for which a lower rate is better. */
const LOWER_IS_BETTER: ReadonlySet<Figure> = new Set<Figure>(['bounced', 'complained']);
const CHART_HEIGHT = 210;
/** Height of the legend above the chart. */
const LEGEND_HEIGHT = 28;
const DAY_MS = 86_400_000;
const POLL_MS = 30_000;

/**
 * Results of the last 30 days' emails beside the 30 days before, by total and by day. Each total links to its emails,
 * except deliveries that the provider does not report.
 */
export function Figures() {
  const overview = useQuery({ ...queryFor('getMailOverview'), refetchInterval: POLL_MS });
  return (
    <Section title={text.home.month} aside={<OpenRateChange overview={overview.data} />}>
      <QueryView of={overview} height={420}>
        {(data) => <LoadedFigures overview={data} />}
      </QueryView>
    </Section>
  );
}

/**
 * Shows the change of the open rate as a sentence beside the title. On a phone, the sentence is below the title, and
 * its line is reserved while the numbers load.
 */
function OpenRateChange({ overview }: { overview: Overview | undefined }) {
  return (
    <Text size="sm" c="dimmed" w={{ base: '100%', sm: 'auto' }} mih={18}>
      {overview && describeOpenRate(overview)}
    </Text>
  );
}

function describeOpenRate({ totals, rates, previous }: Overview): string | null {
  if (totals.sent === 0 || previous.totals.sent === 0) return null;
  const change = rates.opened - previous.rates.opened;
  return text.home.news(getDirection(change), formatChange(change));
}

function LoadedFigures({ overview }: { overview: Overview }) {
  const { timezone, totals, days, previous } = overview;
  if (FIGURES.every((figure) => totals[figure] === 0)) return <NoEmail />;
  return (
    <Paper withBorder style={{ overflow: 'hidden' }}>
      <div className="stats">
        {FIGURES.map((figure) => (
          <Stat key={figure} figure={figure} overview={overview} />
        ))}
      </div>
      <Box p="md" pt="sm">
        <ByDay days={days} before={previous.days} timezone={timezone} />
      </Box>
    </Paper>
  );
}

function Stat({ figure, overview }: { figure: Figure; overview: Overview }) {
  const { totals, rates, previous, deliveredBasis, days } = overview;
  const means = text.home.figureMeans[figure];
  const since = days[0]?.date ?? new Date(Date.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  // If the provider sends no delivery reports, the shown number of delivered emails is computed. The list of delivered
  // emails would have another number, so there is no link to it.
  const isListed = figure !== 'delivered' || deliveredBasis === 'reported';
  const count = isListed ? (
    <CountLink n={totals[figure]} href={`/messages?happened=${figure}&since=${since}`} />
  ) : (
    formatCount(totals[figure])
  );
  return (
    <div>
      <Tooltip
        label={typeof means === 'string' ? means : means[deliveredBasis]}
        multiline
        maw={260}
        events={{ hover: true, focus: true, touch: true }}
      >
        <Text size="xs" fw={500} c="dimmed" tabIndex={0} w="fit-content">
          {text.home.figures[figure]}
        </Text>
      </Tooltip>
      <div className="stats-figure">
        {figure === 'sent' ? count : <ShareFigure part={totals[figure]} whole={totals.sent} />}
      </div>
      <Group gap={8} mih={18} fz="xs" c="dimmed" className="stats-detail">
        {figure === 'sent' ? (
          previous.totals.sent > 0 && (
            <>
              <span>{text.home.previous(formatCount(previous.totals.sent))}</span>
              <ChangeIndicator
                by={(100 * (totals.sent - previous.totals.sent)) / previous.totals.sent}
                unit="percent"
              />
            </>
          )
        ) : (
          <>
            <span>{count}</span>
            {previous.totals.sent > 0 && totals.sent > 0 && (
              <ChangeIndicator
                by={rates[figure] - previous.rates[figure]}
                unit="points"
                isGood={LOWER_IS_BETTER.has(figure) ? 'down' : 'up'}
              />
            )}
          </>
        )}
      </Group>
    </div>
  );
}

function NoEmail() {
  return <Empty icon={IconChartBar} title={text.home.noEmail} what={text.home.noEmailWhy} curl={useFirstEmail()} />;
}

function ByDay({ days, before, timezone }: Pick<Overview, 'days' | 'timezone'> & { before: Overview['days'] }) {
  const [isCompared, setIsCompared] = useState(false);
  const chart = useMemo(
    () => ({
      // The axis uses the viewer's time zone, so midnight in that zone shows the same date.
      atSeconds: days.map(({ date }) => Date.parse(`${date}T00:00:00`) / 1_000),
      series: [
        ...(isCompared
          ? [{ label: text.home.sentBefore, color: '--chart-2', bars: 0.9, values: before.map(({ sent }) => sent) }]
          : []),
        {
          label: text.home.figures.sent,
          color: '--chart-1',
          bars: isCompared ? 0.5 : 0.65,
          values: days.map(({ sent }) => sent),
        },
        {
          label: text.home.openRate,
          color: '--chart-line',
          isPercent: true,
          // Most of today's opens are still to come.
          values: days.map(({ sent, opened }, n) =>
            sent === 0 || n === days.length - 1 ? null : (100 * opened) / sent,
          ),
        },
      ],
    }),
    [days, before, isCompared],
  );
  return (
    <>
      <Suspense fallback={<Box h={CHART_HEIGHT + LEGEND_HEIGHT} />}>
        <TimeSeries
          {...chart}
          height={CHART_HEIGHT}
          label={text.home.byDay(timezone)}
          aside={
            <Checkbox
              size="xs"
              label={text.home.compare}
              checked={isCompared}
              onChange={(event) => setIsCompared(event.currentTarget.checked)}
            />
          }
        />
      </Suspense>
      <details className="fold">
        <summary>{text.parts.asTable}</summary>
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
