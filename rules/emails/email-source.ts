/** What caused an email; INBOUND is one that came in. */
export const EMAIL_SOURCES = ['TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND'] as const;
export type EmailSourceType = (typeof EMAIL_SOURCES)[number];

/** What can have happened to an email, by the instants that its record has of it. */
export const EMAIL_HAPPENED = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained'] as const;
export type EmailHappened = (typeof EMAIL_HAPPENED)[number];
