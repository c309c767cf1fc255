/** The causes of an email. INBOUND is a received email. */
export const EMAIL_SOURCES = ['TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND'] as const;
export type EmailSourceType = (typeof EMAIL_SOURCES)[number];

/** Outcomes of an email whose time is stored in the email's row. */
export const EMAIL_HAPPENED = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained'] as const;
export type EmailHappened = (typeof EMAIL_HAPPENED)[number];
