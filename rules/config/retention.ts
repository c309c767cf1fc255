import { wholeNumber } from './texts.ts';
import type { ValuesOf, Variables } from './variable.ts';

/** Returns the schema, the accepted values and the default of a variable for a retention period. */
const retentionDays = <D extends string>(days: D) => ({
  schema: wholeNumber(0, 36_500),
  takes: 'a number of days from 0 to 36500 (0 keeps forever)',
  default: days,
});

/** Variables for retention periods. */
export const RETENTION = {
  WEBHOOK_DELIVERY_RETENTION_DAYS: {
    ...retentionDays('30'),
    about: 'Deliveries to webhook endpoints are deleted this long after they ended.',
  },
  ATTACHMENT_RETENTION_DAYS: {
    ...retentionDays('7'),
    about: 'Contents of attachments are deleted this long after the last email with them; name, type and size stay.',
  },
  EXECUTION_STEP_RETENTION_DAYS: {
    ...retentionDays('180'),
    about: 'The steps of executions are deleted this long after the execution ended; the executions stay.',
  },
  EVENT_RETENTION_DAYS: {
    ...retentionDays('0'),
    about: 'Events are deleted at this age; segments, statistics and the activity feed then contain only newer events.',
  },
  JOB_RETENTION_DAYS: {
    ...retentionDays('90'),
    about: 'Imports and bulk jobs are deleted this long after they ended.',
  },
  AUDIT_LOG_RETENTION_DAYS: {
    ...retentionDays('0'),
    about: 'Entries of the audit log are deleted at this age.',
  },
  REQUEST_LOG_RETENTION_DAYS: {
    ...retentionDays('14'),
    about: 'Entries of the log of requests are deleted at this age.',
  },
} as const satisfies Variables;

/** Retention periods in days. 0 keeps rows forever. */
export type Retention = ReturnType<typeof readRetentionSettings>;

/** Returns the retention periods in days. 0 keeps rows forever. */
export function readRetentionSettings(values: ValuesOf<typeof RETENTION>) {
  return {
    webhookDeliveryDays: values.WEBHOOK_DELIVERY_RETENTION_DAYS,
    attachmentDays: values.ATTACHMENT_RETENTION_DAYS,
    executionStepDays: values.EXECUTION_STEP_RETENTION_DAYS,
    eventDays: values.EVENT_RETENTION_DAYS,
    jobDays: values.JOB_RETENTION_DAYS,
    auditLogDays: values.AUDIT_LOG_RETENTION_DAYS,
    requestLogDays: values.REQUEST_LOG_RETENTION_DAYS,
  };
}
