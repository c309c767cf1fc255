import { useQuery } from '@tanstack/react-query';
import { queryFor } from '../api/queries.ts';
import { useSession } from '../app/session.ts';

/**
 * Domains of the project that mail may be sent from; none for whom the role does not show them. Undefined while the
 * answer is under way: what is made of them waits for it, so that nobody copies or creates what will not send.
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
