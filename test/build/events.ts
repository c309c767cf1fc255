import type { CallResult } from '../support/http.ts';
import { type Caller, expectOk } from './workflows.ts';

/** Tracks an event of a contact by the secret key. Returns the response body, whose `data` has the ids of both. */
export function track(api: Caller, email: string, event: string, data: object = {}): Promise<CallResult['body']> {
  return expectOk(api.call('POST', '/v1/track', { body: { email, event, data } }));
}
