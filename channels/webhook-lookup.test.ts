import { hostname } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DnsServer, startDnsServer } from '../test/support/dns-server.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../test/support/webhook-receiver.ts';
import { createDns } from './dns.ts';
import { createWebhookLookup } from './webhook-lookup.ts';
import { createWebhookClient, type WebhookClient } from './webhook-request.ts';

const SILENT = Array.from({ length: 8 }, (_, n) => `silent-${n}.example`);
let server: DnsServer;
let receiver: WebhookReceiver;
const clients: Record<'ofPublic' | 'ofAll', WebhookClient | undefined> = { ofPublic: undefined, ofAll: undefined };

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  server = await startDnsServer({
    ...Object.fromEntries(SILENT.map((name) => [name, 'silent'] as const)),
    'shop.example': { A: ['127.0.0.1'] },
    'mixed.example': { A: ['10.0.0.1', '8.8.8.8'], AAAA: ['::1', '2600::5'] },
    'broken.example': 'fault',
  });
  const dns = createDns({ servers: [server.address], cached: false });
  clients.ofPublic = createWebhookClient({ allowPrivate: false, dns });
  clients.ofAll = createWebhookClient({ allowPrivate: true, dns });
});
afterAll(async () => {
  for (const client of Object.values(clients)) await client?.close();
  await server?.close();
  await receiver?.close();
});

function send(client: keyof typeof clients, host: string) {
  const url = `http://${host}:${new URL(receiver.url).port}/`;
  return clients[client]?.send({ url, method: 'POST', headers: {}, body: '{}' });
}

it('hosts whose name servers do not respond delay no other host', async () => {
  const ended: string[] = [];
  const note = (host: string) => send('ofAll', host)?.then((result) => ended.push(host) && result);
  const silent = SILENT.map(note);
  expect(await note('shop.example')).toMatchObject({ outcome: 'answered', statusCode: 200 });
  expect(ended).toEqual(['shop.example']);
  for (const result of await Promise.all(silent))
    expect(result).toMatchObject({ outcome: 'failed', status: 'EAI_AGAIN lookup', final: false });
});

it.each([
  ['unknown.example', 'ENOTFOUND: unknown.example has no address in the DNS', 'ENOTFOUND lookup', false],
  ['broken.example', 'EAI_AGAIN: no address of broken.example: the response was ESERVFAIL', 'EAI_AGAIN lookup', false],
  ['shop.example', 'shop.example has no public address', 'BLOCKED_ADDRESS', true],
])('a webhook to %s fails', async (host, error, status, final) => {
  expect(await send('ofPublic', host)).toMatchObject({ outcome: 'failed', error, status, final });
});

it('connects only to the public addresses of a name', async () => {
  const dns = createDns({ servers: [server.address], cached: false });
  const lookup = createWebhookLookup(dns, { allowPrivate: false });
  const found = await new Promise((resolve) =>
    lookup('mixed.example', { all: true }, (error, addresses) => resolve(error ?? addresses)),
  );
  expect(found).toEqual([
    { address: '8.8.8.8', family: 4 },
    { address: '2600::5', family: 6 },
  ]);
});

it('private hosts may have a name that only the system knows', async () => {
  expect(await send('ofAll', 'localhost')).toMatchObject({ outcome: 'answered' });
  expect(await send('ofAll', hostname())).not.toMatchObject({ status: 'ENOTFOUND lookup' });
  expect(server.questions).not.toContain('A localhost');
});
