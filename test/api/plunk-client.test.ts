import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';

// The package is CommonJS with an ES default export. Node's import and a bundler's import return different values for
// it.
const { default: Plunk }: typeof import('@plunk/node') = createRequire(import.meta.url)('@plunk/node');

let api: TestApi;
let server: Server;
let baseUrl: string;
beforeAll(async () => {
  api = await startTestApi();
  await api.db
    .insertInto('domains')
    .values({
      project_id: api.one.id,
      domain: 'shop.test',
      status: 'VERIFIED',
      dkim_selector: 'x',
      dkim_private_key: 'x',
      dkim_public_key: 'x',
    })
    .execute();
  server = createAdaptorServer({ fetch: api.app.fetch }) as Server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
});
afterAll(async () => {
  server.close();
  await api.close();
});

describe('the published client @plunk/node', () => {
  it('sends an email', async () => {
    const client = new Plunk(api.one.secretKey, { baseUrl });
    const email = { to: 'ada@example.com', subject: 'Hello', body: '<p>Hi</p>', from: 'hi@shop.test', name: 'Shop' };
    const sent = await client.emails.send(email);
    expect(sent).toMatchObject({ success: true });
    const rows = await api.db.selectFrom('emails').select('to_email').where('project_id', '=', api.one.id).execute();
    expect(rows).toEqual([{ to_email: 'ada@example.com' }]);
  });

  it('throws an error that says what is wrong with a request', async () => {
    const client = new Plunk(api.one.secretKey, { baseUrl });
    const email = { to: 'ada@example.com', subject: 'Hello', body: '<p>Hi</p>' };
    await expect(client.emails.send(email)).rejects.toThrow('The request is not valid. from: Required');
  });

  it('sends a body of the type html, and gets advice for markdown', async () => {
    const client = new Plunk(api.one.secretKey, { baseUrl });
    const email = { to: 'eve@example.com', subject: 'Hello', body: '<p>Hi</p>', from: 'hi@shop.test' };
    expect(await client.emails.send({ ...email, type: 'html' })).toMatchObject({ success: true });
    const send = await api.call('POST', '/v1/send', { body: { ...email, type: 'markdown' } });
    expect(send.status).toBe(422);
    expect(send.body.error.errors).toEqual([
      expect.objectContaining({ field: 'type', message: expect.stringContaining('such as Markdown, to HTML') }),
    ]);
    const batch = await api.call('POST', '/v1/send/batch', {
      body: { emails: ['html', 'markdown'].map((type) => ({ ...email, type })) },
    });
    expect(batch.body.data.results.map(({ success }: { success: boolean }) => success)).toEqual([true, false]);
  });

  it('tracks an event, with the public and the secret key', async () => {
    for (const key of [api.one.publicKey, api.one.secretKey]) {
      const client = new Plunk(key, { baseUrl });
      const tracked = await client.events.track({
        event: 'signed-up',
        email: 'bob@example.com',
        data: { plan: 'pro' },
      });
      expect(tracked).toMatchObject({ success: true });
    }
    const rows = await api.db.selectFrom('events').select('name').where('name', '=', 'signed-up').execute();
    expect(rows).toHaveLength(2);
  });

  it('throws an error for an invalid key', async () => {
    const client = new Plunk('sk_live_nonsense', { baseUrl });
    await expect(client.events.track({ event: 'x', email: 'bob@example.com' })).rejects.toThrow(
      'The API key is unknown, expired, revoked',
    );
  });
});
