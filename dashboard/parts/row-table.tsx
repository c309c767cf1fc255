import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

export interface Column<Row> {
  /** The title in the header row, and the key. */
  name: string;
  cell: (row: Row) => ReactNode;
  /** Shown in the header row instead of the name. */
  head?: ReactNode;
  align?: 'right';
  /** Width in pixels on a wide screen; on a phone, columns are as wide as their content. */
  width?: number;
  /** Hidden on a phone. */
  wideOnly?: boolean;
  /** Its content is short and never wraps. */
  isWhole?: boolean;
}

export interface Rows<Row> {
  columns: Column<Row>[];
  rowKey: (row: Row) => string;
  /** Name of the list, for screen readers. */
  caption: string;
}

const CELL = { overflowWrap: 'anywhere', maxWidth: 420 } as const;
const WHOLE = { overflowWrap: 'normal' } as const;

/** Shows rows as a table. Cells wrap anywhere, and are at most 420 pixels wide. */
export function RowTable<Row>({ rows, columns, rowKey, caption }: Rows<Row> & { rows: readonly Row[] }) {
  return (
    <Table.ScrollContainer minWidth={320} type="native">
      <Table highlightOnHover verticalSpacing="xs" captionSide="top" aria-label={caption}>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ name, head, align, width, wideOnly }) => (
              <Table.Th
                key={name}
                ta={align}
                w={{ sm: width }}
                visibleFrom={wideOnly ? 'sm' : undefined}
                aria-label={typeof head === 'string' ? name : undefined}
              >
                {head ?? name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={rowKey(row)}>
              {columns.map(({ name, cell, align, wideOnly, isWhole }) => (
                <Table.Td
                  key={name}
                  ta={align}
                  visibleFrom={wideOnly ? 'sm' : undefined}
                  style={isWhole ? WHOLE : CELL}
                >
                  {cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
