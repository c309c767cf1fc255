import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { queryFor } from '../../../api/queries.ts';
import { useSession } from '../../../app/session.ts';
import type { KnownField } from '../../../parts/data-fields/data-rows.tsx';
import type { Variable } from '../../../parts/email-editor/variables.ts';
import { useEventData } from '../../../parts/event-data/use-event-data.ts';
import { text } from '../../../text/text.ts';

const t = text.automations;
const DATA = 'data.';
/** Names that placeholders can have (docs/guides/automations.md). */
const PATH = /^[\p{L}\p{N}_$-]+(?:\.[\p{L}\p{N}_$-]+)*$/u;

/** Returns the keys of contacts' data, the most frequent first. Empty if the role may not see contacts. */
export function useContactFields(): KnownField[] {
  const { can } = useSession();
  const fieldsQuery = { ...queryFor('listContactFields'), enabled: can('contacts:view') };
  const { data } = useQuery({ ...fieldsQuery, staleTime: 60_000, retry: false });
  return useMemo(() => {
    const dataFields = data?.fields.filter(({ field }) => field.startsWith(DATA)) ?? [];
    const sorted = [...dataFields].sort((a, b) => b.coverage - a.coverage);
    return sorted.map(({ field, type }) => ({ name: field.slice(DATA.length), type }));
  }, [data]);
}

/** Returns the variables of a step: the contact, its data, and the data of the event that started the run. */
export function useStepVariables(eventName: string): Variable[] {
  const contact = useContactFields();
  const { fields } = useEventData(eventName);
  return useMemo(() => {
    const ofEvent = eventName === '' ? [] : fields;
    const all = [
      { name: 'email', about: t.variableOf.contact },
      { name: 'id', about: t.variableOf.contact },
      ...contact.map(({ name }) => ({ name: `${DATA}${name}`, about: t.variableOf.data })),
      ...ofEvent.map(({ path }) => ({ name: `event.${path}`, about: t.variableOf.event })),
    ];
    return all.filter(({ name }) => PATH.test(name));
  }, [contact, fields, eventName]);
}
