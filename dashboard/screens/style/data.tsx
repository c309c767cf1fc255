import { Paper, Progress, Text } from '@mantine/core';
import { StackedBar } from '../../parts/bars.tsx';
import { Curl } from '../../parts/curl.tsx';
import { Instant } from '../../parts/instant.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { type Column, RowTable } from '../../parts/row-table.tsx';
import { TimeSeries } from '../../parts/time-series.tsx';
import { WordBadge } from '../../parts/word-badge.tsx';
import { ChangeIndicator } from '../home/change.tsx';
import { Part } from './part.tsx';

const DAY_SECONDS = 86_400;
/** Midnight of 1 November 2026, so that screenshots of this page do not change from day to day. */
const START_SECONDS = 1_793_491_200;
const SENT = [320, 310, 4_820, 380, 300, 290, 330, 410, 360, 2_640, 340, 310, 330, 300];

interface Sample {
  address: string;
  status: string;
  sent: number;
}

const ROWS: Sample[] = [
  { address: 'ada@example.com', status: 'DELIVERED', sent: 12 },
  { address: 'grace@example.com', status: 'BOUNCED', sent: 1 },
  { address: 'a-very-long-address-that-has-to-wrap-somewhere@subdomain.example.com', status: 'HELD', sent: 4_310 },
];
const COLUMNS: Column<Sample>[] = [
  { name: 'Address', cell: ({ address }) => address },
  { name: 'Status', cell: ({ status }) => <WordBadge kind="email" value={status} />, isWhole: true },
  { name: 'Emails', align: 'right', cell: ({ sent }) => sent.toLocaleString() },
];
interface Stat {
  name: string;
  value: string;
  count: string;
  by: number;
  unit?: 'percent' | 'points';
  isGood?: 'up' | 'down';
}

const STATS: Stat[] = [
  { name: 'Sent', value: '40,312', count: 'vs. 37,291', by: 8.1, unit: 'percent' },
  { name: 'Opened', value: '42.6%', count: '17,018', by: 2.4, isGood: 'up' },
  { name: 'Clicked', value: '6.9%', count: '2,756', by: 0, isGood: 'up' },
  { name: 'Bounced', value: '0.9%', count: '363', by: 0.2, isGood: 'down' },
];

/** Statistics, charts, tables, times and code. */
export function Data() {
  return (
    <>
      <Part title="Statistics and charts">
        <Paper withBorder className="stats">
          {STATS.map(({ name, value, count, by, unit = 'points', isGood }) => (
            <div key={name}>
              <Text size="xs" fw={500} c="dimmed">
                {name}
              </Text>
              <div className="stats-figure">{value}</div>
              <Text size="xs" c="dimmed" component="div">
                {count} <ChangeIndicator by={by} unit={unit} {...(isGood && { isGood })} />
              </Text>
            </div>
          ))}
        </Paper>
        <TimeSeries
          atSeconds={SENT.map((_, n) => START_SECONDS + n * DAY_SECONDS)}
          series={[
            { label: 'Sent', color: '--chart-1', bars: 0.65, values: SENT },
            { label: 'Opened', color: '--chart-line', values: SENT.map((n) => Math.round(n * 0.42)) },
          ]}
          label="Sample of a chart"
        />
        <StackedBar
          label="Sample of a stacked bar"
          parts={[
            { label: 'Sent', n: 620, color: 'var(--color-done)' },
            { label: 'Waiting', n: 240, color: 'var(--color-waiting)' },
            { label: 'Failed', n: 30, color: 'var(--color-failed)' },
          ]}
        />
        <Progress value={62} aria-label="Sample of progress" />
      </Part>
      <Part title="Table, time and code">
        <RowTable rows={ROWS} columns={COLUMNS} rowKey={({ address }) => address} caption="Sample of a table" />
        <Text size="sm">
          <Instant at="2026-11-01T09:00:00Z" />
        </Text>
        <JsonView value={{ event: 'signup', data: { plan: 'pro' } }} />
        <Curl method="POST" path="/v1/track" body={{ email: 'ada@example.com', event: 'signup' }} />
      </Part>
    </>
  );
}
