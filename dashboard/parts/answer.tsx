import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failed } from './failed.tsx';
import { Loading } from './loading.tsx';

/**
 * Shows what was read; until then that it is being read, or why it could not be. An answer that is there stays while it
 * is read again.
 */
export function Answer<Data>({
  of: { data, error, refetch },
  children,
  height,
}: {
  of: Pick<UseQueryResult<Data, Error>, 'data' | 'error' | 'refetch'>;
  children: (data: Data) => ReactNode;
  /** Kept free while it is read, in pixels, so that nothing jumps. */
  height?: number;
}) {
  if (data !== undefined) return <>{children(data)}</>;
  if (error) return <Failed error={error} retry={() => void refetch()} />;
  return <Loading {...(height !== undefined && { height })} />;
}
