import { createRequire } from 'node:module';
import { isUnder } from './email-domains.ts';

const require = createRequire(import.meta.url);
/** Well-known domains that are missing from the package's list. */
const MORE = new Set(
  'tempmail.com tempmail.io tempmail.org temp-mail.com temp-mail.io burnermail.io fakeinbox.com'.split(' '),
);
let exact: ReadonlySet<string> | undefined;
let whole: ReadonlySet<string> | undefined;

/**
 * Tells whether a domain gives out disposable addresses. Reads its list of 120,000 names (3 MB, 50 ms) at the first
 * call.
 */
export function isDisposableDomain(domain: string): boolean {
  exact ??= readList('disposable-email-domains/index.json');
  whole ??= readList('disposable-email-domains/wildcard.json');
  return MORE.has(domain) || exact.has(domain) || isUnder(domain, whole);
}

function readList(module: string): ReadonlySet<string> {
  const names: unknown = require(module);
  return new Set(Array.isArray(names) ? names.map(String) : []);
}
