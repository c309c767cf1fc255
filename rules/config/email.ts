import { z } from 'zod';
import { EMAIL_PROVIDERS, type EmailProviderKind, type MailServers } from '../emails/email-providers.ts';
import { choiceOf, missingOf, settingsOf, variablesOf } from './provider.ts';
import { host, switchWord } from './texts.ts';
import type { Environment, ValuesOf, Variables } from './variable.ts';

const KINDS = Object.keys(EMAIL_PROVIDERS) as EmailProviderKind[];
const SENDING = KINDS.filter((kind) => !EMAIL_PROVIDERS[kind].captures);

/** Provider of email, and facts about the sender. */
export const EMAIL = {
  EMAIL_PROVIDER: {
    schema: z.enum(KINDS),
    takes: choiceOf(KINDS),
    default: 'capture',
    about: `Email provider: \`capture\` stores email in a local mailbox at \`/mailbox\` (development only), ${SENDING.map((kind) => `\`${kind}\``).join(', ')}.`,
  },
  ALLOW_CAPTURE: {
    schema: switchWord,
    takes: 'true or false',
    default: 'false',
    about:
      'Permits capturing email and SMS on a `HOST` that other machines reach. `/mailbox` then needs the session of an OWNER.',
  },
  // Listed explicitly to set its position in the documentation's table; the other providers' variables follow.
  ...EMAIL_PROVIDERS.smtp.variables,
  DKIM_SIGN: {
    schema: switchWord,
    takes: 'on or off',
    default: 'on',
    about: '`off` if the relay signs (also a setting of each domain).',
  },
  RETURN_PATH_DOMAIN: {
    schema: host,
    takes: 'a host name',
    defaultText: '`bounces.<domain of the sender>`, once this host has an MX record',
    about:
      'Host of the envelope sender, which receives bounces (VERP). Its MX must point to `INBOUND_SMTP_PORT`, and its SPF record must name the sending hosts.',
  },
  SPF_INCLUDE: {
    schema: host,
    takes: 'a host name',
    about:
      'Name that SPF records include for the relay of `SMTP_URL`, such as `spf.relay.example`; without it they name the host of `PUBLIC_URL`.',
  },
  ...variablesOf(EMAIL_PROVIDERS),
} as const satisfies Variables;

/** Returns the provider of email, and facts about the sender. The settings of each provider are listed by its kind. */
export function emailSettings(values: ValuesOf<typeof EMAIL>, env: Environment) {
  const provider = values.EMAIL_PROVIDER;
  const settings = settingsOf(EMAIL_PROVIDERS, values, env);
  const { servers, reportsDeliveries }: { servers: MailServers; reportsDeliveries: boolean } = settings[provider];
  return {
    ...settings,
    provider,
    /** True if email is stored for development instead of sent. */
    captures: EMAIL_PROVIDERS[provider].captures,
    servers,
    /** Whether the provider reports each delivery; otherwise delivered emails are sent minus bounced ones. */
    reportsDeliveries,
    /** The largest message that the provider accepts; null if it has no limit of its own. */
    maxMessageBytes: EMAIL_PROVIDERS[provider].maxMessageBytes,
    dkimSign: values.DKIM_SIGN,
    returnPathDomain: values.RETURN_PATH_DOMAIN?.toLowerCase(),
    spfInclude: values.SPF_INCLUDE,
  };
}

/** Returns the missing variable that the chosen provider requires. Undefined if none is missing. */
export function missingForEmail(email: ReturnType<typeof emailSettings>): string | undefined {
  return missingOf(EMAIL_PROVIDERS[email.provider], email[email.provider]);
}

/** Returns the settings for sending email instead of capturing it, for the text of a remedy. */
export function sendingAdvice(): string {
  return SENDING.flatMap((kind) => EMAIL_PROVIDERS[kind].advice ?? []).join(', or ');
}
