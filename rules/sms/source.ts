/** Cause of an SMS: an API request, or a step of a workflow. Same names as for emails. */
export const SMS_SOURCES = ['TRANSACTIONAL', 'WORKFLOW'] as const;
export type SmsSourceType = (typeof SMS_SOURCES)[number];
