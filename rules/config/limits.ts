import { wholeNumber } from './texts.ts';
import type { ValuesOf, Variables } from './variable.ts';

/** In base64 with its line ends 38.3 MB; what is left of 40 is for the words of the mail. */
const ATTACHMENTS_MOST_MB = 28;

/** What one project may take of the service. */
export const LIMITS = {
  RATE_LIMIT_PER_MINUTE: {
    schema: wholeNumber(0, 1_000_000_000),
    takes: 'a whole number, 0 for no limit',
    default: '1000',
    about: 'API requests a minute and project; `0` is none.',
  },
  PUBLIC_RATE_LIMIT_PER_MINUTE: {
    schema: wholeNumber(0, 1_000_000_000),
    takes: 'a whole number, 0 for no limit',
    default: '1000',
    about:
      'Requests a minute by the public key of a project, apart from its others; `0` is none. 300 a caller and 100 a contact hold besides.',
  },
  SEND_RATE_PER_SECOND: {
    schema: wholeNumber(0, 1_000_000_000),
    takes: 'a whole number, 0 for no limit',
    default: '0',
    defaultText: '`0` (none)',
    about: 'Mails a second and project, over all workers.',
  },
  ATTACHMENTS_MAX_MB: {
    schema: wholeNumber(1, ATTACHMENTS_MOST_MB),
    takes: `a whole number from 1 to ${ATTACHMENTS_MOST_MB}`,
    default: '10',
    about:
      'Attachments of a mail together, decoded, in MB. More make larger request bodies (16 MB with 10), and the most make a message of 40 MB, which is all that Amazon SES takes.',
  },
  PROJECT_CPU_MS_PER_SECOND: {
    schema: wholeNumber(0, 1_000_000),
    takes: 'a whole number, 0 for no limit',
    default: '250',
    about:
      'What one project may compute in one process, in milliseconds of a processor a second: content with loops or costly filters, previews, files, large lists. What comes beyond waits.',
  },
  TIMERS_PER_SECOND: {
    schema: wholeNumber(0, 1_000_000),
    takes: 'a whole number, 0 for no limit',
    default: '10',
    about:
      'DELAYs and deadlines of WAIT_FOR_EVENT of a project that may end in one second, or as many as Temporal has just been seen to follow with ease, if that is more; who comes beyond ends in a later one.',
  },
} as const satisfies Variables;

/** What one project may take of the service. */
export function limitSettings(values: ValuesOf<typeof LIMITS>) {
  return {
    /** Requests a minute and project; 0 is no limit. */
    rateLimitPerMinute: values.RATE_LIMIT_PER_MINUTE,
    /** Requests a minute by a project's public key; 0 is no limit. */
    publicRateLimitPerMinute: values.PUBLIC_RATE_LIMIT_PER_MINUTE,
    /** Mails a second and project over all workers; 0 is no limit. */
    sendRatePerSecond: values.SEND_RATE_PER_SECOND,
    /** Of a mail together, decoded. */
    attachmentsMaxBytes: values.ATTACHMENTS_MAX_MB * 1024 * 1024,
    /** Of one project in one process; 0 is no limit. */
    projectCpuMsPerSecond: values.PROJECT_CPU_MS_PER_SECOND,
    /** Timers of a project that end in one second; 0 is no limit. */
    timersPerSecond: values.TIMERS_PER_SECOND,
  };
}
