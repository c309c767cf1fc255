import type { UseQueryResult } from '@tanstack/react-query';
import { createContext, type ReactNode } from 'react';
import { Failed } from './failed.tsx';
import { PendingLines } from './pending-lines.tsx';

/** The failure of a record's page. `PendingPage` shows it below its header. */
export const PageFailure = createContext<ReactNode>(undefined);

/**
 * Shows the data of a query, a placeholder while it loads, or an error with a retry. During a refetch, the earlier
 * data stays.
 */
export function QueryView<Data>({
  of: { data, error, refetch },
  children,
  height,
  pending,
  page,
}: {
  of: Pick<UseQueryResult<Data, Error>, 'data' | 'error' | 'refetch'>;
  children: (data: Data) => ReactNode;
  /** Height of the gray lines in pixels, so that the layout does not jump. */
  height?: number;
  /** Shown instead of gray lines, in the shape of the data. */
  pending?: ReactNode;
  /** A `PendingPage`, if the query loads a whole page. It has the title and the link back also if the query fails. */
  page?: ReactNode;
}) {
  if (data !== undefined) return <>{children(data)}</>;
  if (error) {
    const failed = <Failed error={error} retry={() => void refetch()} />;
    return page ? <PageFailure.Provider value={failed}>{page}</PageFailure.Provider> : failed;
  }
  return page ?? pending ?? <PendingLines {...(height !== undefined && { height })} />;
}
