import { Box, Button, Group, Table, Text } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { text } from '../text/text.ts';
import { Failed } from './failed.tsx';
import { Loading } from './loading.tsx';

export interface Column<Row> {
  /** Its name in the head, and its key. */
  name: string;
  cell: (row: Row) => ReactNode;
  /** Shown in the head in place of the name. */
  head?: ReactNode;
  align?: 'right';
  width?: number | string;
  /** Left out where there is no room, on a phone. */
  wideOnly?: boolean;
}

/** Where the rows of a page are; `total` is null where they were not counted. */
interface PageOf<Row> {
  data: Row[];
  total?: number | null;
}

/**
 * A list of any length, page after page by its cursor. Its four states in one place: it reads, it failed, it is empty,
 * it has rows. While a filter changes, the old rows stay, dimmed.
 */
export function CursorTable<Row>({
  pages,
  columns,
  rowKey,
  empty,
  caption,
}: {
  pages: UseInfiniteQueryResult<InfiniteData<PageOf<Row>>, Error>;
  columns: Column<Row>[];
  rowKey: (row: Row) => string;
  /** Shown where there are no rows at all. */
  empty: ReactNode;
  /** What the table lists, for who listens. */
  caption: string;
}) {
  const { data, error, isPending, refetch, isPlaceholderData } = pages;
  if (isPending) return <Loading />;
  if (!data) return <Failed error={error} retry={() => void refetch()} />;
  const rows = data.pages.flatMap((page) => page.data);
  if (rows.length === 0) return empty;
  return (
    <Box style={{ opacity: isPlaceholderData ? 0.55 : 1, transition: 'opacity 120ms' }} aria-busy={isPlaceholderData}>
      <Table.ScrollContainer minWidth={320} type="native">
        <Table highlightOnHover verticalSpacing="xs" captionSide="top" aria-label={caption}>
          <Head columns={columns} />
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={rowKey(row)}>
                {columns.map(({ name, cell, align, wideOnly }) => (
                  <Table.Td key={name} ta={align} visibleFrom={wideOnly ? 'sm' : undefined} style={CELL}>
                    {cell(row)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Foot pages={pages} shown={rows.length} total={data.pages[0]?.total ?? null} />
    </Box>
  );
}

const CELL = { overflowWrap: 'anywhere', maxWidth: 420 } as const;

function Head<Row>({ columns }: { columns: Column<Row>[] }) {
  return (
    <Table.Thead>
      <Table.Tr>
        {columns.map(({ name, head, align, width, wideOnly }) => (
          <Table.Th key={name} ta={align} w={width} visibleFrom={wideOnly ? 'sm' : undefined}>
            {head ?? name}
          </Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
  );
}

function Foot({
  pages: { hasNextPage, fetchNextPage, isFetchingNextPage, error },
  shown,
  total,
}: {
  pages: Pick<UseInfiniteQueryResult<unknown, Error>, 'hasNextPage' | 'fetchNextPage' | 'isFetchingNextPage' | 'error'>;
  shown: number;
  total: number | null;
}) {
  return (
    <>
      <Group justify="space-between" mt="sm">
        <Text size="sm" c="dimmed" aria-live="polite">
          {text.parts.shown(shown, hasNextPage ? total : shown)}
        </Text>
        {hasNextPage && (
          <Button variant="default" size="xs" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {text.parts.showMore}
          </Button>
        )}
      </Group>
      {error && <Failed error={error} retry={() => void fetchNextPage()} />}
    </>
  );
}
