import { text } from '../../text/text.ts';

/** The name that stands for all events. */
const ALL = '*';

/** Lists the events that an endpoint gets. `label` adds words to a list of names. */
export function describeEvents(events: readonly string[], label = (names: string) => names): string {
  return events.includes(ALL) ? text.developers.webhooks.allEvents : label(events.join(', '));
}
