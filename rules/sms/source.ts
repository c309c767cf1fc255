/** What causes an SMS: a call of the API, or a step of a workflow. The words are those of mails. */
export const SMS_SOURCES = ['TRANSACTIONAL', 'WORKFLOW'] as const;
export type SmsSourceType = (typeof SMS_SOURCES)[number];
