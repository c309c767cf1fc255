import { useQuery } from '@tanstack/react-query';
import { queryFor } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { formatCount } from '../../parts/count-link.tsx';
import { TEMPLATE_LAYOUTS } from '../../parts/email-editor/layouts.ts';
import { useVerifiedDomains } from '../../parts/use-verified-domains.ts';
import { text } from '../../text/text.ts';

/** The maximum number of templates to offer. Users find others by name on the screen of templates. */
const TEMPLATES_MAX = 100;

/** Returns the sender addresses to offer, on the project's verified domains. */
export function useSenders(): string[] {
  return (useVerifiedDomains() ?? []).map((domain) => `news@${domain}`);
}

/** Returns the templates that a campaign can start from. */
export function useTemplates(): { id: string; name: string; body?: string | undefined }[] {
  const { can } = useSession();
  const { data } = useQuery({
    ...queryFor('listTemplates', { query: { limit: TEMPLATES_MAX } }),
    enabled: can('templates:view'),
    staleTime: 60_000,
  });
  return data?.templates ?? [];
}

/** Returns the content that a campaign can start from: built-in layouts, and the project's templates. */
export function listContentChoices(templates: readonly { id: string; name: string }[]) {
  const { layouts, ownTemplates } = text.campaigns;
  const groups = [
    { group: layouts, items: TEMPLATE_LAYOUTS.map((value) => ({ value, label: text.templates.starts[value] })) },
    { group: ownTemplates, items: templates.map(({ id, name }) => ({ value: id, label: name })) },
  ];
  return groups.filter(({ items }) => items.length > 0);
}

/** Returns the segments, each with its number of contacts. Sends no request if `isNeeded` is false. */
export function useSegments(isNeeded = true): { id: string; name: string; memberCount: number }[] {
  const { can } = useSession();
  const { data } = useQuery({
    ...queryFor('listSegments'),
    enabled: isNeeded && can('segments:view'),
    staleTime: 30_000,
  });
  return data ?? [];
}

/** Returns segments as options of a select, each with its number of contacts. */
export function listSegmentChoices(segments: ReturnType<typeof useSegments>) {
  return segments.map(({ id, name, memberCount }) => ({
    value: id,
    label: `${name} (${text.campaigns.segmentCount(memberCount, formatCount(memberCount))})`,
  }));
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
