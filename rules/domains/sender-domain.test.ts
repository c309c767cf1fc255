import { describe, expect, it } from 'vitest';
import type { Dns } from './dns.ts';
import {
  checkDnsRecords,
  computeStateAfterCheck,
  type DomainCheckState,
  explainMissingRecords,
  listDnsRecords,
  normalizeDomain,
} from './sender-domain.ts';

const SOURCE = {
  domain: 'shop.example',
  selector: 'tidings-1',
  publicKey: 'KEY',
  mailHost: 'mail.tidings.example',
  returnPathDomain: undefined,
  spfInclude: undefined,
  provider: 'smtp' as const,
};
const NOW = new Date('2026-11-21T12:00:00Z');
const hoursAgo = (hours: number) => new Date(NOW.getTime() - hours * 3_600_000);
const createCheckState = (given: Partial<DomainCheckState>): DomainCheckState => ({
  status: 'PENDING',
  found: {},
  createdAt: hoursAgo(1),
  missingSince: null,
  ...given,
});

describe('a domain name', () => {
  it.each([
    [' Shop.Example. ', 'shop.example'],
    ['müller.de', 'xn--mller-kva.de'],
    ['a.b-c.co.uk', 'a.b-c.co.uk'],
  ])('%j is stored as %s', (given, stored) => expect(normalizeDomain(given)).toBe(stored));

  it.each([
    '',
    'localhost',
    '192.0.2.1',
    '::1',
    'a..b',
    '-a.de',
    'a_b.de',
    'a b.de',
    'http://a.de',
    'a.de/x',
    'a@b.de',
    `${'a'.repeat(64)}.de`,
  ])('%j is not a domain name', (given) => expect(normalizeDomain(given)).toBeUndefined());
});

describe('the records of a domain', () => {
  it('depend on the deployment: SES sends from its own hosts, and returned email may have a separate host', () => {
    const findRecordValue = (source: Parameters<typeof listDnsRecords>[0], purpose: string) =>
      listDnsRecords(source, {}).find((record) => record.purpose === purpose);
    expect(findRecordValue(SOURCE, 'SPF')?.value).toBe('v=spf1 a:mail.tidings.example ~all');
    expect(findRecordValue({ ...SOURCE, provider: 'ses' }, 'SPF')?.value).toBe('v=spf1 include:amazonses.com ~all');
    expect(findRecordValue({ ...SOURCE, mailHost: '192.0.2.1' }, 'SPF')?.value).toBe('v=spf1 ip4:192.0.2.1 ~all');
    expect(findRecordValue({ ...SOURCE, spfInclude: 'spf.relay.example' }, 'SPF')).toMatchObject({
      name: 'bounces.shop.example',
      value: 'v=spf1 include:spf.relay.example ~all',
    });
    expect(findRecordValue(SOURCE, 'RETURN_PATH')?.name).toBe('bounces.shop.example');
    expect(findRecordValue({ ...SOURCE, returnPathDomain: 'bounces.example' }, 'SPF')?.name).toBe('bounces.example');
    expect(findRecordValue({ ...SOURCE, returnPathDomain: 'bounces.example' }, 'RETURN_PATH')?.name).toBe(
      'bounces.example',
    );
    expect(
      listDnsRecords(SOURCE, {})
        .filter((record) => record.required)
        .map((record) => record.purpose),
    ).toEqual(['DKIM']);
  });
});

it('never requires an MX at the domain itself, and shows an existing one with a warning', () => {
  const seen = { apexMx: ['10 mx.company.example'], RETURN_PATH: ['5 mx.other.example'] };
  const records = listDnsRecords(SOURCE, {}, seen);
  expect(records.filter(({ type }) => type === 'MX').map(({ name }) => name)).toEqual([
    'bounces.shop.example',
    'in.shop.example',
  ]);
  expect(records.find(({ purpose }) => purpose === 'INBOUND')?.warning).toMatch(
    /^Keep the MX record of shop\.example \(10 mx\.company\.example\)/,
  );
  expect(records.find(({ purpose }) => purpose === 'RETURN_PATH')?.warning).toMatch(/5 mx\.other\.example/);
});

