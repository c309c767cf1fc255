import { text } from '../../text/text.ts';

/** The name that stands for all events. */
const ALL = '*';

/** Lists the events that an endpoint gets. */
export function describeEvents(events: readonly string[]): string {
  return events.includes(ALL) ? text.developers.webhooks.allEvents : events.join(', ');
}
