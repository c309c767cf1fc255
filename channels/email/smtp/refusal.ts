import { isLoginCode, isSessionStage, type SessionStage } from '../../../rules/emails/refusal.ts';
import type { SmtpRefusal } from './types.ts';

/** The enhanced code is at the start of each line (RFC 2034 §4). Some servers write it in a later line only, or in brackets. */
const ENHANCED = /^[[(#]?([245]\.\d{1,3}\.\d{1,3})(?=[\s:;,\])<-]|$)/m;

/**
 * The number of characters of a server's reply that are stored with the email. A longer reply explains nothing more.
 */
const MAX_TEXT = 2000;

/**
 * Builds a refusal as a value. Only a 5xx about the message itself is permanent; a refused session says nothing about
 * the message.
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
