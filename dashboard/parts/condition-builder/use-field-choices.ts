import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { answerOf } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { choicesOf, type FieldChoice } from './choices.ts';
import type { Scope } from './language.ts';

/** Fields change seldom; what is new is a minute away. */
const FRESH_MS = 60_000;

/**
 * Every field of the project that a filter can name. What a role may not see is left out: it can be written by hand.
 */
export function useFieldChoices(scope: Scope): FieldChoice[] {
  const { can } = useSession();
  const options = { staleTime: FRESH_MS, retry: false };
  const fields = useQuery({ ...answerOf('listContactFields'), ...options, enabled: can('contacts:view') }).data;
  const events = useQuery({ ...answerOf('listEventNames'), ...options, enabled: can('events:view') }).data;
  const segments = useQuery({ ...answerOf('listSegments'), ...options, enabled: can('segments:view') }).data;
  const asked = answerOf('listTopics', { query: { limit: 100 } });
  const topics = useQuery({ ...asked, ...options, enabled: can('contacts:view') }).data;
  const inStep = scope === 'step' && can('workflows:view');
  const workflows = useQuery({ ...answerOf('listWorkflowFields'), ...options, enabled: inStep }).data;
  return useMemo(
    () =>
      choicesOf({
        contactFields: fields?.fields ?? STANDARD,
        eventNames: events?.eventNames ?? [],
        segments: segments ?? [],
        topics: topics?.data ?? [],
        eventFields: workflows?.fields.filter(({ category }) => category === 'event') ?? [],
      }),
    [fields, events, segments, topics, workflows],
  );
}

/** Until the list is there, and where it may not be seen. */
const STANDARD = [
  { field: 'email', type: 'string' },
  { field: 'subscribed', type: 'boolean' },
  { field: 'createdAt', type: 'date' },
  { field: 'updatedAt', type: 'date' },
];
