import { Group, Input, SegmentedControl, Stack } from '@mantine/core';
import { useEffect, useState } from 'react';
import { text } from '../../text/text.ts';
import type { Variable } from '../email-editor/variables.ts';
import { JsonValue } from '../json-editor/json-value.tsx';
import { DataRows, type KnownField } from './data-rows.tsx';
import { type DataRow, isComplete, type RowType, toData, toDataRows } from './rows.ts';

const t = text.dataFields;

/**
 * An editor for data, field by field or as JSON. The reported value omits incomplete rows. The component reads the
 * initial data only once, so give it another `key` for other data.
 */
export function DataFields({
  label,
  description,
  value,
  onChange,
  onWhole,
  types,
  known,
  variables,
  error,
  disabled = false,
  addLabel,
}: {
  label: string;
  description?: string;
  value: Readonly<Record<string, unknown>>;
  onChange: (value: Record<string, unknown>) => void;
  /**
   * Called at first, after each change, and when the view changes. `whole` tells whether the value contains everything
   * that the user entered. It is false if a row has an error, or if the typed JSON is not valid.
   */
  onWhole?: (whole: boolean) => void;
  types: readonly RowType[];
  known: readonly KnownField[];
  variables?: readonly Variable[];
  error?: string | undefined;
  disabled?: boolean;
  addLabel?: string;
}) {
  const [view, setView] = useState<'fields' | 'json'>('fields');
  const [rows, setRows] = useState<DataRow[]>(() => toDataRows(value));
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, because the initial value has every row
  useEffect(() => onWhole?.(true), []);
  const change = (next: DataRow[]) => {
    setRows(next);
    onChange(toData(next).data);
    onWhole?.(isComplete(next));
  };
  const show = (next: string) => {
    // The view that opens starts with the data of the other view.
    if (next === 'fields') setRows(toDataRows(value));
    onWhole?.(true);
    setView(next === 'json' ? 'json' : 'fields');
  };
  return (
    <Stack gap={6}>
      <Group justify="space-between" wrap="nowrap" gap="xs" align="flex-start">
        <div>
          <Input.Label labelElement="div">{label}</Input.Label>
          {description && <Input.Description>{description}</Input.Description>}
        </div>
        <SegmentedControl
          aria-label={t.view(label)}
          size="xs"
          style={{ flex: 'none' }}
          value={view}
          onChange={show}
          data={[
            { value: 'fields', label: t.asFields },
            { value: 'json', label: t.asJson },
          ]}
        />
      </Group>
      {view === 'fields' ? (
        <DataRows
          label={label}
          rows={rows}
          onChange={change}
          types={types}
          known={known}
          variables={variables?.map(({ name }) => name) ?? []}
          disabled={disabled}
          {...(addLabel !== undefined && { addLabel })}
        />
      ) : (
        <JsonValue
          label={label}
          value={value}
          needsObject
          disabled={disabled}
          onChange={(next) => {
            onChange((next ?? {}) as Record<string, unknown>);
            onWhole?.(true);
          }}
          onFault={() => onWhole?.(false)}
          {...(variables && { variables })}
        />
      )}
      {error && <Input.Error>{error}</Input.Error>}
    </Stack>
  );
}
