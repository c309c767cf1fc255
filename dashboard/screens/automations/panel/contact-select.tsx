import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { listQueryFor } from '../../../api/queries.ts';
import { text } from '../../../text/text.ts';

const t = text.automations;

/** Selects a contact by a part of the address or name. Only the first 20 matches are loaded. */
export function ContactSelect({
  value,
  onChange,
}: {
  value: { id: string; email: string } | null;
  onChange: (contact: { id: string; email: string } | null) => void;
}) {
  const [typed, setTyped] = useState(value?.email ?? '');
  const [search] = useDebouncedValue(typed, 250);
  const query = search === value?.email ? '' : search;
  const { data } = useQuery(listQueryFor('listContacts', { query: { limit: 20, ...(query && { search: query }) } }));
  const options = (data?.data ?? []).map(({ id, email }) => ({ value: id, label: email }));
  const choices =
    value && !options.some((one) => one.value === value.id)
      ? [{ value: value.id, label: value.email }, ...options]
      : options;
  return (
    <Select
      label={t.pickContact}
      description={t.pickContactHint}
      data={choices}
      value={value?.id ?? null}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      onChange={(id, option) => onChange(id === null ? null : { id, email: option.label })}
      filter={({ options }) => options}
      nothingFoundMessage={t.noContactFound}
      comboboxProps={{ withinPortal: true }}
      required
    />
  );
}