describe('records that are published next to existing ones', () => {
  const findShownRecord = (
    purpose: string,
    found: Parameters<typeof listDnsRecords>[1],
    seen: Parameters<typeof listDnsRecords>[2],
  ) =>
    listDnsRecords({ ...SOURCE, spfInclude: 'spf.relay.example' }, found, seen).find(
      (record) => record.purpose === purpose,
    );

  it('the mechanism of the service is added to an existing SPF record, because a name may have only one', () => {
    expect(
      findShownRecord('SPF', { SPF: false }, { SPF: ['v=spf1 ip4:192.0.2.7 include:_spf.other.example -all'] }),
    ).toMatchObject({
      value: 'v=spf1 include:spf.relay.example ip4:192.0.2.7 include:_spf.other.example -all',
      warning: expect.stringMatching(/^bounces\.shop\.example has an SPF record .* Replace it/),
    });
    const complete = 'v=spf1 include:SPF.relay.example mx -all';
    expect(findShownRecord('SPF', { SPF: true }, { SPF: [complete] })).toMatchObject({
      value: complete,
      warning: null,
    });
  });

  it('two SPF records count as no SPF record', () => {
    const seen = { SPF: ['v=spf1 include:spf.relay.example ~all', 'v=spf1 mx -all'] };
    expect(findShownRecord('SPF', { SPF: true }, seen)?.warning).toMatch(/has 2 SPF records/);
  });

  it('a policy of the parent domain applies, unless the domain has its own', () => {
    const seen = { parentDmarc: ['_dmarc.example: v=DMARC1; p=reject'] };
    expect(findShownRecord('DMARC', { DMARC: false }, seen)?.warning).toMatch(/p=reject/);
    expect(findShownRecord('DMARC', { DMARC: true }, seen)?.warning).toBeNull();
  });

  it('policies are looked up at all parent domains', async () => {
    const absent = { kind: 'absent' as const, nameExists: false };
    const asked: string[] = [];
    const dns: Dns = {
      ns: async () => absent,
      mx: async () => absent,
      addresses: async () => absent,
      txt: async (name) => {
        asked.push(name);
        return name === '_dmarc.company.example' ? { kind: 'found', records: ['x', 'v=DMARC1; p=quarantine'] } : absent;
      },
    };
    const { seen } = await checkDnsRecords(dns, { ...SOURCE, domain: 'news.shop.company.example' });
    expect(seen.parentDmarc).toEqual(['_dmarc.company.example: v=DMARC1; p=quarantine']);
    expect(asked.filter((name) => name.startsWith('_dmarc')).sort()).toEqual([
      '_dmarc.company.example',
      '_dmarc.news.shop.company.example',
      '_dmarc.shop.company.example',
    ]);
  });
});

it.each([
  ['tidings', undefined],
  ['tidings.local', undefined],
  ['mail.corp.internal', undefined],
  ['10.1.2.3', undefined],
  ['172.20.0.2', undefined],
  ['[fd00::1]', undefined],
  ['198.51.100.7', 'ip4:198.51.100.7'],
  ['[2001:db8::1]', 'ip6:2001:db8::1'],
])('no MX record contains %s, which is not a public host name', (mailHost, mechanism) => {
  const source = { ...SOURCE, mailHost };
  const records = listDnsRecords(source, {});
  expect(records.filter(({ type }) => type === 'MX')).toEqual([]);
  const spf = records.find(({ purpose }) => purpose === 'SPF')?.value;
  expect(spf).toBe(mechanism === undefined ? undefined : `v=spf1 ${mechanism} ~all`);
  expect(explainMissingRecords(source)).toContain(mailHost);
});

it('a service on a loopback address has no MX and SPF records, and no records at all if it captures email', () => {
  const local = { ...SOURCE, mailHost: '127.0.0.1' };
  expect(listDnsRecords({ ...local, provider: 'capture' }, {})).toEqual([]);
  expect(explainMissingRecords({ ...local, provider: 'capture' })).toMatch(/^No DNS records are needed/);
  expect(listDnsRecords(local, {}).map(({ purpose }) => purpose)).toEqual(['DKIM', 'DMARC']);
  expect(explainMissingRecords(local)).toMatch(/^There are no records for returned and inbound email yet/);
  expect(explainMissingRecords(SOURCE)).toBeNull();
});

describe('after a check, a domain', () => {
  it.each<[string, Partial<DomainCheckState>, boolean | undefined, DomainCheckState['status']]>([
    ['whose DKIM key was found is VERIFIED', { status: 'FAILED' }, true, 'VERIFIED'],
    ['whose key was not found yet is PENDING', {}, false, 'PENDING'],
    ['whose key was not found for 73 hours is FAILED', { createdAt: hoursAgo(73) }, false, 'FAILED'],
    ['whose key is newly missing stays VERIFIED', { status: 'VERIFIED', found: { DKIM: true } }, false, 'VERIFIED'],
    [
      'whose key has been missing for 24 hours is FAILED',
      { status: 'VERIFIED', found: { DKIM: false }, missingSince: hoursAgo(24) },
      false,
      'FAILED',
    ],
    [
      'keeps its status if the DNS did not respond',
      { status: 'VERIFIED', found: { DKIM: false }, missingSince: hoursAgo(48) },
      undefined,
      'VERIFIED',
    ],
    [
      'that the service itself verified stays VERIFIED',
      { status: 'VERIFIED', createdAt: hoursAgo(9_999) },
      false,
      'VERIFIED',
    ],
  ])('%s', (_, before, dkim, status) => {
    expect(computeStateAfterCheck(createCheckState(before), dkim === undefined ? {} : { DKIM: dkim }, NOW).status).toBe(
      status,
    );
  });

  it('that the service itself verified stores each found record, but no missing key, and stays VERIFIED', () => {
    const before = createCheckState({ status: 'VERIFIED', createdAt: hoursAgo(9_999) });
    const checked = { DKIM: false, SPF: true, DMARC: true, returnPathHost: 'bounces.shop.example' };
    const once = computeStateAfterCheck(before, checked, NOW);
    expect(once.found).toEqual({ SPF: true, DMARC: true, returnPathHost: 'bounces.shop.example' });
    expect(computeStateAfterCheck(once, checked, NOW)).toMatchObject({ status: 'VERIFIED', missingSince: null });
  });

  it('clears missingSince when a check finds the key again', () => {
    const before = createCheckState({ status: 'VERIFIED', found: { DKIM: false }, missingSince: hoursAgo(5) });
    expect(computeStateAfterCheck(before, { DKIM: true }, NOW).missingSince).toBeNull();
  });
});
