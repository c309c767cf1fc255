import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';

let api: TestApi;
let dns: DnsServer;
const REAL = { NS: ['ns1.example'], MX: ['10 mx.example'], A: ['192.0.2.1'] };

beforeAll(async () => {
  dns = await startDnsServer({
    'company.example': REAL,
    'gmail.com': REAL,
    'gmial.com': REAL,
    'mailinator.com': REAL,
    'mozmail.com': REAL,
    'no-mx.example': { NS: ['ns1.example'], A: ['192.0.2.1'] },
    'six.example': { NS: ['ns1.example'], MX: ['10 mx.example'], AAAA: ['2001:db8::1'] },
    'null-mx.example': { ...REAL, MX: ['0 .'] },
    'nothing.example': { NS: ['ns1.example'] },
    'mail.company.example': { MX: ['10 mx.example'] },
    'fault.example': 'fault',
    'silent.example': 'silent',
  });
  api = await startTestApi({ DNS_SERVERS: dns.address });
});
afterAll(async () => {
  await api.close();
  await dns.close();
});

const verify = async (email: string) => (await api.call('POST', '/v1/verify', { body: { email } })).body.data;
const NOTHING = {
  isDisposable: false,
  isAlias: false,
  isTypo: false,
  isPlusAddressed: false,
  isPersonalEmail: false,
  domainExists: true,
  hasWebsite: true,
  hasMxRecords: true,
};

describe('verifying an address', () => {
  it('finds no problems if its domain accepts email', async () => {
    const response = await api.call('POST', '/v1/verify', { body: { email: ' Ada@Company.example' } });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      success: true,
      data: { email: 'ada@company.example', valid: true, ...NOTHING, reasons: [] },
    });
  });

  it.each([
    ['ada+news@company.example', { valid: true, isPlusAddressed: true }],
    ['ada@gmail.com', { valid: true, isPersonalEmail: true, isTypo: false }],
    ['ada@gmial.com', { valid: true, isTypo: true, suggestedEmail: 'ada@gmail.com' }],
    ['ada@gmail.con', { valid: false, isTypo: true, suggestedEmail: 'ada@gmail.com', domainExists: false }],
    ['ada@mailinator.com', { valid: false, isDisposable: true }],
    ['ada@mozmail.com', { valid: true, isAlias: true }],
    ['ada@no-mx.example', { valid: true, hasMxRecords: false, hasWebsite: true }],
    ['ada@six.example', { valid: true, hasWebsite: true }],
    ['ada@null-mx.example', { valid: false, hasMxRecords: false, domainExists: true }],
    ['ada@nothing.example', { valid: false, hasMxRecords: false, hasWebsite: false, domainExists: true }],
    ['ada@mail.company.example', { valid: true, domainExists: true, hasWebsite: false }],
    ['ada@nowhere.example', { valid: false, domainExists: false, hasWebsite: false, hasMxRecords: false }],
    ['ada@sub.company.example', { valid: false, domainExists: false }],
  ])('returns the expected findings for %s', async (email, expected) => {
    const found = await verify(email);
    expect(found).toMatchObject({ ...expected, reasons: expect.any(Array) });
    const plain = found.valid && !found.isAlias && !found.isPlusAddressed && !found.isTypo;
    if (!plain || !found.hasMxRecords) expect(found.reasons.length).toBeGreaterThan(0);
    if (!found.isTypo) expect(found).not.toHaveProperty('suggestedEmail');
  });

  it.each(['ada@fault.example', 'ada@silent.example'])(
    'does not report %s as invalid if the DNS does not respond',
    async (email) => {
      const found = await verify(email);
      expect(found).toMatchObject({ valid: true, domainExists: false, hasMxRecords: false });
      expect(found.reasons[0]).toContain('DNS');
    },
  );

  it('queries the DNS once for many addresses of a domain', async () => {
    dns.questions.length = 0;
    dns.zones.set('cached.example', REAL);
    await Promise.all(['a', 'b', 'c'].map((name) => verify(`${name}@cached.example`)));
    await verify('d@cached.example');
    expect(dns.questions.filter((question) => question === 'MX cached.example')).toHaveLength(1);
  });

  const longLocalPart = `${'a'.repeat(65)}@company.example`;
  it.each([{ email: 'nope' }, { email: 'a@b' }, { email: longLocalPart }, {}, { email: 5 }])(
    'returns 400 for %j',
    async (body) => {
      const response = await api.call('POST', '/v1/verify', { body });
      expect(response).toMatchObject({
        status: 400,
        body: { error: { code: 'VALIDATION_ERROR', errors: [{ field: 'email' }] } },
      });
    },
  );

  it('needs a secret key, with any scope', async () => {
    const body = { email: 'a@company.example' };
    expect((await api.call('POST', '/v1/verify', { body, key: null })).status).toBe(401);
    expect((await api.call('POST', '/v1/verify', { body, key: api.one.publicKey })).status).toBe(401);
    expect((await api.call('POST', '/v1/verify', { body, key: api.one.bareKey })).status).toBe(200);
  });
});
