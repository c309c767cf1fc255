import type { SmtpRefusal } from './types.ts';

/** The server refused the session: its greeting, EHLO, STARTTLS or the credentials. */
export class SmtpHandshakeError extends Error {
  override name = 'SmtpHandshakeError';
  readonly refusal: SmtpRefusal;

  constructor(refusal: SmtpRefusal) {
    super(`${refusal.stage} refused: ${refusal.code} ${refusal.text}`);
    this.refusal = refusal;
  }
}
