import '@hono/zod-openapi';
import { SendingWindowInput } from '../../rules/time/sending-window.ts';

/**
 * The sending window of projects and campaigns, in requests and responses. It is a copy of the schema in `rules/`,
 * because `openapi()` works only on schemas that are created in `api/`.
 */
export const SendingWindow = SendingWindowInput.clone().openapi('SendingWindow', {
  description:
    "When marketing email may be sent: from `from` until just before `to`, on `days` (1 is Monday; all days by default). `timezone` is an IANA zone, or `contact` for the zone of each contact. The default is the project's zone. If `from` is after `to`, the window spans midnight and belongs to the day on which it starts.",
  example: { from: '08:00', to: '21:00', days: [1, 2, 3, 4, 5, 6, 7], timezone: 'contact' },
});
