import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failed } from './failed.tsx';
import { PageFoot } from './page-foot.tsx';
import { Refreshing } from './refreshing.tsx';
import { PendingRows, RowTable, type TableLayout } from './row-table.tsx';

/** One page of a list. `total` is null if the API did not count the rows. */
interface PageOf<Row> {
  data: Row[];
  total?: number | null;
}

/**
 * Shows a list of any length page by page, with a cursor: a loading state, an error, an empty state, or the rows. While
 * the response for a new filter loads, the old rows stay visible.
 */
export function CursorTable<Row>({
  pages,
  empty,
  ...table
}: TableLayout<Row> & {
  pages: UseInfiniteQueryResult<InfiniteData<PageOf<Row>>, Error>;
  /** Shown if the list has no rows. */
  empty: ReactNode;
}) {
  const { data, error, isPending, refetch, isPlaceholderData } = pages;
  if (isPending) return <PendingRows {...table} />;
  if (!data) return <Failed error={error} retry={() => void refetch()} />;
  const rows = data.pages.flatMap((page) => page.data);
  if (rows.length === 0) return empty;
  return (
    <Refreshing isBusy={isPlaceholderData}>
      <RowTable rows={rows} {...table} />
      <PageFoot pages={pages} shown={rows.length} total={data.pages[0]?.total} />
    </Refreshing>
  );
}
