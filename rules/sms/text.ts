import { type ContentSource, compileContent } from '../content/content.ts';
import { TemplateError } from '../content/template-error.ts';

/** The maximum length of an SMS in UTF-16 units: ten parts and a little more. */
export const SMS_MAX_CHARS = 1_600;

/** Returns the text of an SMS step as content for rendering: Liquid without markup, tracking and footer. */
export function smsContent(text: string): ContentSource {
  return { subject: '', body: '', text, type: 'TRANSACTIONAL', trackOpens: false, trackClicks: false };
}

/**
 * Returns why the text of an SMS is not a valid template, with the position of the error. Undefined if it is valid. A
 * text that takes longer to compile than the time limit is not valid.
 */
export function smsTextFault(text: string): string | undefined {
  try {
    compileContent(smsContent(text));
    return undefined;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return `${error.message} (line ${error.line}, column ${error.column})`;
  }
}

/** Returns why a rendered text cannot be sent as an SMS. Undefined if it can. */
export function smsBodyFault(body: string): string | undefined {
  if (body.trim() === '') return 'the text renders to nothing';
  if (body.length <= SMS_MAX_CHARS) return undefined;
  return `the text renders to ${body.length} characters; an SMS has at most ${SMS_MAX_CHARS}`;
}
