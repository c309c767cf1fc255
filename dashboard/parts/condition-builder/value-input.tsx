import { Autocomplete, Group, NumberInput, Select, TagsInput, TextInput } from '@mantine/core';
import { text } from '../../text/text.ts';
import { type DraftFilter, withValue } from './draft.ts';
import { getOperatorInput, UNITS, type Unit } from './language.ts';

const { conditions } = text;
const TRUTHS = [
  { value: 'true', label: conditions.truth.true },
  { value: 'false', label: conditions.truth.false },
];
const UNIT_CHOICES = UNITS.map((unit) => ({ value: unit, label: conditions.units[unit] }));

interface ValueInputProps {
  filter: DraftFilter;
  /** Number of the row, from 1. */
  n: number;
  /** The most frequent values of the field. */
  values: readonly string[];
  error?: string | undefined;
  unitError?: string | undefined;
  onChange: (filter: DraftFilter) => void;
}

/** The input for the value of a row, depending on the operator and on the type of the values. */
export function ValueInput(props: ValueInputProps) {
  switch (getOperatorInput(props.filter.operator)) {
    case 'nothing':
      return null;
    case 'span':
      return <Span {...props} />;
    case 'list':
      return <Values {...props} />;
    case 'one':
      return <OneValue {...props} />;
  }
}

function Span({ filter, n, error, unitError, onChange }: ValueInputProps) {
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <NumberInput
        aria-label={conditions.value(n)}
        value={filter.text}
        onChange={(value) => onChange(withValue(filter, { text: String(value) }))}
        min={1}
        error={error}
        miw={70}
      />
      <Select
        aria-label={conditions.unit(n)}
        data={UNIT_CHOICES}
        value={filter.unit}
        onChange={(unit) => unit && onChange(withValue(filter, { unit: unit as Unit }))}
        allowDeselect={false}
        error={unitError}
        miw={100}
      />
    </Group>
  );
}

function Values({ filter, n, values, error, onChange }: ValueInputProps) {
  return (
    <TagsInput
      aria-label={conditions.values(n)}
      placeholder={filter.list.length === 0 ? conditions.addValue : ''}
      data={[...values]}
      value={filter.list}
      onChange={(list) => onChange(withValue(filter, { list }))}
      acceptValueOnBlur
      splitChars={[]}
      maxDropdownHeight={260}
      error={error}
    />
  );
}

function OneValue({ filter, n, values, error, onChange }: ValueInputProps) {
  const input = {
    'aria-label': conditions.value(n),
    value: filter.text,
    error,
  };
  const change = (value: string) => onChange(withValue(filter, { text: value }));
  if (filter.type === 'boolean') {
    return <Select {...input} data={TRUTHS} onChange={(value) => value && change(value)} allowDeselect={false} />;
  }
  if (filter.type === 'number') return <NumberInput {...input} onChange={(value) => change(String(value))} />;
  if (filter.type === 'date') {
    // A stored value with a time is shown as text, because the browser's date input would show it as empty.
    const isDay = filter.text === '' || /^\d{4}-\d\d-\d\d$/.test(filter.text);
    return (
      <TextInput {...input} type={isDay ? 'date' : 'text'} onChange={(event) => change(event.currentTarget.value)} />
    );
  }
  return <Autocomplete {...input} data={[...values]} onChange={change} maxDropdownHeight={260} limit={100} />;
}
