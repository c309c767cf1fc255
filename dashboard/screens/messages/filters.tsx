import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconFilter } from '@tabler/icons-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useTyped } from '../../parts/use-typed.ts';
import { text } from '../../text/text.ts';

/** The filters of a list in a row that wraps; on a phone, behind a button. `onClear` is set if a filter is. */
export function Filters({ children, onClear }: { children: ReactNode; onClear: (() => void) | undefined }) {
  const [opened, { toggle }] = useDisclosure(onClear !== undefined);
  return (
    <>
      <Button
        variant="default"
        hiddenFrom="xs"
        mb="md"
        leftSection={<IconFilter size={16} aria-hidden />}
        aria-expanded={opened}
        onClick={toggle}
      >
        {text.messages.filter}
      </Button>
      <Group
        gap="xs"
        mb="md"
        align="flex-end"
        role="search"
        aria-label={text.messages.filter}
        display={{ base: opened ? 'flex' : 'none', xs: 'flex' }}
      >
        {children}
        <Button variant="subtle" disabled={!onClear} onClick={onClear}>
          {text.messages.clear}
        </Button>
      </Group>
    </>
  );
}

/** A filter with a few choices, or any. */
export function ChoiceFilter<Value extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string;
  value: Value | undefined;
  choices: readonly { value: Value; label: string }[];
  onChange: (value: Value | undefined) => void;
}) {
  return (
    <NativeSelect
      label={label}
      value={value ?? ''}
      onChange={(event) => onChange((event.currentTarget.value as Value) || undefined)}
      data={[{ value: '', label: text.messages.any }, ...choices]}
      w={{ base: 'calc(50% - 5px)', xs: 150 }}
    />
  );
}

/** A filter with text, applied shortly after the last key press. */
export function TextFilter({
  label,
  placeholder,
  value,
  onChange,
}: {
  label: string;
  placeholder?: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const [typed, setTyped] = useState(value ?? '');
  // The filter may be cleared or changed elsewhere, for example by the Back button.
  useEffect(() => setTyped(value ?? ''), [value]);
  const tell = useTyped((next) => onChange(next.trim() || undefined));
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        tell(event.currentTarget.value);
      }}
      w={{ base: '100%', xs: 230 }}
    />
  );
}

/** A filter by day in the viewer's time zone. */
export function DayFilter({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  return (
    <TextInput
      type="date"
      label={label}
      value={value?.slice(0, 10) ?? ''}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
      w={{ base: 'calc(50% - 5px)', xs: 150 }}
    />
  );
}
