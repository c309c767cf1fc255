import { createPublicKey } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveKey, unsealSecret } from '../../../rules/access/secrets.ts';
import { getDkimKeyContext } from '../../../rules/domains/dkim-key.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { type DnsServer, startDnsServer, type Zone } from '../../support/dns-server.ts';
import { createPeriodicActivities, runPeriodicParts } from '../../support/periodic.ts';

let api: TestApi;
let dns: DnsServer;
let counter = 0;

beforeAll(async () => {
  dns = await startDnsServer();
  api = await startTestApi({ DNS_SERVERS: dns.address, PUBLIC_URL: 'https://mail.tidings.example' });
});
afterAll(async () => {
  await api.close();
  await dns.close();
});

interface Shown {
  purpose: string;
  type: 'TXT' | 'MX';
  name: string;
  value: string;
  required: boolean;
  found: boolean;
  seen: string[] | null;
}

async function registerDomain(
  name = `shop${++counter}.example`,
): Promise<{ id: string; domain: string; records: Shown[] }> {
  const response = await api.call('POST', '/domains', { body: { domain: name } });
  expect(response.status).toBe(201);
  return response.body;
}

function publishRecords(records: Shown[]): void {
  for (const { name, type, value } of records) {
    const zone = (dns.zones.get(name) ?? {}) as Zone;
    dns.zones.set(name, { ...zone, [type]: [...(zone[type] ?? []), value] });
  }
}

const verifyDomain = async (id: string) => (await api.call('GET', `/domains/${id}/verify`)).body;
const listFoundPurposes = (domain: { records: Shown[] }) =>
  domain.records.filter((one) => one.found).map((one) => one.purpose);

