import { cleanEachText, cleanUntrustedPiece, cleanUntrustedSubject, cleanUntrustedText } from './untrusted-text.ts';

/**
 * The context of an interpolated value. `link` and `source` are the start of the address of a link or an image, and
 * `address` is a later part of an address. `markup` is the text of a tag, a style or a comment. `text` and `subject`
 * are the text of a body or a subject. `piece` and `subjectPiece` are the same, but the value is directly next to
 * another value.
 */
export type GuardKind = 'link' | 'source' | 'address' | 'markup' | TextKind;
export type TextKind = 'text' | 'piece' | 'subject' | 'subjectPiece';

const CLEANERS: Record<TextKind, (text: string) => string> = {
  text: cleanUntrustedText,
  piece: cleanUntrustedPiece,
  subject: cleanUntrustedSubject,
  subjectPiece: (text) => cleanUntrustedPiece(cleanUntrustedSubject(text)),
};

const LINK_SCHEME = /^(?:https?:|mailto:|tel:)/i;
const SOURCE_SCHEME = /^(?:https?:|cid:)/i;

/**
 * Returns the value in a form that is safe in this context. At the start of a link's address, only http, https, mailto
 * and tel are allowed, and any other value becomes `#`. At the start of an image's address, only http, https and cid
 * are allowed. Data can therefore never be a script. An untrusted value is never part of an address or of markup, and
 * is cleaned in text.
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

/**
 * Cleans all text in an untrusted value if the context is a text. For other contexts, returns the value unchanged,
 * because `guardValue` removes it there.
 */
export function cleanUntrustedValue(kind: GuardKind, value: unknown): unknown {
  return isTextKind(kind) ? cleanEachText(value, CLEANERS[kind]) : value;
}

/** Tells whether the context shows values as text. All other contexts remove untrusted values. */
export function isTextKind(kind: GuardKind): kind is TextKind {
  return Object.hasOwn(CLEANERS, kind);
}
