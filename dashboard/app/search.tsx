import { Modal, VisuallyHidden } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { text } from '../text/text.ts';
import { type SearchResult, useGlobalSearch } from './search-sources.ts';

/**
 * The search dialog; `shortcuts.ts` has its keys. The search finds contacts by address or name; emails by id; and
 * campaigns, automations, templates and segments.
 */
export function Search() {
  const [query, setQuery] = useState('');
  const [searchText] = useDebouncedValue(query.trim(), 150);
  const { results, isPending } = useGlobalSearch(searchText);
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
        {results.map((result) => (
          <Spotlight.Action
            key={result.href}
            label={result.label}
            description={result.subject}
            onClick={() => openResult(result)}
          />
        ))}
        {searchText !== '' && !isPending && results.length === 0 && (
          <Spotlight.Empty>{text.app.nothingFound}</Spotlight.Empty>
        )}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}
