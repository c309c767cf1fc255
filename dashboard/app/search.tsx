import { Modal, VisuallyHidden } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { text } from '../text/text.ts';
import { type SearchResult, useGlobalSearch } from './search-sources.ts';

/**
 * The search dialog, which `/` opens. The search finds contacts by address; campaigns, automations, templates and
 * segments by name; and messages by id.
 */
export function Search() {
  const [query, setQuery] = useState('');
  const [searchText] = useDebouncedValue(query.trim(), 150);
  const { found, isPending } = useGlobalSearch(searchText);
  const navigate = useNavigate();
  const openResult = ({ href }: SearchResult) => void navigate({ href });
  return (
    <Spotlight.Root query={query} onQueryChange={setQuery} shortcut={null} clearQueryOnClose scrollable>
      <VisuallyHidden>
        <Modal.Title>{text.app.search}</Modal.Title>
      </VisuallyHidden>
      <Spotlight.Search
        placeholder={text.app.searchHelp}
        aria-label={text.app.searchHelp}
        leftSection={<IconSearch size={18} />}
      />
      <Spotlight.ActionsList>
        {found.map((one) => (
          <Spotlight.Action
            key={one.href}
            label={one.label}
            description={one.subject}
            onClick={() => openResult(one)}
          />
        ))}
        {searchText !== '' && !isPending && found.length === 0 && (
          <Spotlight.Empty>{text.app.nothingFound}</Spotlight.Empty>
        )}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}
