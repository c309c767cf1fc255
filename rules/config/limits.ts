import { EMAIL_PROVIDERS } from '../emails/email-providers.ts';
import { wholeNumber } from './texts.ts';
import type { ValuesOf, Variables } from './variable.ts';

const MB = 1024 * 1024;
/** The maximum size of a message. The service builds no larger message, even if the provider would accept it. */
const MESSAGE_MAX_BYTES = 40 * MB;
/** The bytes of a message that are reserved for the text of the email. */
const TEXT_BYTES = MB;
/** Base64 encodes 57 bytes as a line of 76 characters and a line end. */
const BASE64_SHARE = 57 / 78;
/** The highest value of `ATTACHMENTS_MAX_MB`: 28 MB of files, which take 38.3 MB of a message as Base64. */
const ATTACHMENTS_LIMIT_MB = maxAttachmentsMb(MESSAGE_MAX_BYTES);

/** Variables for limits of each project, and for the attachments of an email. */
export const LIMITS = {
  RATE_LIMIT_PER_MINUTE: {
    schema: wholeNumber(0, 1_000_000_000),
    takes: 'a whole number, 0 for no limit',
    default: '1000',
    about: 'API requests per minute and project; `0` means no limit.',
  },
  PUBLIC_RATE_LIMIT_PER_MINUTE: {
    schema: wholeNumber(0, 1_000_000_000),
    takes: 'a whole number, 0 for no limit',
    default: '1000',
    about:
      'Requests per minute with the public key of a project, separate from its other requests; `0` means no limit. Limits of 300 per caller and 100 per contact apply as well.',
  },
  SEND_RATE_PER_SECOND: {
    schema: wholeNumber(0, 1_000_000_000),
    takes: 'a whole number, 0 for no limit',
    default: '0',
    defaultText: '`0` (no limit)',
    about: 'Emails per second and project, over all workers together; `0` means no limit.',
  },
  ATTACHMENTS_MAX_MB: {
    schema: wholeNumber(1, ATTACHMENTS_LIMIT_MB),
    takes: `a whole number from 1 to ${ATTACHMENTS_LIMIT_MB}`,
    default: '10',
    about: `Maximum size of the attachments of an email together, decoded, in MB. The limit of request bodies grows with this value, and is 16 MB for 10. A message is at most ${MESSAGE_MAX_BYTES / MB} MB. Providers have limits too: ${describeProviderSizes()}.`,
  },
  PROJECT_CPU_MS_PER_SECOND: {
    schema: wholeNumber(0, 1_000_000),
    takes: 'a whole number, 0 for no limit',
    default: '250',
    about:
      'Processor time of one project in one process, in milliseconds per second: content with loops or costly filters, previews, files, large lists. Work beyond it waits.',
  },
} as const satisfies Variables;

/** Returns the limits of each project, and of the attachments of an email. */
export function readLimitSettings(values: ValuesOf<typeof LIMITS>) {
  return {
    /** Requests per minute and project. 0 means no limit. */
    rateLimitPerMinute: values.RATE_LIMIT_PER_MINUTE,
    /** Requests per minute with a project's public key. 0 means no limit. */
    publicRateLimitPerMinute: values.PUBLIC_RATE_LIMIT_PER_MINUTE,
    /** Emails per second and project over all workers. 0 means no limit. */
    sendRatePerSecond: values.SEND_RATE_PER_SECOND,
    /** Total decoded size of an email's attachments. */
    attachmentsMaxBytes: values.ATTACHMENTS_MAX_MB * MB,
    /** Processor time of one project in one process, in milliseconds per second. 0 means no limit. */
    projectCpuMsPerSecond: values.PROJECT_CPU_MS_PER_SECOND,
  };
}

/**
 * Returns an error message if this many MB of attachments do not fit into the largest message that the chosen provider
 * accepts. Undefined if they fit.
 */
export function findAttachmentsError(
  attachmentsMaxMb: number,
  { provider, maxMessageBytes }: { provider: string; maxMessageBytes: number | null },
): string | undefined {
  if (maxMessageBytes === null) return undefined;
  const limitMb = maxAttachmentsMb(maxMessageBytes);
  if (attachmentsMaxMb <= limitMb) return undefined;
  return `ATTACHMENTS_MAX_MB must be at most ${limitMb}, because EMAIL_PROVIDER is ${provider}, which takes messages of ${maxMessageBytes / MB} MB.`;
}

/** Returns how many MB of decoded files fit into a message together with the text of the email. */
function maxAttachmentsMb(messageBytes: number): number {
  return Math.floor(((messageBytes - TEXT_BYTES) * BASE64_SHARE) / MB);
}

function describeProviderSizes(): string {
  const bounded = Object.entries(EMAIL_PROVIDERS).flatMap(([kind, { maxMessageBytes }]) =>
    maxMessageBytes === null ? [] : `\`${kind}\` takes messages of ${maxMessageBytes / MB} MB`,
  );
  return bounded.join(', ');
}
