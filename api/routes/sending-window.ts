import '@hono/zod-openapi';
import { SendingWindowInput } from '../../rules/time/sending-window.ts';

/**
 * The sending window of projects and campaigns, in requests and responses. It is a copy, because only schemas created
 * here can have OpenAPI descriptions.
 */
export const SendingWindow = SendingWindowInput.clone().openapi('SendingWindow', {
  description:
    "When marketing email may be sent: from `from` until before `to`, on `days` (1 is Monday, all if omitted). `timezone` is each `contact`'s own or an IANA zone; if omitted, the project's. With `from` after `to` it is open over midnight, and belongs to the day on which it starts.",
  example: { from: '08:00', to: '21:00', days: [1, 2, 3, 4, 5, 6, 7], timezone: 'contact' },
});
