import type { ResponseOf } from '../../api/client.ts';
import { text } from '../../text/text.ts';
import type { ListSearch } from './routes.ts';

const words = text.contacts.list;

type Segment = Pick<ResponseOf<'listSegments'>[number], 'id' | 'name' | 'type' | 'condition' | 'memberCount'>;
type Condition = NonNullable<ListSearch['condition']>;
type Filter = Condition['groups'][number]['filters'][number];

/** A tab above the list of contacts. */
export interface View {
  key: string;
  name: string;
  /** All contacts if absent. */
  condition?: Condition;
  /** The number of contacts in the view, if it is known without counting them. */
  count?: number;
}

/** More tabs do not fit on a laptop. */
const SEGMENTS_MAX = 3;

/** Returns the views of a project: all contacts, by status, and its three largest segments. */
export function listViews(segments: readonly Segment[]): View[] {
  const largest = segments.toSorted((a, b) => b.memberCount - a.memberCount).slice(0, SEGMENTS_MAX);
  return [
    { key: 'all', name: words.allView },
    {
      key: 'subscribed',
      name: words.subscribedView,
      condition: toCondition({ field: 'subscribed', operator: 'equals', value: true }),
    },
    {
      key: 'not-subscribed',
      name: words.notSubscribedView,
      condition: toCondition({ field: 'subscribed', operator: 'equals', value: false }),
    },
    ...largest.map(({ id, name, condition, memberCount }) => ({
      key: id,
      name,
      // For a dynamic segment, the filter shows the segment's condition, so that the user can change it. For a static
      // segment, which has no condition, the filter matches its members.
      condition: condition ?? toCondition({ field: `segment.${id}`, operator: 'memberOf' }),
      count: memberCount,
    })),
  ];
}

function toCondition(filter: Filter): Condition {
  return { logic: 'AND', groups: [{ filters: [filter] }] };
}
