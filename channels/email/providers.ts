import type { Config } from '../../rules/config.ts';
import type { EmailProviderKind, EmailProviderSettings } from '../../rules/emails/email-providers.ts';
import { parseSmtpUrl } from '../../rules/emails/smtp-url.ts';
import { createCaptureProvider } from './capture.ts';
import type { EmailProvider, OutgoingEmail } from './provider.ts';
import { createSesProvider } from './ses/provider.ts';
import { createSmtpProvider } from './smtp/provider.ts';

type Store = (message: OutgoingEmail) => Promise<void>;

interface Sender<S> {
  /** @throws Error for settings that cannot be used */
  create(settings: S, p: { store: Store; ehloName: string | null }): EmailProvider;
  /** Returns the provider's address for the log, without user and password. @throws Error for unusable settings */
  address(settings: S): string;
}

/** For each kind of provider, the functions that create it and return its address. */
const SENDERS: { readonly [K in EmailProviderKind]: Sender<EmailProviderSettings[K]> } = {
  capture: {
    create: (_, { store }) => createCaptureProvider(store),
    address: () => 'the local mailbox',
  },
  smtp: {
    create: ({ url = '' }, { ehloName }) => createSmtpProvider({ url, ehloName }),
    address: ({ url = '' }) => {
      const { host, port } = parseSmtpUrl(url);
      return `${host}:${port}`;
    },
  },
  ses: {
    create: ({ region = '', endpoint }) => createSesProvider({ region, endpoint }),
    address: ({ region = '', endpoint }) => endpoint ?? `SES in ${region}`,
  },
};

/**
 * Creates the provider that the variable `EMAIL_PROVIDER` selects. With the provider `capture`, `store` receives each
 * email, and no server does.
 * @throws Error for an SMTP_URL that cannot be used
 */
export function createEmailProvider(email: Config['email'], store: Store): EmailProvider {
  return chooseProvider(email.provider, email).create({ store, ehloName: email.ehloName });
}

/** Returns the provider's address for the log, without user and password. @throws Error for an unusable SMTP_URL */
export function getProviderAddress(email: Config['email']): string {
  return chooseProvider(email.provider, email).address();
}

function chooseProvider<K extends EmailProviderKind>(kind: K, settings: Pick<EmailProviderSettings, K>) {
  const sender: Sender<EmailProviderSettings[K]> = SENDERS[kind];
  return {
    create: (p: Parameters<typeof sender.create>[1]) => sender.create(settings[kind], p),
    address: () => sender.address(settings[kind]),
  };
}
