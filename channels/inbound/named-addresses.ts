import { domainToUnicode } from 'node:url';

/** Returns a pattern that finds an address in a text, with its domain in ASCII or in Unicode. */
export function createAddressPattern(address: string): RegExp {
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1);
  const forms = [...new Set([domain, domainToUnicode(domain) || domain])].map(escapePattern);
  return new RegExp(`(?<![\\w.+-])${escapePattern(address.slice(0, at))}@(?:${forms.join('|')})(?![\\w-]|\\.\\w)`, 'i');
}

/** Tells whether a text contains another email address than the address that `pattern` matches. */
export function containsOtherAddress(text: string, pattern: RegExp): boolean {
  return containsAddress(text.replace(new RegExp(pattern, 'gi'), ' '));
}

/** Tells whether a text contains an email address. */
export function containsAddress(text: string): boolean {
  return /[\w.!#$%&*+/?^`{|}~-]@[a-z0-9]/i.test(text);
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
