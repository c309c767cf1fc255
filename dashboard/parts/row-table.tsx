import { Table, UnstyledButton, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import { Placeholder } from './loading.tsx';

export interface Column<Row> {
  /** The title in the header row, and the React key. */
  name: string;
  cell: (row: Row) => ReactNode;
  /** Shown in the header row instead of the name. */
  head?: ReactNode;
  /** Shows the name to screen readers only, because the cells have buttons with the same text. */
  hidesName?: boolean;
  align?: 'right';
  /** Width in pixels on a wide screen; on a phone, columns are as wide as their content. */
  width?: number;
  /** Hidden on a phone; with `md`, on a tablet as well. */
  wideOnly?: boolean | 'md';
  /** Keeps the content of cells on one line, because it is short. */
  isWhole?: boolean;
  /** On a phone, this column takes the remaining width and clips longer text. Other columns are at the right edge. */
  isMain?: boolean;
  /** Sorts the list by this column, if the API can. */
  sort?: Sort;
}

export interface Sort {
  /** The direction in which the list is sorted by this column now. */
  by?: 'ascending' | 'descending' | undefined;
  onSort: () => void;
}

/** The columns and the name of a table; the rows are separate, because they may still be loading. */
export interface TableLayout<Row> {
  columns: Column<Row>[];
  rowKey: (row: Row) => string;
  /** Name of the list, for screen readers. */
  caption: string;
}

const CELL = { overflowWrap: 'anywhere', maxWidth: 420 } as const;
const WHOLE = { overflowWrap: 'normal' } as const;

/** Shows rows as a table. Cells wrap anywhere and are at most 420 pixels wide, unless `isWhole` or `isMain` is set. */
export function RowTable<Row>({ rows, columns, rowKey, caption }: TableLayout<Row> & { rows: readonly Row[] }) {
  return (
    <Frame caption={caption} columns={columns}>
      {rows.map((row) => (
        <Table.Tr key={rowKey(row)}>
          {columns.map(({ name, cell, align, wideOnly, isWhole, isMain }) => (
            <Table.Td
              key={name}
              className={isMain ? 'cell-main' : undefined}
              ta={align}
              visibleFrom={getSmallestScreen(wideOnly)}
              style={isMain ? undefined : isWhole ? WHOLE : CELL}
            >
              {cell(row)}
            </Table.Td>
          ))}
        </Table.Tr>
      ))}
    </Frame>
  );
}

/** The number of rows of the placeholder. They fill a laptop's window, so that nothing moves when the data appears. */
const PENDING_ROWS = 14;
/** Widths of the placeholder's bars, as shares of their cells. */
const TEXT_WIDTHS = ['62%', '48%', '70%', '54%', '40%'];

interface PendingTable<Row> extends Pick<TableLayout<Row>, 'columns' | 'caption'> {
  /** The number of gray rows. A short list sets it, so that the parts below it stay almost where they are. */
  count?: number;
}

/** Shows the header row, and gray bars instead of rows, while the first rows load. */
export function PendingRows<Row>(p: PendingTable<Row>) {
  return (
    <Placeholder>
      <GrayRows {...p} />
    </Placeholder>
  );
}

/** The placeholder of a table as it looks. */
export function GrayRows<Row>({ columns, caption, count = PENDING_ROWS }: PendingTable<Row>) {
  return (
    <Frame caption={caption} columns={columns}>
      {Array.from({ length: count }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all rows are the same
        <Table.Tr key={row}>
          {columns.map(({ name, align, wideOnly, isMain }, column) => (
            <Table.Td key={name} className={isMain ? 'cell-main' : undefined} visibleFrom={getSmallestScreen(wideOnly)}>
              <span
                className="pending-text"
                data-align={align}
                style={{ width: TEXT_WIDTHS[(row + 2 * column) % TEXT_WIDTHS.length] }}
              />
            </Table.Td>
          ))}
        </Table.Tr>
      ))}
    </Frame>
  );
}

function Frame<Row>({
  columns,
  caption,
  children,
}: Pick<TableLayout<Row>, 'columns' | 'caption'> & { children: ReactNode }) {
  return (
    // Names for screen readers are positioned absolutely. With `relative`, they scroll with the table instead of
    // widening the page.
    <Table.ScrollContainer minWidth={320} type="native" pos="relative">
      <Table highlightOnHover verticalSpacing="xs" captionSide="top" aria-label={caption}>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ name, head, hidesName, align, width, wideOnly, isMain, sort }) => (
              <Table.Th
                key={name}
                className={isMain ? 'cell-main' : undefined}
                ta={align}
                w={{ sm: width }}
                visibleFrom={getSmallestScreen(wideOnly)}
                aria-sort={sort ? (sort.by ?? 'none') : undefined}
              >
                {sort ? (
                  <SortButton name={name} {...sort} />
                ) : hidesName ? (
                  <VisuallyHidden>{name}</VisuallyHidden>
                ) : (
                  (head ?? name)
                )}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function getSmallestScreen(wideOnly: boolean | 'md' | undefined): 'sm' | 'md' | undefined {
  return wideOnly === true ? 'sm' : wideOnly || undefined;
}

function SortButton({ name, by, onSort }: Sort & { name: string }) {
  return (
    <UnstyledButton fz="inherit" fw="inherit" c={by ? undefined : 'inherit'} onClick={onSort}>
      {name}
      <span aria-hidden>{by === 'ascending' ? ' ↑' : by === 'descending' ? ' ↓' : ''}</span>
    </UnstyledButton>
  );
}
