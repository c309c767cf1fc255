import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Filter } from '../../../packages/client/src/operations.generated.ts';
import { listQueryFor } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { formatCount } from '../../parts/count-link.tsx';
import { text } from '../../text/text.ts';

const words = text.campaigns;

/**
 * Shows how many subscribed contacts a segment has now. Without `segmentId`, counts all of the project's. Null means
 * that no segment is selected yet. The height stays the same during a count.
 */
export function AudienceEstimate({ segmentId }: { segmentId?: string | null | undefined }) {
  const { can } = useSession();
  const isChosen = segmentId !== null;
  const filters: Filter[] = [{ field: 'subscribed', operator: 'equals', value: true }];
  if (segmentId) filters.push({ field: `segment.${segmentId}`, operator: 'memberOf' });
  const { data, isPlaceholderData, error } = useQuery({
    ...listQueryFor('previewSegment', { body: { condition: { logic: 'AND', groups: [{ filters }] } } }),
    enabled: isChosen && can('segments:view'),
    staleTime: 30_000,
  });
  const count = isChosen && !error ? data?.count : undefined;
  return (
    <Text size="sm" c="dimmed" aria-live="polite" aria-busy={isPlaceholderData}>
      {words.estimate}{' '}
      <Text span inherit fw={600} c="var(--color-text)">
        {count === undefined ? '–' : formatCount(count)}
      </Text>{' '}
      {words.estimateHelp}
    </Text>
  );
}
