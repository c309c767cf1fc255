import type { Config } from '../../domain/config.ts';
import { captureProvider } from './capture.ts';
import type { EmailProvider, OutgoingEmail } from './provider.ts';
import { sesProvider } from './ses.ts';
import { parseSmtpUrl } from './smtp/url.ts';
import { smtpProvider } from './smtp.ts';

/**
 * The provider of `EMAIL_PROVIDER`; one a process. `store` keeps mail where the provider is `capture`.
 * @throws Error for an SMTP_URL that cannot be used
 */
export function createEmailProvider(
  email: Config['email'],
  store: (message: OutgoingEmail) => Promise<void>,
): EmailProvider {
  switch (email.provider) {
    case 'smtp':
      return smtpProvider({ url: email.smtpUrl ?? '' });
    case 'ses':
      return sesProvider({ region: email.sesRegion ?? '', endpoint: email.sesEndpoint });
    case 'capture':
      return captureProvider(store);
  }
}

/** Where the provider is, for a log: never with user or password. @throws Error for an SMTP_URL that cannot be used */
export function providerAddress(email: Config['email']): string {
  if (email.provider === 'capture') return 'the local mailbox';
  if (email.provider === 'ses') return email.sesEndpoint ?? `SES in ${email.sesRegion ?? ''}`;
  const { host, port } = parseSmtpUrl(email.smtpUrl ?? '');
  return `${host}:${port}`;
}
