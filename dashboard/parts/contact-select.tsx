import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queryFor } from '../api/queries.ts';
import { text } from '../text/text.ts';
import { findContactName } from './contact-name.ts';

const SHOWN = 20;
const TYPING_MS = 250;

/** Selects one contact by name or address. The API does the search, so a project may have millions of contacts. */
export function ContactSelect({
  label,
  value,
  onChange,
}: {
  label: string;
  /** The id of the selected contact. */
  value: string | undefined;
  onChange: (id: string | undefined) => void;
}) {
  const [search, setSearch] = useState('');
  const [debounced] = useDebouncedValue(search.trim(), TYPING_MS);
  const selected = useQuery({
    ...queryFor('getContact', { params: { id: value ?? '' } }),
    enabled: value !== undefined,
    retry: false,
    staleTime: 60_000,
  }).data;
  // After a selection, the input contains the label of the selected contact, which is not a search text.
  const query = {
    limit: SHOWN,
    ...(debounced !== '' && !(selected && debounced === formatContact(selected)) && { search: debounced }),
  };
  const { data } = useQuery({ ...queryFor('listContacts', { query }), placeholderData: keepPreviousData });
  const options = (data?.data ?? []).map((one) => ({ value: one.id, label: formatContact(one) }));
  const missing =
    selected && !options.some((one) => one.value === selected.id)
      ? [{ value: selected.id, label: formatContact(selected) }]
      : [];
  return (
    <Select
      label={label}
      placeholder={text.parts.contactSearch}
      data={[...missing, ...options]}
      value={value ?? null}
      onChange={(id) => onChange(id ?? undefined)}
      searchable
      onSearchChange={setSearch}
      filter={({ options }) => options}
      nothingFoundMessage={text.parts.noContactsFound}
      clearable
      clearButtonProps={{ 'aria-label': text.parts.clear }}
    />
  );
}

/** Returns the address of a contact, and its name if it has one. */
function formatContact({ email, data = {} }: { email: string; data?: Record<string, unknown> | undefined }): string {
  const name = findContactName(data);
  return name ? `${email} (${name})` : email;
}
