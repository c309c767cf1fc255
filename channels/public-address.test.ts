import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWebhookReceiver, type WebhookReceiver } from '../test/support/webhook-receiver.ts';
import { createDns } from './dns.ts';
import { createWebhookClient, type WebhookClient } from './webhook-request.ts';

let receiver: WebhookReceiver;
let client: WebhookClient;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  client = createWebhookClient({ allowPrivate: false, dns: createDns({ servers: [], cached: false }) });
});
afterAll(async () => {
  await client.close();
  await receiver.close();
});

it.each([
  '127.0.0.1',
  'localhost',
  'LocalHost.',
  'api.localhost',
  '127.1',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '0.0.0.0',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  'user:pass@127.0.0.1',
])('a webhook to %s of this machine is not sent, and not retried', async (host) => {
  const url = `http://${host}:${new URL(receiver.url).port}/`;
  const result = await client.send({ url, method: 'POST', headers: {}, body: '{}' });
  expect(result).toMatchObject({ outcome: 'failed', final: true });
  expect(receiver.received).toEqual([]);
});

it.each(['10.0.0.1', '192.168.1.1', '169.254.169.254', '168.63.129.16', '[fd00::1]', '[fe80::1]', '100.64.0.1'])(
  'a webhook to %s of a private network is not sent either',
  async (host) => {
    const result = await client.send({ url: `http://${host}/`, method: 'POST', headers: {}, body: '{}' });
    expect(result).toMatchObject({ outcome: 'failed', final: true });
  },
);
