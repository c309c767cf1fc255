import { keepPreviousData, useQueries } from '@tanstack/react-query';
import { queryFor } from '../api/queries.ts';
import { text } from '../text/text.ts';
import { useSession } from './session.ts';

/** A result of the search. */
export interface SearchResult {
  label: string;
  /** The kind of resource, such as "Contact". */
  subject: string;
  href: string;
}

const PER_SUBJECT = 5;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Searches contacts, campaigns, automations, templates, segments and, if the text is an id, emails. Skips resources
 * that the user may not see. An empty text sends no request.
 */
export function useGlobalSearch(searchText: string): { results: SearchResult[]; isPending: boolean } {
  const { can } = useSession();
  const enabled = searchText !== '';
  const options = { placeholderData: keepPreviousData, retry: false };
  const query = { search: searchText, limit: PER_SUBJECT };
  const responses = useQueries({
    queries: [
      { ...queryFor('listContacts', { query }), ...options, enabled: enabled && can('contacts:view') },
      { ...queryFor('listCampaigns', { query }), ...options, enabled: enabled && can('campaigns:view') },
      { ...queryFor('listWorkflows', { query }), ...options, enabled: enabled && can('workflows:view') },
      { ...queryFor('listTemplates', { query }), ...options, enabled: enabled && can('templates:view') },
      {
        ...queryFor('listSegments', { query: { search: searchText } }),
        ...options,
        enabled: enabled && can('segments:view'),
      },
      {
        ...queryFor('getEmail', { params: { id: searchText } }),
        ...options,
        enabled: UUID.test(searchText) && can('emails:view'),
      },
    ] as const,
  });
  if (!enabled) return { results: [], isPending: false };
  const [contacts, campaigns, workflows, templates, segments, email] = responses;
  const toResults = (list: { id: string; name: string }[] | undefined, subject: string, path: string): SearchResult[] =>
    (list ?? []).slice(0, PER_SUBJECT).map(({ id, name }) => ({ label: name, subject, href: `/app/${path}/${id}` }));
  return {
    results: [
      ...(email.data && UUID.test(searchText)
        ? [{ label: searchText, subject: text.subjects.email, href: `/app/messages/${searchText}` }]
        : []),
      ...(contacts.data?.data ?? []).map(({ id, email }) => ({
        label: email,
        subject: text.subjects.contact,
        href: `/app/contacts/${id}`,
      })),
      ...toResults(campaigns.data?.campaigns, text.subjects.campaign, 'campaigns'),
      ...toResults(workflows.data?.workflows, text.subjects.automation, 'automations'),
      ...toResults(templates.data?.templates, text.subjects.template, 'templates'),
      ...toResults(segments.data, text.subjects.segment, 'segments'),
    ],
    isPending: responses.some(({ isFetching }) => isFetching),
  };
}
