import { ActionIcon, Autocomplete, Box, Button, Group, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { text } from '../../text/text.ts';
import { TextListInput } from '../text-list-input.tsx';
import { type DataRow, newRow, type RowType, toData, toRowType, withName, withText, withType } from './rows.ts';

const t = text.dataFields;

/** A known field name, with the type of its values and some of them. */
export interface KnownField {
  name: string;
  type?: string | undefined;
  values?: readonly string[];
}

export interface DataRowsProps {
  rows: readonly DataRow[];
  onChange: (rows: DataRow[]) => void;
  /** Name of the rows, for screen readers. */
  label: string;
  types: readonly RowType[];
  known: readonly KnownField[];
  /** Names of variables, if a value may be a variable. */
  variables?: readonly string[];
  addLabel?: string;
  disabled?: boolean;
}

/** Shows data as rows with the name, type and value of each field. */
export function DataRows(p: DataRowsProps) {
  const { rows, onChange, disabled = false } = p;
  const [freshKey, setFreshKey] = useState<string>();
  const { faults } = toData(rows);
  const change = (changed: DataRow) => onChange(rows.map((row) => (row.key === changed.key ? changed : row)));
  const add = () => {
    const row = newRow();
    setFreshKey(row.key);
    onChange([...rows, row]);
  };
  return (
    <Stack gap="xs" role="group" aria-label={p.label}>
      {rows.map((row, index) => {
        const fault = faults.get(row.key);
        return (
          <Box key={row.key} role="group" aria-label={t.row(index + 1)}>
            <Group gap={6} wrap="nowrap" align="flex-start">
              <Name
                {...p}
                row={row}
                n={index + 1}
                autoFocus={row.key === freshKey}
                // A new row has no name yet, which is not an error.
                error={fault === 'twice' || (fault === 'unnamed' && row.text !== '') ? t.faults[fault] : undefined}
                onChange={change}
              />
              <Select
                aria-label={t.type(index + 1)}
                data={listTypeChoices(p.types, row.type)}
                value={row.type}
                allowDeselect={false}
                disabled={disabled}
                w={112}
                onChange={(type) => type && change(withType(row, type as RowType))}
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                size="lg"
                aria-label={t.remove(row.name || String(index + 1))}
                disabled={disabled}
                onClick={() => onChange(rows.filter(({ key }) => key !== row.key))}
              >
                <IconX size={16} />
              </ActionIcon>
            </Group>
            <Value {...p} row={row} n={index + 1} onChange={change} error={findValueFault(row, fault)} />
          </Box>
        );
      })}
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPlus size={14} />}
        disabled={disabled}
        onClick={add}
        style={{ alignSelf: 'flex-start' }}
      >
        {p.addLabel ?? t.add}
      </Button>
    </Stack>
  );
}

/** Returns the error of a value once the user has typed something. An empty input is only incomplete. */
function findValueFault({ text: typed }: DataRow, fault: string | undefined): string | undefined {
  if (fault === undefined || fault === 'unnamed' || fault === 'twice' || typed === '') return undefined;
  return t.faults[fault as keyof typeof t.faults];
}

function listTypeChoices(types: readonly RowType[], current: RowType) {
  const all = types.includes(current) ? types : [...types, current];
  return all.map((value) => ({ value, label: t.types[value] }));
}

interface Part extends Omit<DataRowsProps, 'onChange'> {
  row: DataRow;
  n: number;
  error: string | undefined;
  onChange: (row: DataRow) => void;
}

function Name({ row, n, known, error, disabled, autoFocus, onChange }: Part & { autoFocus: boolean }) {
  /** A known field sets the type of its row, unless the user has already typed a value. */
  const choose = (name: string) => {
    const type = known.find((one) => one.name === name)?.type;
    const renamed = withName(row, name);
    onChange(type !== undefined && row.text === '' ? withType(renamed, toRowType(type)) : renamed);
  };
  return (
    <Autocomplete
      aria-label={t.name(n)}
      placeholder={t.namePlaceholder}
      data={[...new Set(known.map(({ name }) => name))]}
      limit={50}
      value={row.name}
      onChange={choose}
      maxLength={200}
      error={error}
      disabled={disabled === true}
      autoFocus={autoFocus}
      style={{ flex: 1, minWidth: 0 }}
    />
  );
}

function Value({ row, n, known, variables = [], error, disabled = false, onChange }: Part) {
  const input = { 'aria-label': t.value(n), disabled, error, mt: 4 };
  const change = (typed: string) => onChange(withText(row, typed));
  switch (row.type) {
    case 'nothing':
      return (
        <Text size="xs" c="dimmed" mt={4}>
          {t.nothingMeans}
        </Text>
      );
    case 'boolean':
      return (
        <Select
          {...input}
          data={TRUTHS}
          value={row.text}
          allowDeselect={false}
          onChange={(value) => value && change(value)}
        />
      );
    case 'list':
      return <TextListInput {...input} json={row.text} onChange={change} />;
    case 'json':
      return (
        <Textarea
          {...input}
          value={row.text}
          autosize
          minRows={1}
          maxRows={8}
          description={t.jsonMeans}
          inputWrapperOrder={['input', 'description', 'error']}
          onChange={({ currentTarget: { value } }) => change(value)}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12 } }}
        />
      );
    case 'variable':
      return (
        <Autocomplete
          {...input}
          placeholder={t.variablePlaceholder}
          data={[...variables]}
          limit={50}
          value={row.text}
          onChange={change}
        />
      );
    case 'date': {
      // A value with a time is shown as text, because the browser's date input would show it as empty.
      const isDay = row.text === '' || /^\d{4}-\d\d-\d\d$/.test(row.text);
      return (
        <TextInput
          {...input}
          type={isDay ? 'date' : 'text'}
          value={row.text}
          onChange={(event) => change(event.currentTarget.value)}
        />
      );
    }
    default: {
      const values = known.find(({ name }) => name === row.name)?.values ?? [];
      return (
        <Autocomplete
          {...input}
          placeholder={t.valuePlaceholder}
          inputMode={row.type === 'number' ? 'decimal' : 'text'}
          data={[...values]}
          limit={50}
          value={row.text}
          onChange={change}
        />
      );
    }
  }
}

const TRUTHS = [
  { value: 'true', label: t.truth.true },
  { value: 'false', label: t.truth.false },
];
