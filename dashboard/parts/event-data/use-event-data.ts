import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { queryFor } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { collectEventFields, type EventField } from './event-fields.ts';

/** The number of payloads to read. The latest payloads have the fields that callers send now. */
const PAYLOADS = 20;
/** For this time, payloads that were read are used again. */
const FRESH_MS = 60_000;
/** Delay after the last key press in the name of the event, so that not every letter causes a request. */
const TYPING_MS = 400;
const NAME_MAX = 255;

export interface EventData {
  fields: EventField[];
  /** The latest payload; undefined until it is read, and if the event never occurred. */
  last: { id: string; data: Record<string, unknown> } | undefined;
  /** Whether the request for the latest payload has ended, or none is sent because of the role or the name. */
  isRead: boolean;
}

/**
 * Returns the fields of an event's data: from its latest payloads, or else from the keys of all events. Empty if the
 * role may see neither events nor automations.
 */
export function useEventData(eventName: string): EventData {
  const { can } = useSession();
  const [debouncedName] = useDebouncedValue(eventName.trim(), TYPING_MS, { leading: true });
  const isName = debouncedName !== '' && debouncedName.length <= NAME_MAX;
  const options = { staleTime: FRESH_MS, retry: false };
  const query = { eventName: debouncedName, limit: PAYLOADS };
  const latestEvents = useQuery({
    ...queryFor('listEvents', { query }),
    ...options,
    enabled: isName && can('events:view'),
  });
  const workflowFields = useQuery({
    ...queryFor('listWorkflowFields'),
    ...options,
    enabled: can('workflows:view'),
  }).data;
  const payloads = latestEvents.data?.data;
  const fields = useMemo(() => {
    const eventFields = collectEventFields(payloads?.map(({ data }) => data) ?? []);
    if (eventFields.length > 0) return eventFields;
    const all = workflowFields?.fields.filter(({ category }) => category === 'event') ?? [];
    return all.map(({ field, type }) => ({ path: field.slice('event.'.length), type, values: [] }));
  }, [payloads, workflowFields]);
  return { fields, last: payloads?.[0], isRead: !isName || !can('events:view') || !latestEvents.isPending };
}
