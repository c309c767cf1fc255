import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useFilterText } from './use-delayed-text.ts';

/**
 * The search field of a list. The field reports its text shortly after the last key press; undefined if the text is
 * empty.
 */
export function SearchField(p: {
  label: string;
  placeholder: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  return (
    <TextInput
      aria-label={p.label}
      placeholder={p.placeholder}
      leftSection={<IconSearch size={16} aria-hidden />}
      {...useFilterText(p.value, p.onChange)}
      w={{ base: '100%', xs: 300 }}
    />
  );
}
