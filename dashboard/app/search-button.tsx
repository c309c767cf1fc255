import { ActionIcon, Button, Text } from '@mantine/core';
import { spotlight } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { text } from '../text/text.ts';

/** Opens the search. */
export function SearchButton() {
  return (
    <>
      <Button
        visibleFrom="sm"
        variant="default"
        size="xs"
        leftSection={<IconSearch size={14} />}
        rightSection={<Text size="xs">/</Text>}
        onClick={spotlight.open}
      >
        {text.app.search}
      </Button>
      <ActionIcon hiddenFrom="sm" variant="subtle" size="lg" aria-label={text.app.search} onClick={spotlight.open}>
        <IconSearch size={20} />
      </ActionIcon>
    </>
  );
}
