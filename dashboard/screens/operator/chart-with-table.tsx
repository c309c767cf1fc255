import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type Rows, RowTable } from '../../parts/row-table.tsx';
import { type Series, TimeSeries } from '../../parts/time-series.tsx';
import { text } from '../../text/text.ts';

/** A chart whose numbers can be shown as a table. */
export function ChartWithTable<Row>({
  atSeconds,
  series,
  ...table
}: Rows<Row> & { atSeconds: number[]; series: Series[]; rows: readonly Row[] }) {
  const [asTable, { toggle }] = useDisclosure();
  return (
    <>
      <TimeSeries atSeconds={atSeconds} series={series} label={table.caption} />
      <Button variant="subtle" size="xs" onClick={toggle} aria-expanded={asTable}>
        {asTable ? text.operator.hideTable : text.parts.asTable}
      </Button>
      {asTable && <RowTable {...table} />}
    </>
  );
}
