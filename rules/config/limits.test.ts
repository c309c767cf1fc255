import { describe, expect, it } from 'vitest';
import { EMAIL_PROVIDERS } from '../emails/email-providers.ts';
import { findAttachmentsError, LIMITS } from './limits.ts';

const MB = 1024 * 1024;

describe('ATTACHMENTS_MAX_MB', () => {
  it('is at most 28 MB, which fit into a message of 40 MB', () => {
    expect(LIMITS.ATTACHMENTS_MAX_MB.takes).toBe('a whole number from 1 to 28');
    expect(findAttachmentsError(28, { provider: 'ses', maxMessageBytes: EMAIL_PROVIDERS.ses.maxMessageBytes })).toBe(
      undefined,
    );
  });

  it("is refused if the chosen provider does not accept messages of this size, and the error names the provider's limit", () => {
    const small = { provider: 'small', maxMessageBytes: 25 * MB };
    expect(findAttachmentsError(17, small)).toBe(undefined);
    expect(findAttachmentsError(18, small)).toBe(
      'ATTACHMENTS_MAX_MB must be at most 17, because EMAIL_PROVIDER is small, which takes messages of 25 MB.',
    );
  });

  it('is not limited by a provider if a deployment uses its own mail server', () => {
    expect(findAttachmentsError(28, { provider: 'smtp', maxMessageBytes: EMAIL_PROVIDERS.smtp.maxMessageBytes })).toBe(
      undefined,
    );
  });
});
