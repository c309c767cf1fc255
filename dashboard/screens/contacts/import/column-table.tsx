import { Checkbox, Select, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queryFor } from '../../../api/queries.ts';
import { CardSection } from '../../../parts/card-section.tsx';
import { formatCount } from '../../../parts/count-link.tsx';
import { GrayRows } from '../../../parts/row-table.tsx';
import { text } from '../../../text/text.ts';
import classes from './import.module.css';
import { getTargetField, isImportedAsText, type Mapping, withImportAsText, withTarget } from './mapping.ts';
import type { Preview } from './use-preview.ts';

const words = text.contacts.import;
const FRESH_MS = 60_000;
/** The number of example values per column. */
const SAMPLES_SHOWN = 2;
const LEAVE_OUT = '';

type Column = Preview['columns'][number];

/** Shows the columns of the file with their first values, types and target fields. */
export function ColumnTable({
  preview: { columns },
  mapping,
  onChange,
}: {
  preview: Preview;
  mapping: Mapping;
  onChange: (mapping: Mapping) => void;
}) {
  const fields = useQuery({ ...queryFor('listContactFields'), staleTime: FRESH_MS });
  const known = fields.data?.fields.filter(({ standard }) => !standard).map(({ field }) => field);
  return (
    <CardSection title={words.columns} className={classes.table}>
      <Table.ScrollContainer minWidth={320} type="native">
        <Table aria-label={words.columns} verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.column}</Table.Th>
              <Table.Th visibleFrom="sm">{words.samples}</Table.Th>
              <Table.Th>{words.goesTo}</Table.Th>
              <Table.Th visibleFrom="sm">{words.readAs}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {columns.map((column, n) => (
              // Headers may be empty or occur twice, so the index is the key.
              // biome-ignore lint/suspicious/noArrayIndexKey: columns of a file keep their places
              <Table.Tr key={n}>
                <Table.Td style={CELL}>
                  <Text size="sm" fw={500}>
                    {column.header || '–'}
                  </Text>
                  <Text size="xs" c="dimmed" hiddenFrom="sm">
                    {column.samples[0]}
                  </Text>
                </Table.Td>
                <Table.Td style={CELL} visibleFrom="sm">
                  <Stack gap={2}>
                    {column.samples.slice(0, SAMPLES_SHOWN).map((sample, at) => (
                      // biome-ignore lint/suspicious/noArrayIndexKey: values may be the same
                      <Text key={at} size="sm" c="dimmed" lineClamp={1}>
                        {sample}
                      </Text>
                    ))}
                  </Stack>
                </Table.Td>
                <Table.Td>
                  {column.header !== '' && (
                    <TargetSelect column={column} mapping={mapping} known={known} onChange={onChange} />
                  )}
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <ReadAs column={column} mapping={mapping} onChange={onChange} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </CardSection>
  );
}

/** The columns of the file while it is checked. */
export function GrayColumnTable() {
  return (
    <CardSection title={words.columns} className={classes.table}>
      <GrayRows columns={COLUMNS} caption={words.columns} count={4} />
    </CardSection>
  );
}

const COLUMNS = [
  { name: words.column, cell: () => null },
  { name: words.samples, cell: () => null, wideOnly: true },
  { name: words.goesTo, cell: () => null },
  { name: words.readAs, cell: () => null, wideOnly: true },
];

const CELL = { overflowWrap: 'anywhere', maxWidth: 200, verticalAlign: 'top' } as const;

function TargetSelect({
  column: { header, field },
  mapping,
  known,
  onChange,
}: {
  column: Column;
  mapping: Mapping;
  /** The fields that contacts have; undefined until they are loaded. */
  known: string[] | undefined;
  onChange: (mapping: Mapping) => void;
}) {
  const [search, setSearch] = useState('');
  // A column that the mapping does not name is mapped by its header.
  const value = Object.hasOwn(mapping, header) ? getTargetField(mapping[header]) : field;
  const typed = search.trim();
  // When the list opens, its search text is the label of its value, which is not a field name.
  const isLabel =
    NAMES.includes(typed) || typed === getTargetName(value) || typed === words.newField(getTargetName(value));
  const isKnown = (name: string) => known?.includes(name) ?? true;
  const isNew = typed !== '' && !isKnown(`data.${typed}`) && !isLabel;
  const fields = [...new Set([...(value?.startsWith('data.') ? [value] : []), ...(known ?? [])])];
  const data = [
    { value: 'email', label: words.email },
    { value: 'subscribed', label: words.subscribed },
    { value: LEAVE_OUT, label: words.skipColumn },
    ...fields.map((name) => ({
      value: name,
      label: isKnown(name) ? getTargetName(name) : words.newField(getTargetName(name)),
    })),
    ...(isNew ? [{ value: `data.${typed}`, label: words.newField(typed) }] : []),
  ];
  return (
    <Select
      aria-label={words.targetOf(header)}
      size="xs"
      miw={150}
      maw={260}
      data={data}
      value={value ?? LEAVE_OUT}
      onChange={(next) => next !== null && onChange(withTarget(mapping, header, next === LEAVE_OUT ? null : next))}
      searchable
      onSearchChange={setSearch}
      allowDeselect={false}
      maxDropdownHeight={280}
    />
  );
}

const NAMES: string[] = [words.email, words.subscribed, words.skipColumn];

function getTargetName(field: string | null): string {
  return field?.replace(/^data\./, '') ?? '';
}

/** Names a type, with the number of its values if the column has several types. */
function formatTypeName(type: keyof typeof words.types, n: number | undefined): string {
  return n === undefined ? words.types[type] : `${words.types[type]} (${formatCount(n)})`;
}

function ReadAs({
  column: { header, field, types },
  mapping,
  onChange,
}: {
  column: Column;
  mapping: Mapping;
  onChange: (mapping: Mapping) => void;
}) {
  if (!field?.startsWith('data.')) return null;
  const counts = Object.entries(types) as [keyof typeof words.types, number][];
  const hasOtherTypes = counts.some(([type]) => type === 'number' || type === 'boolean');
  const staysText = isImportedAsText(mapping[header]);
  return (
    <Stack gap={4}>
      <Text size="sm">
        {counts.map(([type, n]) => formatTypeName(type, counts.length > 1 ? n : undefined)).join(', ')}
      </Text>
      {(hasOtherTypes || staysText) && (
        <Checkbox
          size="xs"
          label={words.keepText}
          aria-label={words.typeOf(header)}
          checked={staysText}
          onChange={(event) => onChange(withImportAsText(mapping, header, event.currentTarget.checked))}
        />
      )}
    </Stack>
  );
}
