import { Box, Group, Loader, Paper, Text, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { ApiFailure, ResponseOf } from '../../api/client.ts';
import { listQueryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { type DraftCondition, isComplete, toCondition } from '../../parts/condition-builder/draft.ts';
import { type ConditionFaults, mapFaultsToRows, NO_FAULTS } from '../../parts/condition-builder/faults.ts';
import { formatCount } from '../../parts/count-link.tsx';
import { Failed } from '../../parts/failed.tsx';
import { text } from '../../text/text.ts';

/** Delay after the last change, so that typing does not start a count for every letter. */
const TYPING_MS = 350;
const words = text.segments;

interface PreviewState {
  response: ResponseOf<'previewSegment'> | undefined;
  /** Whether every row is complete. False while the preview is not enabled. */
  isWhole: boolean;
  /** Whether the result belongs to an earlier condition. */
  isOld: boolean;
  /** The API's errors, by row. */
  faults: ConditionFaults;
  /** A failure that belongs to no row. */
  failure: ApiFailure | null;
}

/**
 * Counts the contacts that match a condition, shortly after its last change. The errors of a refusal are mapped to
 * the rows that were sent.
 */
export function usePreview(draft: DraftCondition, enabled: boolean): PreviewState {
  const [debounced] = useDebouncedValue(draft, TYPING_MS);
  const isWhole = enabled && isComplete(draft);
  const canCount = enabled && isComplete(debounced);
  const body = useMemo(
    () => ({ condition: canCount ? toCondition(debounced) : toCondition({ logic: 'AND', groups: [] }) }),
    [debounced, canCount],
  );
  const { data, error, isFetching } = useQuery({
    ...listQueryFor('previewSegment', { body }),
    enabled: canCount,
    staleTime: 10_000,
    retry: false,
  });
  const faults = useMemo(
    () => (error ? mapFaultsToRows(debounced, error.fields, 'condition') : NO_FAULTS),
    [debounced, error],
  );
  const isRefused = error?.code === 'VALIDATION_ERROR';
  return {
    response: isRefused ? undefined : data,
    isWhole,
    isOld: isWhole && (isFetching || debounced !== draft),
    faults,
    failure: error && !isRefused ? error : null,
  };
}

/** Shows the count and some matching contacts. The minimum height keeps the layout from jumping during a count. */
export function Preview({ response, isWhole, isOld, failure }: PreviewState) {
  return (
    <Paper withBorder p="md" mih={120} aria-busy={isOld}>
      <Group gap="xs" mb={4}>
        <Title order={3} size="h5">
          {words.previewTitle}
        </Title>
        {isOld && <Loader size={14} aria-hidden />}
      </Group>
      {failure && <Failed error={failure} />}
      <Box aria-live="polite">
        {!isWhole && (
          <Text size="sm" c="dimmed">
            {words.wholeFirst}
          </Text>
        )}
        {isWhole && response && <Matches {...response} />}
        {isWhole && !response && !failure && (
          <Text size="sm" c="dimmed">
            {isOld ? words.counting : ''}
          </Text>
        )}
      </Box>
    </Paper>
  );
}

function Matches({ count, sample }: ResponseOf<'previewSegment'>) {
  return (
    <>
      <Text className="stats-figure">{words.previewCount(count, formatCount(count))}</Text>
      {count === 0 && (
        <Text size="sm" c="dimmed">
          {words.previewNobody}
        </Text>
      )}
      {sample.length > 0 && (
        <>
          <Text size="sm" c="dimmed" mt="xs">
            {words.previewNewest}
          </Text>
          <Group gap="xs" mt={2}>
            {sample.map(({ id, email }) => (
              <AppLink key={id} to={`/contacts/${id}`} size="sm" style={{ overflowWrap: 'anywhere' }}>
                {email}
              </AppLink>
            ))}
          </Group>
        </>
      )}
    </>
  );
}
