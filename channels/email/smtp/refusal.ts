import { isLoginCode, isSessionStage, type SessionStage } from '../../../rules/emails/refusal.ts';
import type { SmtpRefusal } from './types.ts';

const ENHANCED = /^([245]\.\d{1,3}\.\d{1,3})(?=\s|$)/;

/** What is kept of the server's words: more is never an explanation, and they are stored with the email. */
const MAX_TEXT = 2000;

/**
 * A server's refusal as a value. Only a 5xx about the message itself is for good: a closed door says nothing about it.
 */
export function refusal(askedAt: SessionStage, code: number, text: string): SmtpRefusal {
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
