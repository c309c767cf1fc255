import { describe, expect, it } from 'vitest';
import type { Dns } from '../domains/dns.ts';
import { verifyEmail } from './verify-email.ts';

const resolveFound = <T>(record: T) => Promise.resolve({ kind: 'found' as const, records: [record] });
const dns: Dns = {
  ns: () => resolveFound('ns.example'),
  mx: () => resolveFound({ exchange: 'mx.example', priority: 10 }),
  txt: () => resolveFound(''),
  addresses: () => resolveFound('192.0.2.1'),
};

describe('an address with a typing error', () => {
  it.each([
    ['gmial.com', 'gmail.com'],
    ['gmai.com', 'gmail.com'],
    ['gmail.co', 'gmail.com'],
    ['hotmal.com', 'hotmail.com'],
    ['hotmail.co', 'hotmail.com'],
    ['yahooo.com', 'yahoo.com'],
    ['outlok.com', 'outlook.com'],
    ['company.con', 'company.com'],
  ])('at %s gets a suggestion at %s', async (domain, meant) => {
    const verified = await verifyEmail(dns, `Ada.L@${domain}`);
    expect(verified).toMatchObject({ isTypo: true, suggestedEmail: `ada.l@${meant}` });
    expect(verified.reasons.join()).toContain(meant);
  });
});

describe('an address at a real domain', () => {
  it.each(
    'gmail.com email.com me.com acme.com tail.com company.co example.com hey.com mail.ru x.anonaddy.com'.split(' '),
  )('such as %s is not reported as a typo', async (domain) => {
    expect(await verifyEmail(dns, `ada@${domain}`)).toMatchObject({ isTypo: false });
  });
});

it('an address at a subdomain of an alias service is an alias', async () => {
  expect(await verifyEmail(dns, 'shop@ada.anonaddy.com')).toMatchObject({ isAlias: true, valid: true });
});

it.each('mailinator.com guerrillamail.com yopmail.com tempmail.com 10minutemail.com'.split(' '))(
  'an address at %s is disposable, and so not valid',
  async (domain) => {
    expect(await verifyEmail(dns, `ada@${domain}`)).toMatchObject({ isDisposable: true, valid: false });
  },
);
