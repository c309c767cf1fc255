import { useQuery } from '@tanstack/react-query';
import { queryFor } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { useVerifiedDomains } from '../../parts/use-verified-domains.ts';

/** Templates beyond these are found by their name on their own screen. */
const TEMPLATES_MAX = 100;

/** Addresses to send from, on the verified domains of the project. */
export function useSenders(): string[] {
  return (useVerifiedDomains() ?? []).map((domain) => `news@${domain}`);
}

/** Returns the templates that a campaign can start from. */
export function useTemplates(): { id: string; name: string }[] {
  const { can } = useSession();
  const { data } = useQuery({
    ...queryFor('listTemplates', { query: { limit: TEMPLATES_MAX } }),
    enabled: can('templates:view'),
    staleTime: 60_000,
  });
  return data?.templates ?? [];
}

/** Segments with how many are in each. */
export function useSegments(): { id: string; name: string; memberCount: number }[] {
  const { can } = useSession();
  const { data } = useQuery({ ...queryFor('listSegments'), enabled: can('segments:view'), staleTime: 30_000 });
  return data ?? [];
}

export function useTopics(): { id: string; name: string }[] {
  const { can } = useSession();
  const { data } = useQuery({
    ...queryFor('listTopics', { query: { limit: 100 } }),
    enabled: can('contacts:view'),
    staleTime: 60_000,
  });
  return data?.data ?? [];
}
