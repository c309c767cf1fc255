import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveKey } from './secrets.ts';
import { hasInseparableCredentials, hasSameOrigin, maskUrl, sealUrl, unsealUrl } from './url-secrets.ts';

const key = deriveKey('the secret key of the tests', 'at-rest');
const sealed = { key, context: 'test' };

describe('showing a URL', () => {
  it.each([
    ['https://user:pass@example.com/a', 'https://user:***@example.com/a'],
    ['https://user:p@ss:word@example.com:8443', 'https://user:***@example.com:8443'],
    ['https://token@example.com', 'https://***@example.com'],
    ['https://token:@example.com', 'https://***:@example.com'],
    ['HTTPS:\\\\user:pass@example.com', 'HTTPS:\\\\user:***@example.com'],
    ['https:/user:pass@example.com', 'https:/user:***@example.com'],
    ['https://{{a ?? "x/@:"}}:pass@{{host}}/', 'https://{{a ?? "x/@:"}}:***@{{host}}/'],
    ['https://user:{{event.token}}@example.com', 'https://user:***@example.com'],
  ])('the URL %s is shown as %s', (url, masked) => expect(maskUrl(url)).toBe(masked));

  it.each(['https://example.com/a@b', 'https://example.com?to=a:b@c', 'https://example.com', 'https://@example.com'])(
    '%s has no secret',
    (url) => {
      expect(maskUrl(url)).toBe(url);
      expect(hasInseparableCredentials(url)).toBe(false);
    },
  );

  it.each(['ht\ttps://user:pass@example.com', 'https://user:pa/ss@example.com'])(
    '%j is refused, because its credentials cannot be separated from the rest',
    (url) => {
      expect(hasInseparableCredentials(url)).toBe(true);
      expect(() => sealUrl({ ...sealed, url, field: 'url' })).toThrow('not valid');
    },
  );
});

describe('two URLs', () => {
  const base = 'https://crm:***@crm.example.com/a';
  it.each([
    [base, 'https://CRM.example.com:443?b'],
    [base, 'https://eve:other@crm.example.com#c'],
    ['https://{{shop ?? "a/b"}}.example.com/a', 'https://{{shop ?? "a/b"}}.example.com/c'],
    ['{{url}}', '{{url}}'],
  ])('%s and %s count as the same origin', (one, other) => expect(hasSameOrigin(one, other)).toBe(true));

  it.each([
    [base, 'http://crm.example.com/a'],
    [base, 'https://crm.example.com:8443/a'],
    [base, 'https://crm.example.com@evil.example/a'],
    [base, 'https:\\\\evil.example\\@crm.example.com/a'],
    [base, 'https://crm.example.com{{x ?? ".evil.example"}}/a'],
    [base, 'https://{{x ?? "evil.example/"}}@crm.example.com/a'],
    ['https://{{shop}}.example.com/a', 'https://{{shop}}.example.com.evil.example/a'],
    ['https://a{{x ?? "}"}}/', 'https://a{{x ?? "}.evil.example/"}}/'],
    ['{{url}}/a', '{{url}}/b'],
  ])('%s and %s do not count as the same origin', (one, other) => expect(hasSameOrigin(one, other)).toBe(false));
});

it('never shows or stores the password of any URL in clear text, and restores the original URL', () => {
  const parts = [
    'user',
    ':',
    '@',
    '/',
    '\\',
    '?',
    '#',
    'pässword',
    '%40',
    '{{x}}',
    '{{x ?? "@"}}',
    'example.com',
    '\t',
    ' ',
    '***',
    '[',
  ];
  const urls = fc.array(fc.constantFrom(...parts), { maxLength: 12 }).map((words) => `https://${words.join('')}`);
  fc.assert(
    fc.property(urls, (url) => {
      if (hasInseparableCredentials(url)) return;
      if (URL.canParse(url)) {
        const shown = new URL(maskUrl(url));
        expect(['', '***']).toContain(shown.password || '');
        if (shown.password === '') expect(['', '***']).toContain(shown.username);
      }
      if (maskUrl(url) === url && url.includes('***')) return;
      expect(unsealUrl({ ...sealed, ...sealUrl({ ...sealed, url, field: 'url' }) })).toBe(url);
    }),
    { numRuns: 2_000 },
  );
});
