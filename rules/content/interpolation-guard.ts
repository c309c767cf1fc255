import { strangerPiece, strangerSubject, strangerText, strangerValue } from './stranger-text.ts';

/**
 * Where an interpolated value stands: at the start of a link's or image's address, further on in one, in markup itself
 * (a tag's own text, a style, a comment); or as text, in a body or a subject, where `piece` has a neighbour with no
 * space between them.
 */
export type GuardKind = 'link' | 'source' | 'address' | 'markup' | TextKind;
export type TextKind = 'text' | 'piece' | 'subject' | 'subjectPiece';

const CLEANERS: Record<TextKind, (text: string) => string> = {
  text: strangerText,
  piece: strangerPiece,
  subject: strangerSubject,
  subjectPiece: (text) => strangerPiece(strangerSubject(text)),
};

const LINK_SCHEME = /^(?:https?:|mailto:|tel:)/i;
const SOURCE_SCHEME = /^(?:https?:|cid:)/i;

/**
 * The value as it may stand at a place of this kind. An address that begins with a value leads only to http(s), mailto
 * and tel (http(s) and cid for images), else to `#`, so data can never be a script. A value that a stranger brought is
 * never part of an address or of markup, and its text is cleaned.
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
 * What a stranger brought, as a place for text may show it: all texts in it cleaned. Other places have it as it is, and
 * refuse it.
 */
export function cleanFor(kind: GuardKind, value: unknown): unknown {
  return isTextKind(kind) ? strangerValue(value, CLEANERS[kind]) : value;
}

/** Whether values stand there as text; all other places refuse what strangers brought. */
export function isTextKind(kind: GuardKind): kind is TextKind {
  return Object.hasOwn(CLEANERS, kind);
}
