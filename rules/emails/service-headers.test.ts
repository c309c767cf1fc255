import { describe, expect, it } from 'vitest';
import { EMAIL_PROVIDERS } from './email-providers.ts';
import { isReservedMailHeader } from './service-headers.ts';

describe('headers of an email that a tenant cannot set', () => {
  it.each(Object.entries(EMAIL_PROVIDERS))(
    'include headers that control an account with %s',
    (_, { controlHeaders }) => {
      for (const prefix of controlHeaders as readonly string[]) {
        expect(prefix).toBe(prefix.toLowerCase());
        expect(isReservedMailHeader(`${prefix}anything`)).toBe(true);
        expect(isReservedMailHeader(`${prefix}anything`.toUpperCase())).toBe(true);
      }
    },
  );

  it.each([
    'X-SES-Source-ARN',
    'x-ses-configuration-set',
    'Sender',
    'Resent-From',
    'ARC-Seal',
    'List-Unsubscribe-Post',
  ])('%s is a header that a tenant cannot set', (name) => expect(isReservedMailHeader(name)).toBe(true));

  it.each(['X-Session', 'X-Campaign', 'Reply-To', 'Senders', 'In-Reply-To'])(
    '%s is a header that a tenant can set',
    (name) => expect(isReservedMailHeader(name)).toBe(false),
  );
});
