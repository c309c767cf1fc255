import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failed } from './failed.tsx';
import { PendingLines } from './pending-lines.tsx';

/**
 * Shows the data of a query, a placeholder while it loads, or an error with a retry. During a refetch, the earlier
 * data stays.
 */
export function QueryView<Data>({
  of: { data, error, refetch },
  children,
  height,
  pending,
}: {
  of: Pick<UseQueryResult<Data, Error>, 'data' | 'error' | 'refetch'>;
  children: (data: Data) => ReactNode;
  /** Height of the gray lines in pixels, so that the layout does not jump. */
  height?: number;
  /** Shown instead of gray lines, in the shape of the data. */
  pending?: ReactNode;
}) {
  if (data !== undefined) return <>{children(data)}</>;
  if (error) return <Failed error={error} retry={() => void refetch()} />;
  return pending ?? <PendingLines {...(height !== undefined && { height })} />;
}
