import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { useTyped } from './use-typed.ts';

/** The search field of a list. It reports the text shortly after the last key press; undefined once it is empty. */
export function SearchField(p: {
  label: string;
  placeholder: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const [typed, setTyped] = useState(p.value ?? '');
  const tell = useTyped((value) => p.onChange(value.trim() || undefined));
  return (
    <TextInput
      aria-label={p.label}
      placeholder={p.placeholder}
      leftSection={<IconSearch size={16} aria-hidden />}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        tell(event.currentTarget.value);
      }}
      w={{ base: '100%', xs: 300 }}
    />
  );
}
