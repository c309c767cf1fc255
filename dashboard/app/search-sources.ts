import { keepPreviousData, useQueries } from '@tanstack/react-query';
import { answerOf } from '../api/queries.ts';
import { text } from '../text/text.ts';
import { useSession } from './session.ts';

/** Something that the search leads to. */
export interface Found {
  label: string;
  /** What it is, such as "Contact". */
  subject: string;
  href: string;
}

const PER_SUBJECT = 5;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** What is called like this, of everything that the person may see. Nothing is asked for an empty query. */
export function useSearch(asked: string): { found: Found[]; isPending: boolean } {
  const { can } = useSession();
  const enabled = asked !== '';
  const options = { placeholderData: keepPreviousData, retry: false };
  const query = { search: asked, limit: PER_SUBJECT };
  const results = useQueries({
    queries: [
      { ...answerOf('listContacts', { query }), ...options, enabled: enabled && can('contacts:view') },
      {
        ...answerOf('listCampaigns', { query: { limit: 100 } }),
        ...options,
        enabled: enabled && can('campaigns:view'),
      },
      { ...answerOf('listWorkflows'), ...options, enabled: enabled && can('workflows:view') },
      { ...answerOf('listTemplates'), ...options, enabled: enabled && can('templates:view') },
      {
        ...answerOf('getEmail', { params: { id: asked } }),
        ...options,
        enabled: UUID.test(asked) && can('emails:view'),
      },
    ] as const,
  });
  if (!enabled) return { found: [], isPending: false };
  const [contacts, campaigns, workflows, templates, email] = results;
  const named = (list: { id: string; name: string }[] | undefined, subject: string, path: string): Found[] =>
    (list ?? [])
      .filter(({ name }) => name.toLowerCase().includes(asked.toLowerCase()))
      .slice(0, PER_SUBJECT)
      .map(({ id, name }) => ({ label: name, subject, href: `/app/${path}/${id}` }));
  return {
    found: [
      ...(email.data && UUID.test(asked)
        ? [{ label: asked, subject: text.subjects.email, href: `/app/messages/${asked}` }]
        : []),
      ...(contacts.data?.data ?? []).map(({ id, email }) => ({
        label: email,
        subject: text.subjects.contact,
        href: `/app/contacts/${id}`,
      })),
      ...named(listIn(campaigns.data), text.subjects.campaign, 'campaigns'),
      ...named(listIn(workflows.data), text.subjects.automation, 'automations'),
      ...named(listIn(templates.data), text.subjects.template, 'templates'),
    ],
    isPending: results.some(({ isFetching }) => isFetching),
  };
}

/** Lists that answer an array, and those that answer a page. */
function listIn(answer: unknown): { id: string; name: string }[] {
  if (Array.isArray(answer)) return answer;
  return Object.values(answer ?? {}).find(Array.isArray) ?? [];
}
