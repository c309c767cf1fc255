import { ActionIcon, Button, Kbd } from '@mantine/core';
import { spotlight } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { text } from '../text/text.ts';
import { SEARCH_KEYS } from './shortcuts.ts';

/** Opens the search. */
export function SearchButton() {
  return (
    <>
      <Button
        visibleFrom="sm"
        variant="default"
        fullWidth
        h={30}
        px={8}
        mt={8}
        justify="flex-start"
        c="dimmed"
        fw={400}
        styles={{ label: { flex: 1 } }}
        leftSection={<IconSearch size={16} stroke={1.75} />}
        rightSection={<Kbd size="xs">{SEARCH_KEYS}</Kbd>}
        onClick={spotlight.open}
      >
        {text.app.search}
      </Button>
      <ActionIcon
        hiddenFrom="sm"
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={text.app.search}
        onClick={spotlight.open}
      >
        <IconSearch size={20} stroke={1.75} />
      </ActionIcon>
    </>
  );
}
