/** Where in an SMTP session a refusal came; from `connect` to `auth` it is about the session, later about the message. */
export type SessionStage = 'connect' | 'ehlo' | 'starttls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'message';
