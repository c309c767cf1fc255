import { afterAll, beforeAll } from 'vitest';
import { buildDomain } from '../build/senders.ts';
import { type CallResult, startTestApi, type TestApi } from './api.ts';

interface Options {
  key?: string;
  idempotencyKey?: string;
}

/** Sends requests with the public key, as a page does, and with the project's secret key. */
export interface PublicKeyCalls {
  /** The API. It exists after the first `beforeAll`. */
  readonly api: TestApi;
  /** Calls `/v1/track`, with the public key by default. */
  track(body: object, options?: Options): Promise<CallResult>;
  /** Calls `/v1/send`, with the secret key by default. */
  send(body: object, options?: Options): Promise<CallResult>;
  /** Saves a contact with the secret key. */
  save(body: object): Promise<CallResult>;
  /** Reads the contact with this address. */
  contactOf(email: string): Promise<CallResult['body']>;
}

/** Starts an API with a sender domain for the tests of a file. The API is stopped after the last test. */
export function usePublicKeyApi(): PublicKeyCalls {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
    await buildDomain(api.db, { projectId: api.one.id });
  });
  afterAll(() => api.close());

  const post = (path: string, key: string, { idempotencyKey }: Options, body: object) =>
    api.call('POST', path, { key, body, ...(idempotencyKey && { headers: { 'idempotency-key': idempotencyKey } }) });
  const mail = { from: 'x@shop.example.com', subject: 'Hello', body: '<p>{{resetCode}}</p>' };
  return {
    get api() {
      return api;
    },
    track: (body, options = {}) =>
      post('/v1/track', options.key ?? api.one.publicKey, options, { event: 'page_form', ...body }),
    send: (body, options = {}) => post('/v1/send', options.key ?? api.one.secretKey, options, { ...mail, ...body }),
    save: (body) => api.call('POST', '/contacts', { body }),
    contactOf: async (email) => (await api.call('GET', `/contacts?search=${encodeURIComponent(email)}`)).body.data[0],
  };
}
