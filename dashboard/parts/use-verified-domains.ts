import { useQuery } from '@tanstack/react-query';
import { queryFor } from '../api/queries.ts';
import { useSession } from '../app/session.ts';

/**
 * Returns the project's domains that may send email; empty if the role may not see them or the request failed.
 * Undefined while the request is running, so that no screen offers an address that cannot send.
 */
export function useVerifiedDomains({ enabled = true } = {}): string[] | undefined {
  const { projectId, can } = useSession();
  const { data = [], isLoading } = useQuery({
    ...queryFor('listDomains', { params: { projectId } }),
    enabled: enabled && can('domains:view'),
    staleTime: 60_000,
  });
  if (isLoading) return undefined;
  return data.filter(({ status }) => status === 'VERIFIED').map(({ domain }) => domain);
}
