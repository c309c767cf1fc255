/** Whatever looks like an address of a person, a key, a token of ours or a password in a URL. */
// In this order: a URL's password and host would look like an address.
const SECRETS: readonly [RegExp, string][] = [
  [/\b(sk|pk|whsec)_[A-Za-z0-9_+/=-]{6,}/g, '$1_[redacted]'],
  [/:\/\/[^\s/@]+@/g, '://[redacted]@'],
  [/[^\s@"'<>(),;:=/[\]]+@[^\s@"'<>(),;:]+\.[^\s@"'<>(),;:]+/g, '[address]'],
  [/\+\d{8,15}\b/g, '[phone]'],
];

/** A text for the log: without the addresses, keys and passwords that an error message may quote. */
export function redact(text: string): string {
  return SECRETS.reduce((cleaned, [pattern, replacement]) => cleaned.replaceAll(pattern, replacement), text);
}
