import { z } from 'zod';
import type { ProviderConfig, SettingsOf } from '../config/provider.ts';
import { httpUrl, list, url } from '../config/texts.ts';
import type { Variables } from '../config/variable.ts';

const MB = 1024 * 1024;

/** The servers to which email is handed over. */
export type MailServers =
  /** Email is stored instead of sent. */
  | { readonly whose: 'nobody' }
  /** An SMTP server that the deployment names in SMTP_URL. */
  | { readonly whose: 'deployment'; readonly url: string | undefined }
  | ProviderServers;

/** The provider's own servers, which deliver email to the receivers. */
export interface ProviderServers {
  readonly whose: 'provider';
  readonly owner: string;
  /** The name of the service. */
  readonly title: string;
  /** An address of the provider that responds over HTTP. */
  readonly url: string;
}

/** Traits of an email provider that the rest of the service needs, so that only the provider's own files name it. */
interface EmailProviderTraits {
  /**
   * How to choose the provider with `EMAIL_PROVIDER`, for the text of a remedy. Null if no remedy should suggest it.
   */
  readonly advice: string | null;
  /** True if it stores email for development instead of sending it. */
  readonly captures: boolean;
  /** True if its callbacks identify an email by the provider's own id, so that the ids must be stored. */
  readonly tellsById: boolean;
  /** Header fields that it replaces, which would break a signature over them. */
  readonly rewrittenFields: readonly string[];
  /**
   * Prefixes of header names, in lower case, by which an email would control the operator's account with the
   * provider: identities, settings, webhooks. No tenant may set them, whichever provider is chosen.
   */
  readonly controlHeaders: readonly string[];
  /** The largest message that it accepts, in wire bytes. Null if a server of the deployment decides. */
  readonly maxMessageBytes: number | null;
  /** How SPF names the hosts that send its email. Null if the deployment decides. */
  readonly spf: string | null;
}

interface EmailSettings {
  readonly servers: MailServers;
  /** Whether it reports each delivery. A mail server reports only failures. */
  readonly reportsDeliveries: boolean;
}

/**
 * All email providers with their variables and traits, in the order of the documentation. How a provider sends is in
 * `channels/email/providers.ts`, its callbacks are in `api/routes/provider-callbacks/routes.ts`.
 */
export const EMAIL_PROVIDERS = {
  capture: provider({
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
  smtp: provider({
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
  ses: provider({
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
        about: "Region of Amazon SES; credentials come from AWS's own variables.",
      },
      SES_ENDPOINT: {
        schema: httpUrl,
        takes: 'an http:// or https:// address',
        defaultText: "AWS's own",
        about: 'Another server that speaks the SES API (tests).',
      },
      SNS_TOPIC_ARNS: {
        schema: list(z.string().regex(/^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w.-]+$/)),
        takes: 'a comma-separated list of SNS topic ARNs',
        default: '',
        defaultText: 'none',
        about: 'Topics whose SES notifications are taken at `POST /webhooks/sns`.',
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
/** The settings of every email provider by its kind. */
export type EmailProviderSettings = SettingsOf<typeof EMAIL_PROVIDERS>;

function provider<const V extends Variables, S extends EmailSettings>(
  declared: EmailProviderTraits & ProviderConfig<V, S>,
) {
  return declared;
}
