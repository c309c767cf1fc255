import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { queryFor } from '../../api/queries.ts';
import { type Permission, useSession } from '../../app/session.ts';
import type { EventField } from '../event-data/event-fields.ts';
import { type FieldChoice, listEventFieldChoices, listFieldChoices } from './choices.ts';
import type { ConditionScope } from './language.ts';

/** For this time, lists that were read are used again, because fields rarely change. */
const FRESH_MS = 60_000;
const NONE: readonly EventField[] = [];

/**
 * Returns the fields that a filter can name: in a wait, the fields of the event; otherwise the fields of the project.
 * Fields that the role may not see are omitted; users can type them.
 * @param ofEvent known fields of the event, for the scope `wait`
 */
export function useFieldChoices(scope: ConditionScope, ofEvent: readonly EventField[] = NONE): FieldChoice[] {
  const { can } = useSession();
  const options = { staleTime: FRESH_MS, retry: false };
  const isOfProject = scope !== 'wait';
  const canSee = (permission: Permission) => isOfProject && can(permission);
  const fields = useQuery({ ...queryFor('listContactFields'), ...options, enabled: canSee('contacts:view') }).data;
  const events = useQuery({ ...queryFor('listEventNames'), ...options, enabled: canSee('events:view') }).data;
  const segments = useQuery({ ...queryFor('listSegments'), ...options, enabled: canSee('segments:view') }).data;
  const topicsQuery = queryFor('listTopics', { query: { limit: 100 } });
  const topics = useQuery({ ...topicsQuery, ...options, enabled: canSee('contacts:view') }).data;
  const inStep = scope === 'step' && can('workflows:view');
  const workflows = useQuery({ ...queryFor('listWorkflowFields'), ...options, enabled: inStep }).data;
  return useMemo(() => {
    if (!isOfProject) return listEventFieldChoices(ofEvent);
    return listFieldChoices({
      contactFields: fields?.fields ?? STANDARD,
      eventNames: events?.eventNames ?? [],
      segments: segments ?? [],
      topics: topics?.data ?? [],
      eventFields: workflows?.fields.filter(({ category }) => category === 'event') ?? [],
    });
  }, [isOfProject, ofEvent, fields, events, segments, topics, workflows]);
}

/** Used until the list of fields has loaded, and for roles that may not read it. */
const STANDARD = [
  { field: 'email', type: 'string' },
  { field: 'subscribed', type: 'boolean' },
  { field: 'createdAt', type: 'date' },
  { field: 'updatedAt', type: 'date' },
];
