import { untrustedPiece, untrustedSubject, untrustedText, untrustedValue } from './untrusted-text.ts';

/**
 * The place of an interpolated value. `link` and `source`: the start of the address of a link or an image. `address`: a
 * later part of an address. `markup`: the text of a tag, a style or a comment. `text` and `subject`: text of a body or
 * a subject; `piece` and `subjectPiece`: the same, directly beside other text.
 */
export type GuardKind = 'link' | 'source' | 'address' | 'markup' | TextKind;
export type TextKind = 'text' | 'piece' | 'subject' | 'subjectPiece';

const CLEANERS: Record<TextKind, (text: string) => string> = {
  text: untrustedText,
  piece: untrustedPiece,
  subject: untrustedSubject,
  subjectPiece: (text) => untrustedPiece(untrustedSubject(text)),
};

const LINK_SCHEME = /^(?:https?:|mailto:|tel:)/i;
const SOURCE_SCHEME = /^(?:https?:|cid:)/i;

/**
 * Returns the value in a form that is safe in this context. An address that starts with a value leads only to
 * http(s), mailto and tel (http(s) and cid for images), else to `#`, so data can never be a script. An untrusted
 * value is never part of an address or of markup, and its text is cleaned.
 */
export function guardValue(value: string, kind: GuardKind, untrusted: boolean): string {
  switch (kind) {
    case 'link':
      return !untrusted && LINK_SCHEME.test(value.trimStart()) ? value : '#';
    case 'source':
      return !untrusted && SOURCE_SCHEME.test(value.trimStart()) ? value : '';
    case 'address':
    case 'markup':
      return untrusted ? '' : value;
    default:
      return untrusted ? CLEANERS[kind](value) : value;
  }
}

/** Cleans all text of an untrusted value for a text context. Other contexts get it unchanged, and refuse it. */
export function cleanFor(kind: GuardKind, value: unknown): unknown {
  return isTextKind(kind) ? untrustedValue(value, CLEANERS[kind]) : value;
}

/** Tells whether the context shows values as text. All other contexts refuse untrusted values. */
export function isTextKind(kind: GuardKind): kind is TextKind {
  return Object.hasOwn(CLEANERS, kind);
}
