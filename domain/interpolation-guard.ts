/**
 * Where an interpolated value stands and cannot be plain text: at the start of a link's or image's address, further on
 * in one, or in markup itself (a tag's own text, a style, a comment).
 */
export type GuardKind = 'link' | 'source' | 'address' | 'markup';

const LINK_SCHEME = /^(?:https?:|mailto:|tel:)/i;
const SOURCE_SCHEME = /^(?:https?:|cid:)/i;

/**
 * The value as it may stand at a place of this kind. An address that begins with a value leads only to http(s), mailto
 * and tel (http(s) and cid for images), else to `#`, so data can never be a script. A value the public key wrote is
 * never part of an address or of markup. Source: decisions §2.
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
  }
}
