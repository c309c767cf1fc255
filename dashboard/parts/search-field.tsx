import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';

/** Long enough for the next letter. */
const TYPING_MS = 250;

/** What a list is searched for; told when the last key is a moment ago, undefined once nothing is left. */
export function SearchField(p: {
  label: string;
  placeholder: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const [typed, setTyped] = useState(p.value ?? '');
  const tell = useDebouncedCallback((value: string) => p.onChange(value.trim() || undefined), TYPING_MS);
  return (
    <TextInput
      label={p.label}
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
