import '@hono/zod-openapi';
import { SendingWindowInput } from '../../rules/time/sending-window.ts';

/**
 * The sending window of projects and campaigns, in requests and responses. It is a copy, because only schemas created
 * here can have OpenAPI descriptions.
 */
export const SendingWindow = SendingWindowInput.clone().openapi('SendingWindow', {
  description:
    "When marketing email may be sent: at or after `from` and before `to`, on `days` (1 is Monday, all days by default). `timezone` is an IANA zone, or `contact` for each contact's own; defaults to the project's. If `from` is after `to`, the window spans midnight and belongs to the day on which it starts.",
  example: { from: '08:00', to: '21:00', days: [1, 2, 3, 4, 5, 6, 7], timezone: 'contact' },
});
