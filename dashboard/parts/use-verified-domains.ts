import { useQuery } from '@tanstack/react-query';
import { answerOf } from '../api/queries.ts';
import { useSession } from '../app/session.ts';

/** Domains of the project that mail may be sent from; none for whom the role does not show them. */
export function useVerifiedDomains({ enabled = true } = {}): string[] {
  const { projectId, can } = useSession();
  const { data = [] } = useQuery({
    ...answerOf('listDomains', { params: { projectId } }),
    enabled: enabled && can('domains:view'),
    staleTime: 60_000,
  });
  return data.filter(({ status }) => status === 'VERIFIED').map(({ domain }) => domain);
}
