import { Button, Group, NativeSelect, Select, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconFilter, IconPlus, IconSearch } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { text } from '../text/text.ts';
import { getLabel, type WordKind } from '../text/words.ts';
import { useFilterText } from './use-delayed-text.ts';

/**
 * Shows the filters of a list in a row that wraps; on a phone, behind a button. The URL contains the values of the
 * filters.
 * @param p.go opens the list with these filters
 * @param p.children returns the fields; `set` changes some of the filters
 * @param p.more returns rare fields, which a button shows. They are open from the start if `isMoreSet`
 */
export function Filters<Search extends object>({
  search,
  go,
  children,
  more,
  isMoreSet = false,
}: {
  search: Search;
  go: (next: Partial<Search>) => void;
  children: (set: (change: Partial<Search>) => void) => ReactNode;
  more?: (set: (change: Partial<Search>) => void) => ReactNode;
  isMoreSet?: boolean;
}) {
  const set = (change: Partial<Search>) => go({ ...search, ...change });
  const [hasMore, { open: showMore }] = useDisclosure(isMoreSet);
  const isSet = Object.keys(search).length > 0;
  const [opened, { toggle }] = useDisclosure(isSet);
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
        role="search"
        aria-label={text.messages.filter}
        display={{ base: opened ? 'flex' : 'none', xs: 'flex' }}
      >
        {children(set)}
        {more && (hasMore || isMoreSet) && more(set)}
        {more && !hasMore && !isMoreSet && (
          <Button
            variant="subtle"
            color="gray"
            px={8}
            leftSection={<IconPlus size={16} stroke={1.75} aria-hidden />}
            onClick={showMore}
          >
            {text.messages.moreFilters}
          </Button>
        )}
        {isSet && (
          <Button variant="subtle" onClick={() => go({})}>
            {text.messages.clear}
          </Button>
        )}
      </Group>
    </>
  );
}

/** Returns the choices of a filter whose values are enum values of the API, with their labels. */
export function listWordChoices<Value extends string>(kind: WordKind, words: readonly Value[]) {
  return words.map((value) => ({ value, label: getLabel(kind, value) }));
}

/** Returns the choices of a filter whose values have these names. */
export function toChoices<Value extends string>(names: Record<Value, string>) {
  return (Object.entries(names) as [Value, string][]).map(([value, label]) => ({ value, label }));
}

/** A filter with a few choices. The first choice is “Any …” with the name of the filter. */
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
      aria-label={label}
      value={value ?? ''}
      onChange={(event) => onChange((event.currentTarget.value as Value) || undefined)}
      data={[{ value: '', label: text.messages.any(label) }, ...choices]}
      w={{ base: 'calc(50% - 5px)', xs: 130 }}
      styles={{ input: value === undefined ? { color: 'var(--mantine-color-placeholder)' } : {} }}
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
  return (
    <TextInput
      aria-label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={16} stroke={1.75} aria-hidden />}
      {...useFilterText(value, onChange)}
      w={{ base: '100%', xs: 220 }}
    />
  );
}

/** Two filters by day in the viewer's time zone. */
export function SpanFilter({
  search: { since, until },
  set,
}: {
  search: { since?: string; until?: string };
  set: (change: { since?: string | undefined } | { until?: string | undefined }) => void;
}) {
  return (
    <>
      <DayFilter label={text.messages.since} value={since} onChange={(next) => set({ since: next })} />
      <DayFilter label={text.messages.until} value={until} onChange={(next) => set({ until: next })} />
    </>
  );
}

function DayFilter({
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
      aria-label={label}
      leftSection={<span aria-hidden>{label}</span>}
      leftSectionWidth={52}
      value={value?.slice(0, 10) ?? ''}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
      w={{ base: 'calc(50% - 5px)', xs: 170 }}
    />
  );
}

/** A filter with a few choices whose placeholder says that any value matches. `maw` is its width on a wide screen. */
export function SelectFilter<Value extends string>({
  label,
  any,
  value,
  choices,
  onChange,
  maw = 170,
  searchable = false,
}: {
  label: string;
  any: string;
  value: Value | undefined;
  choices: readonly { value: Value; label: string }[];
  onChange: (value: Value | undefined) => void;
  maw?: number;
  searchable?: boolean;
}) {
  return (
    <Select
      aria-label={label}
      placeholder={any}
      data={choices}
      value={value ?? null}
      onChange={(next) => onChange(choices.find((choice) => choice.value === next)?.value)}
      clearable
      clearButtonProps={{ 'aria-label': any }}
      searchable={searchable}
      flex="1 1 150px"
      maw={{ sm: maw }}
    />
  );
}
