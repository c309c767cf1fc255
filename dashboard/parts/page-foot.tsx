import { Button, Group, Text } from '@mantine/core';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { text } from '../text/text.ts';
import { Failed } from './failed.tsx';

/** The foot of a list: how many rows are shown, the button that loads the next page, and its error. */
export function PageFoot({
  pages: { hasNextPage, fetchNextPage, isFetchingNextPage, error },
  shown,
  total,
}: {
  pages: Pick<UseInfiniteQueryResult<unknown, Error>, 'hasNextPage' | 'fetchNextPage' | 'isFetchingNextPage' | 'error'>;
  shown: number;
  /** Null if the rows were not counted. */
  total: number | null | undefined;
}) {
  return (
    <>
      <Group justify="space-between" mt="sm">
        <Text size="sm" c="dimmed" aria-live="polite">
          {text.parts.shown(shown, hasNextPage ? (total ?? null) : shown)}
        </Text>
        {hasNextPage && (
          <Button variant="default" size="xs" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {text.parts.showMore}
          </Button>
        )}
      </Group>
      {error && <Failed error={error} retry={() => void fetchNextPage()} />}
    </>
  );
}
