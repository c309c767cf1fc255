import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let dns: DnsServer;
let service: TestService;
beforeAll(async () => {
  dns = await startDnsServer();
  service = await startTestService({ DNS_SERVERS: dns.address });
});
afterAll(async () => {
  await service.close();
  await dns.close();
});

it('the schedule of domain checks verifies a domain whose records were published', async () => {
  const { body: domain } = await service.call('POST', '/domains', { body: { domain: 'scheduled.example' } });
  for (const { name, value } of domain.records) if (value.startsWith('v=DKIM1')) dns.zones.set(name, { TXT: [value] });
  const connection = await Connection.connect({ address: service.temporal.address });
  const client = new Client({ connection, namespace: service.temporal.namespace });
  await client.schedule.getHandle(service.names.schedule('domain-checks')).trigger();
  await connection.close();
  const verified = await until(async () => {
    const { body } = await service.call('GET', `/domains/project/${service.one.id}`);
    return body[0]?.verified && body[0];
  }, 'the verification');
  expect(verified).toMatchObject({ id: domain.id, status: 'VERIFIED', lastCheckedAt: expect.any(String) });
});
