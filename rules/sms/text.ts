import { type ContentSource, compileContent } from '../content/content.ts';
import { TemplateError } from '../content/template-error.ts';

/**
 * The maximum length of an SMS in UTF-16 units. An SMS of this length has at least 11 parts in GSM 7-bit, and 24 in
 * UCS-2.
 */
export const SMS_MAX_CHARS = 1_600;

/** Returns the text of an SMS as a content to render: plain text with Liquid, without tracking and footer. */
export function toSmsContent(text: string): ContentSource {
  return { subject: '', body: '', text, type: 'TRANSACTIONAL', trackOpens: false, trackClicks: false };
}

/**
 * Returns an error message, with the position of the error, if the text of an SMS is not a valid template. Undefined if
 * it is valid. A text that takes too long to compile is not valid.
 */
export function findSmsTextError(text: string): string | undefined {
  try {
    compileContent(toSmsContent(text));
    return undefined;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return `${error.message} (line ${error.line}, column ${error.column})`;
  }
}

/** Returns an error message if a rendered text cannot be sent as an SMS, else undefined. */
export function findSmsBodyError(body: string): string | undefined {
  if (body.trim() === '') return 'the text renders to nothing';
  if (body.length <= SMS_MAX_CHARS) return undefined;
  return `the text renders to ${body.length} characters; an SMS has at most ${SMS_MAX_CHARS}`;
}
