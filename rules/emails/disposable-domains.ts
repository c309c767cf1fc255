import { createRequire } from 'node:module';
import { isDomainListed } from './email-domains.ts';

const require = createRequire(import.meta.url);
/** Well-known domains that are missing from the package's list. */
const MORE = new Set(
  'tempmail.com tempmail.io tempmail.org temp-mail.com temp-mail.io burnermail.io fakeinbox.com'.split(' '),
);
let domains: ReadonlySet<string> | undefined;
let parentDomains: ReadonlySet<string> | undefined;

/**
 * Tells whether a domain provides disposable addresses. The first call reads the list of 120,000 domains (3 MB, 50 ms).
 */
export function isDisposableDomain(domain: string): boolean {
  domains ??= readList('disposable-email-domains/index.json');
  parentDomains ??= readList('disposable-email-domains/wildcard.json');
  return MORE.has(domain) || domains.has(domain) || isDomainListed(domain, parentDomains);
}

function readList(module: string): ReadonlySet<string> {
  const names: unknown = require(module);
  return new Set(Array.isArray(names) ? names.map(String) : []);
}
