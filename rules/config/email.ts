import { z } from 'zod';
import { EMAIL_PROVIDERS, type EmailProviderKind, type MailServers } from '../emails/email-providers.ts';
import { findMissingVariable, joinChoices, mergeVariables, readProviderSettings } from './provider.ts';
import { host, switchWord } from './texts.ts';
import type { Environment, ValuesOf, Variables } from './variable.ts';

const KINDS = Object.keys(EMAIL_PROVIDERS) as EmailProviderKind[];
const SENDING = KINDS.filter((kind) => !EMAIL_PROVIDERS[kind].captures);

/** Variables for the email provider, and for the sender. */
export const EMAIL = {
  EMAIL_PROVIDER: {
    schema: z.enum(KINDS),
    takes: joinChoices(KINDS),
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
  // SMTP_URL is listed here, so that the documentation's table shows it before DKIM_SIGN. `mergeVariables` adds the
  // variables of the other providers at the end.
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
      'Host of the envelope sender, which receives bounces (VERP). Its MX must name a host whose port 25 reaches `INBOUND_SMTP_PORT`. Its SPF record must name the sending hosts.',
  },
  SPF_INCLUDE: {
    schema: host,
    takes: 'a host name',
    about:
      'Name that SPF records include for the relay of `SMTP_URL`, such as `spf.relay.example`. Without this variable, SPF records name the host of `PUBLIC_URL`.',
  },
  ...mergeVariables(EMAIL_PROVIDERS),
} as const satisfies Variables;

/**
 * Returns the settings of email: the chosen provider, the settings of each provider by its kind, and facts about the
 * sender.
 */
export function readEmailSettings(values: ValuesOf<typeof EMAIL>, env: Environment) {
  const provider = values.EMAIL_PROVIDER;
  const settings = readProviderSettings(EMAIL_PROVIDERS, values, env);
  const { servers, reportsDeliveries }: { servers: MailServers; reportsDeliveries: boolean } = settings[provider];
  return {
    ...settings,
    provider,
    /** True if email is stored for development instead of sent. */
    captures: EMAIL_PROVIDERS[provider].captures,
    servers,
    /**
     * True if the provider reports each delivery. Otherwise every sent email that did not bounce counts as delivered.
     */
    reportsDeliveries,
    /** The size in bytes of the largest message that the provider accepts. Null if the service knows no limit. */
    maxMessageBytes: EMAIL_PROVIDERS[provider].maxMessageBytes,
    dkimSign: values.DKIM_SIGN,
    returnPathDomain: values.RETURN_PATH_DOMAIN?.toLowerCase(),
    spfInclude: values.SPF_INCLUDE,
  };
}

/** Returns the missing variable that the chosen provider requires. Undefined if none is missing. */
export function findMissingEmailVariable(email: ReturnType<typeof readEmailSettings>): string | undefined {
  return findMissingVariable(EMAIL_PROVIDERS[email.provider], email[email.provider]);
}

/** Returns the values of `EMAIL_PROVIDER` that send email instead of capturing it, for an error message. */
export function describeSendingProviders(): string {
  return SENDING.flatMap((kind) => EMAIL_PROVIDERS[kind].advice ?? []).join(', or ');
}