describe('a sending domain', () => {
  it('is registered with its own key and the records to publish', async () => {
    const { body, status } = await api.call('POST', '/v1/domains', { body: { domain: ' Shop.Example. ' } });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      domain: 'shop.example',
      verified: false,
      status: 'PENDING',
      signing: true,
      lastCheckedAt: null,
    });
    const records: Shown[] = body.records;
    expect(records.map((one) => one.purpose)).toEqual(['DKIM', 'SPF', 'DMARC', 'RETURN_PATH', 'INBOUND']);
    expect(records.find((one) => one.purpose === 'INBOUND')?.value).toBe('10 mail.tidings.example');
    const publicKey = records[0]?.value.split('p=')[1] ?? '';
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
    expect(key.asymmetricKeyDetails?.modulusLength).toBe(2048);
    const { rows } = await sql<{
      sealed: string;
    }>`SELECT dkim_private_key AS sealed FROM domains WHERE id = ${body.id}`.execute(api.db);
    const sealed = rows[0]?.sealed ?? '';
    expect(sealed).not.toContain('PRIVATE KEY');
    const atRest = deriveKey(api.deps.config.secretKey, 'at-rest');
    const privateKey = unsealSecret(atRest, getDkimKeyContext(body.id), sealed);
    expect(createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64')).toBe(publicKey);
    expect(JSON.stringify(body)).not.toContain('PRIVATE');
  });

  it('is verified once its key is in the DNS, and lists which records were found', async () => {
    const domain = await registerDomain();
    expect(await verifyDomain(domain.id)).toMatchObject({
      verified: false,
      status: 'PENDING',
      lastCheckedAt: expect.any(String),
    });
    publishRecords(domain.records.filter((one) => one.purpose === 'DKIM'));
    const verified = await verifyDomain(domain.id);
    expect(verified).toMatchObject({ verified: true, status: 'VERIFIED' });
    expect(listFoundPurposes(verified)).toEqual(['DKIM']);
    publishRecords(domain.records.filter((one) => one.purpose !== 'DKIM'));
    expect(listFoundPurposes(await verifyDomain(domain.id))).toEqual([
      'DKIM',
      'SPF',
      'DMARC',
      'RETURN_PATH',
      'INBOUND',
    ]);
    const template = { name: 't', subject: 's', body: 'b', type: 'MARKETING', from: `hi@${domain.domain}` };
    expect((await api.call('POST', '/templates', { body: template })).status).toBe(201);
  });

  it("is not verified by another key or by another project's key", async () => {
    const domain = await registerDomain();
    const theirs = await api.call('POST', '/domains', { key: api.two.secretKey, body: { domain: domain.domain } });
    expect(theirs.status).toBe(201);
    publishRecords(theirs.body.records);
    dns.zones.set(domain.records[0]?.name ?? '', { TXT: ['v=DKIM1; k=rsa; p=AAAA'] });
    expect((await verifyDomain(domain.id)).verified).toBe(false);
  });

  it('shows the current DNS value of each wrong record, and the last known ones while the DNS does not respond', async () => {
    const domain = await registerDomain();
    expect(domain.records[0]).toMatchObject({ found: false, seen: null });
    const name = domain.records[0]?.name ?? '';
    dns.zones.set(name, { TXT: ['v=DKIM1; k=rsa; p=AAAA'] });
    dns.zones.set(`bounces.${domain.domain}`, { TXT: ['something else', 'v=spf1 include:other.example\0 ~all'] });
    const verifyAndReadSeenValues = async () =>
      (await verifyDomain(domain.id)).records.slice(0, 3).map((record: Shown) => record.seen);
    const seen = [['v=DKIM1; k=rsa; p=AAAA'], ['v=spf1 include:other.example\uFFFD ~all'], []];
    expect(await verifyAndReadSeenValues()).toEqual(seen);
    dns.zones.set(name, 'fault');
    expect(await verifyAndReadSeenValues()).toEqual(seen);
  });

  it('stays verified for a day without its key in the DNS, and while the DNS does not respond', async () => {
    const domain = await registerDomain();
    const name = domain.records[0]?.name ?? '';
    publishRecords(domain.records);
    await verifyDomain(domain.id);
    dns.zones.set(name, 'fault');
    expect(await verifyDomain(domain.id)).toMatchObject({ status: 'VERIFIED' });
    dns.zones.delete(name);
    expect(await verifyDomain(domain.id)).toMatchObject({ status: 'VERIFIED' });
    await sql`
      UPDATE domains SET found = jsonb_set(found, '{missingSince}', to_jsonb(now() - interval '25 hours')) WHERE id = ${domain.id}
    `.execute(api.db);
    expect(await verifyDomain(domain.id)).toMatchObject({ status: 'FAILED', verified: false });
    publishRecords(domain.records.slice(0, 1));
    expect(await verifyDomain(domain.id)).toMatchObject({ status: 'VERIFIED' });
  });

  it('is checked automatically, and stays verified if it was verified without DNS records', async () => {
    const domain = await registerDomain();
    publishRecords(domain.records);
    const given = await registerDomain();
    await sql`UPDATE domains SET status = 'VERIFIED' WHERE id = ${given.id}`.execute(api.db);
    expect(await runPeriodicParts(createPeriodicActivities(api.db, api.deps.config), 'domains')).not.toEqual([]);
    const { body } = await api.call('GET', `/domains/project/${api.one.id}`);
    const findDomain = (id: string) => body.find((one: { id: string }) => one.id === id);
    expect(findDomain(domain.id)).toMatchObject({ verified: true });
    expect(findDomain(given.id)).toMatchObject({ verified: true });
  });

  it('can be added only once to a project', async () => {
    const { domain } = await registerDomain();
    expect(await api.call('POST', '/domains', { body: { domain } })).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT' } },
    });
  });

  it('is refused if the project has 1,000 domains, because the list of domains has no pages', async () => {
    await sql`
      INSERT INTO domains (project_id, domain, dkim_selector, dkim_private_key, dkim_public_key)
      SELECT ${api.one.id}, 'full' || n || '.example', 'selector', 'sealed', 'key'
      FROM generate_series(1, 1000) AS n`.execute(api.db);
    try {
      expect(await api.call('POST', '/domains', { body: { domain: 'one-more.example' } })).toMatchObject({
        status: 409,
        body: { error: { code: 'CONFLICT', details: { most: 1_000 } } },
      });
    } finally {
      await sql`DELETE FROM domains WHERE domain LIKE 'full%'`.execute(api.db);
    }
  });

  it.each(['nope', 'a b.example', '192.0.2.1', 'http://x.example', '-x.example', `${'a'.repeat(64)}.example`, ''])(
    'cannot be named "%s"',
    async (domain) => {
      const response = await api.call('POST', '/domains', { body: { domain } });
      expect(response).toMatchObject({
        status: 422,
        body: { error: { errors: [{ field: 'domain', code: 'invalid_string' }] } },
      });
    },
  );

  it('can be switched between signed and unsigned email', async () => {
    const { id } = await registerDomain();
    expect((await api.call('PATCH', `/domains/${id}`, { body: { signing: false } })).body).toMatchObject({
      signing: false,
    });
    expect((await api.call('PATCH', `/domains/${id}`, { body: {} })).status).toBe(422);
  });

  it('cannot be deleted while a template, a step or an unsent campaign sends from it', async () => {
    const { id, domain } = await registerDomain();
    const projectId = api.one.id;
    const from = `News@${domain}`;
    await sql`INSERT INTO templates (project_id, name, subject, body, type, from_email) VALUES (${projectId}, 'T', 's', 'b', 'MARKETING', ${from})`.execute(
      api.db,
    );
    await sql`
      INSERT INTO campaigns (project_id, name, subject, body, from_email, audience_type) VALUES (${projectId}, 'C', 's', 'b', ${from}, 'ALL')
    `.execute(api.db);
    const variants = [
      { name: 'A', weight: 1 },
      { name: 'B', weight: 1, from },
    ];
    await sql`
      INSERT INTO campaigns (project_id, name, subject, body, from_email, audience_type, variants)
      VALUES (${projectId}, 'V', 's', 'b', 'other@verified.example', 'ALL', ${JSON.stringify(variants)}::jsonb)
    `.execute(api.db);
    await sql`
      WITH w AS (INSERT INTO workflows (project_id, name) VALUES (${projectId}, 'w') RETURNING id)
      INSERT INTO workflow_steps (project_id, workflow_id, type, name, config)
      SELECT ${projectId}, id, 'SEND_EMAIL', s.name, s.config::jsonb FROM w,
        (VALUES ('S1', ${JSON.stringify({ from })}), ('S2', ${JSON.stringify({ from: { email: from } })})) AS s (name, config)
    `.execute(api.db);
    const refused = await api.call('DELETE', `/domains/${id}`);
    expect(refused).toMatchObject({
      status: 409,
      body: {
        error: {
          details: {
            templates: [{ name: 'T' }],
            campaigns: [{ name: 'C' }, { name: 'V' }],
            workflowSteps: [{ name: 'S1' }, { name: 'S2' }],
          },
        },
      },
    });
    await sql`DELETE FROM workflow_steps`.execute(api.db);
    await sql`DELETE FROM templates`.execute(api.db);
    await sql`UPDATE campaigns SET status = 'SENT'`.execute(api.db);
    expect((await api.call('DELETE', `/domains/${id}`)).status).toBe(204);
    expect((await api.call('GET', `/domains/${id}/verify`)).status).toBe(404);
  });
});

describe('access to domains', () => {
  it("does not find another project's domain", async () => {
    const { id } = await registerDomain();
    const key = api.two.secretKey;
    expect((await api.call('GET', `/domains/${id}/verify`, { key })).status).toBe(404);
    expect((await api.call('PATCH', `/domains/${id}`, { key, body: { signing: false } })).status).toBe(404);
    expect((await api.call('DELETE', `/domains/${id}`, { key })).status).toBe(404);
    expect((await api.call('GET', `/domains/project/${api.one.id}`, { key })).status).toBe(404);
  });

  it('needs domains:view to read and domains:edit to write', async () => {
    const key = api.one.bareKey;
    const list = await api.call('GET', `/domains/project/${api.one.id}`, { key });
    expect(list.body.error.details.requiredScope).toBe('domains:view');
    const create = await api.call('POST', '/domains', { key, body: { domain: 'x.example' } });
    expect(create.body.error.details.requiredScope).toBe('domains:edit');
  });
});
