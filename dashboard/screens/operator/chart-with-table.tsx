import { Box, Text } from '@mantine/core';
import { RowTable, type TableLayout } from '../../parts/row-table.tsx';
import { type Series, TimeSeries } from '../../parts/time-series.tsx';
import { text } from '../../text/text.ts';

const HEIGHT = 180;

/** A chart in a card below its caption. Its numbers can be shown as a table. */
export function ChartWithTable<Row>({
  atSeconds,
  series,
  ...table
}: TableLayout<Row> & { atSeconds: number[]; series: Series[]; rows: readonly Row[] }) {
  return (
    <Box p="md" pt="sm">
      <Text size="xs" c="dimmed" mb={4} aria-hidden>
        {table.caption}
      </Text>
      <TimeSeries atSeconds={atSeconds} series={series} height={HEIGHT} label={table.caption} />
      <details className="fold">
        <summary>{text.parts.asTable}</summary>
        <RowTable {...table} />
      </details>
    </Box>
  );
}
