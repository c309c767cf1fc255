import { z } from 'zod';
import type { ProviderConfig, SettingsOf } from '../config/provider.ts';
import { httpUrl, list, url } from '../config/texts.ts';
import type { Variables } from '../config/variable.ts';

const MB = 1024 * 1024;

/** The servers to which the service sends email. */
export type MailServers =
  /** There is no server: email is stored instead of sent. */
  | { readonly whose: 'nobody' }
  /** An SMTP server that the operator configures in SMTP_URL. */
  | { readonly whose: 'deployment'; readonly url: string | undefined }
  | ProviderServers;

/** The provider's own servers, which deliver email to the receivers. */
export interface ProviderServers {
  readonly whose: 'provider';
  readonly owner: string;
  /** The name of the provider's service, for users. */
  readonly title: string;
  /** An HTTP address of the provider. Connection checks send a request to this address. */
  readonly url: string;
}

/**
 * Traits of an email provider that the rest of the service needs. Code outside the provider's files reads only these
 * traits, and does not mention the provider.
 */
interface EmailProviderTraits {
  /**
   * The value of `EMAIL_PROVIDER` that an error message suggests for this provider. Null if no message should suggest
   * the provider.
   */
  readonly advice: string | null;
  /** True if the provider stores email for development instead of sending it. */
  readonly captures: boolean;
  /** True if the provider's callbacks identify an email by the provider's id. The service then stores these ids. */
  readonly tellsById: boolean;
  /**
   * Header fields that the provider replaces. A DKIM signature must not cover these fields, because the signature would
   * become invalid.
   */
  readonly rewrittenFields: readonly string[];
  /**
   * Prefixes of header names, in lower case, with which an email could control the operator's account at the provider:
   * identities, settings, webhooks. No tenant may set such headers, whichever provider is chosen.
   */
  readonly controlHeaders: readonly string[];
  /**
   * The maximum size of a message that the provider accepts, in bytes on the wire. Null if the limit depends on the
   * operator's server.
   */
  readonly maxMessageBytes: number | null;
  /**
   * The SPF mechanism for the provider's sending hosts. Null if the mechanism depends on the operator's configuration.
   */
  readonly spf: string | null;
}

interface EmailSettings {
  readonly servers: MailServers;
  /** True if the provider reports each delivery. A mail server reports only failures. */
  readonly reportsDeliveries: boolean;
}

/**
 * All email providers with their variables and traits, in the order of the documentation. `channels/email/providers.ts`
 * has the code that sends, and `api/routes/provider-callbacks/routes.ts` the callbacks.
 */
export const EMAIL_PROVIDERS = {
  capture: defineProvider({
    advice: null,
    captures: true,
    tellsById: false,
    rewrittenFields: [],
    controlHeaders: [],
    maxMessageBytes: null,
    spf: null,
    variables: {},
    settings: () => ({ servers: { whose: 'nobody' }, reportsDeliveries: false }),
    needs: () => ({}),
  }),
  smtp: defineProvider({
    advice: 'smtp with SMTP_URL',
    captures: false,
    tellsById: false,
    rewrittenFields: [],
    controlHeaders: [],
    maxMessageBytes: null,
    spf: null,
    variables: {
      SMTP_URL: {
        schema: url('smtp', 'smtps'),
        takes: 'smtp://user:pass@host:port or smtps://user:pass@host:port',
        about:
          'The mail server of `EMAIL_PROVIDER=smtp`, with the options of [configure](operate/configure.md#the-mail-server).',
        secret: true,
      },
    },
    settings: ({ SMTP_URL: url }) => ({ url, servers: { whose: 'deployment', url }, reportsDeliveries: false }),
    needs: (smtp) => ({ SMTP_URL: smtp.url }),
  }),
  ses: defineProvider({
    advice: 'ses',
    captures: false,
    tellsById: true,
    rewrittenFields: ['date', 'message-id'],
    controlHeaders: ['x-ses-'],
    maxMessageBytes: 40 * MB,
    spf: 'include:amazonses.com',
    variables: {
      SES_REGION: {
        schema: z.string().regex(/^[a-z0-9-]+$/),
        takes: 'an AWS region such as eu-west-1',
        defaultText: '`AWS_REGION`',
        about: "Region of Amazon SES. The credentials are read from AWS's own variables.",
      },
      SES_ENDPOINT: {
        schema: httpUrl,
        takes: 'an http:// or https:// address',
        defaultText: "AWS's own",
        about: 'Another server with the SES API (for tests).',
      },
      SNS_TOPIC_ARNS: {
        schema: list(z.string().regex(/^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w.-]+$/)),
        takes: 'a comma-separated list of SNS topic ARNs',
        default: '',
        defaultText: 'none',
        about: 'Topics whose SES notifications are accepted at `POST /webhooks/sns`.',
      },
    },
    settings: (values, env) => {
      const region = values.SES_REGION ?? (env.AWS_REGION || undefined);
      const endpoint = values.SES_ENDPOINT;
      const servers: ProviderServers = {
        whose: 'provider',
        owner: 'Amazon',
        title: `Amazon SES in ${region}`,
        url: endpoint ?? `https://email.${region}.amazonaws.com`,
      };
      const snsTopicArns = values.SNS_TOPIC_ARNS;
      return { region, endpoint, snsTopicArns, servers, reportsDeliveries: snsTopicArns.length > 0 };
    },
    needs: (ses) => ({ SES_REGION: ses.region }),
  }),
};

export type EmailProviderKind = keyof typeof EMAIL_PROVIDERS;
/** The settings of every email provider, by its kind. */
export type EmailProviderSettings = SettingsOf<typeof EMAIL_PROVIDERS>;

function defineProvider<const V extends Variables, S extends EmailSettings>(
  definition: EmailProviderTraits & ProviderConfig<V, S>,
) {
  return definition;
}
