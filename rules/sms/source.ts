/** The causes of an SMS: an API request, or a step of a workflow. The names are the same as for emails. */
export const SMS_SOURCES = ['TRANSACTIONAL', 'WORKFLOW'] as const;
export type SmsSourceType = (typeof SMS_SOURCES)[number];
