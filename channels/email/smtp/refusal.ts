import { isLoginCode, isSessionStage, type SessionStage } from '../../../rules/emails/refusal.ts';
import type { SmtpRefusal } from './types.ts';

/**
 * Finds the enhanced status code, such as `5.1.1`. The code is at the start of each line (RFC 2034 §4), but some
 * servers write it only in a later line or in brackets.
 */
const ENHANCED = /^[[(#]?([245]\.\d{1,3}\.\d{1,3})(?=[\s:;,\])<-]|$)/m;

/** The maximum length of a server's reply that is stored with the email. A longer reply rarely explains more. */
const MAX_TEXT = 2000;

/**
 * Builds a refusal from a server's reply. A refusal is permanent only if its code is 5xx and it is about the message
 * itself. A refusal of the session, such as of the login, says nothing about the message.
 */
export function buildRefusal(askedAt: SessionStage, code: number, text: string): SmtpRefusal {
  const stage = isLoginCode(code) && !isSessionStage(askedAt) ? 'auth' : askedAt;
  return {
    outcome: 'refused',
    stage,
    permanent: code >= 500 && !isSessionStage(stage),
    code,
    enhanced: ENHANCED.exec(text)?.[1] ?? null,
    text: text.slice(0, MAX_TEXT),
  };
}
