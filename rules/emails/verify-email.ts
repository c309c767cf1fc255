import spellChecker from '@zootools/email-spell-checker';
import type { Dns, DnsAnswer, MxRecord } from '../domains/dns.ts';
import { isDisposableDomain } from './disposable-domains.ts';
import { emailDomain, emailLocalPart, normalizeEmail } from './email-address.ts';
import {
  FREE_MAIL_DOMAINS,
  isDomainListed,
  MISSPELLED_ENDINGS,
  REAL_LOOKALIKES,
  RELAY_DOMAINS,
} from './email-domains.ts';

/**
 * Facts about an address that the service can find without sending email to it. Source: contract §10.4 Verification.
 */
export interface EmailVerification {
  email: string;
  /**
   * True if the domain exists, accepts email and is not disposable. Also true if the DNS does not respond and the
   * domain is not disposable.
   */
  valid: boolean;
  isDisposable: boolean;
  /** True for an address of an alias service, which forwards email to another mailbox. */
  isAlias: boolean;
  isTypo: boolean;
  isPlusAddressed: boolean;
  isPersonalEmail: boolean;
  /** True if the domain or its zone has NS records. */
  domainExists: boolean;
  /** True if the domain has A or AAAA records. A or AAAA records do not affect `valid` if the domain has MX records. */
  hasWebsite: boolean;
  hasMxRecords: boolean;
  suggestedEmail?: string;
  /** Short sentences that explain the result. */
  reasons: string[];
}

/**
 * Checks a well-formed address by lists of domains and by the DNS. `dns` limits the time of each lookup, and lookups
 * run concurrently.
 */
export async function verifyEmail(dns: Dns, address: string): Promise<EmailVerification> {
  const email = normalizeEmail(address);
  const domain = emailDomain(email);
  const [ns, mx, website] = await Promise.all([findZone(dns, domain), dns.mx(domain), dns.addresses(domain)]);
  const isAlias = isDomainListed(domain, RELAY_DOMAINS);
  // The list of disposable domains includes some alias services, but their addresses are not disposable.
  const isDisposable = !isAlias && isDisposableDomain(domain);
  const suggestedEmail = suggestAddress(email, domain);
  const traits = {
    isDisposable,
    isAlias,
    isTypo: suggestedEmail !== undefined,
    isPlusAddressed: emailLocalPart(email).includes('+'),
    isPersonalEmail: FREE_MAIL_DOMAINS.has(domain),
  };
  const delivery = checkDelivery({ ns, mx, website });
  return {
    email,
    valid: delivery.acceptsEmail && !isDisposable,
    ...traits,
    domainExists: ns.kind === 'found',
    hasWebsite: website.kind === 'found',
    hasMxRecords: mx.kind === 'found' && !isNullMx(mx.records),
    ...(suggestedEmail !== undefined && { suggestedEmail }),
    reasons: [...delivery.reasons, ...listTraitReasons(traits, suggestedEmail)],
  };
}

/**
 * Looks up the NS records of a domain. Only the top of a zone has NS records, so for a name inside a zone
 * (`mail.example.com`), looks up the records of its parents, too.
 */
async function findZone(dns: Dns, domain: string): Promise<DnsAnswer<string>> {
  const ownRecords = await dns.ns(domain);
  if (ownRecords.kind !== 'absent' || !ownRecords.nameExists) return ownRecords;
  const parents: string[] = [];
  for (let name = domain; name.split('.').length > 2; ) {
    name = name.slice(name.indexOf('.') + 1);
    parents.push(name);
  }
  const parentRecords = await Promise.all(parents.map((name) => dns.ns(name)));
  return (
    parentRecords.find(({ kind }) => kind === 'found') ??
    parentRecords.find(({ kind }) => kind === 'fault') ??
    ownRecords
  );
}

interface DomainAnswers {
  ns: DnsAnswer<string>;
  mx: DnsAnswer<MxRecord>;
  website: DnsAnswer<string>;
}

/**
 * Tells whether the domain accepts email: by its MX records, or else by its A or AAAA records (RFC 5321 §5.1). A domain
 * with a null MX accepts no email (RFC 7505).
 */
function checkDelivery({ ns, mx, website }: DomainAnswers): { acceptsEmail: boolean; reasons: string[] } {
  const reasons: string[] = [];
  const fault = [ns, mx, website].find((answer) => answer.kind === 'fault');
  if (fault) reasons.push(`Some DNS lookups failed: ${fault.reason}.`);
  if (ns.kind === 'absent') return { acceptsEmail: false, reasons: [...reasons, 'The domain does not exist.'] };
  if (mx.kind === 'found' && isNullMx(mx.records)) {
    return { acceptsEmail: false, reasons: [...reasons, 'The domain states that it accepts no email.'] };
  }
  if (mx.kind === 'absent' && website.kind === 'absent') {
    return { acceptsEmail: false, reasons: [...reasons, 'The domain has no mail servers.'] };
  }
  if (mx.kind === 'absent' && website.kind === 'found') {
    reasons.push('The domain has no MX records, so email goes to the address of the domain.');
  }
  return { acceptsEmail: true, reasons };
}

function isNullMx(records: MxRecord[]): boolean {
  return records.every(({ exchange }) => exchange === '');
}

/**
 * Returns the corrected address if its domain is similar to a well-known domain, or has a misspelled top-level domain.
 */
function suggestAddress(email: string, domain: string): string | undefined {
  if (FREE_MAIL_DOMAINS.has(domain) || REAL_LOOKALIKES.has(domain) || isDomainListed(domain, RELAY_DOMAINS))
    return undefined;
  const similar = spellChecker.run({ email })?.domain.toLowerCase();
  // The library also suggests me.com for acme.com, mail.com for tail.com, and a well-known ending for any unknown
  // ending. Such domains and endings are not typing errors.
  const isTypo =
    similar !== undefined && FREE_MAIL_DOMAINS.has(similar) && Math.abs(similar.length - domain.length) <= 1;
  const intended = isTypo && similar !== 'mail.com' ? similar : correctEnding(domain);
  return intended === undefined || intended === domain ? undefined : `${emailLocalPart(email)}@${intended}`;
}

function correctEnding(domain: string): string | undefined {
  if (domain.endsWith('.co') && FREE_MAIL_DOMAINS.has(`${domain}m`)) return `${domain}m`;
  const dot = domain.lastIndexOf('.');
  const ending = MISSPELLED_ENDINGS[domain.slice(dot + 1)];
  return ending && `${domain.slice(0, dot)}.${ending}`;
}

function listTraitReasons(
  traits: { isDisposable: boolean; isAlias: boolean; isPlusAddressed: boolean },
  suggestedEmail: string | undefined,
): string[] {
  return [
    traits.isDisposable && 'The domain provides disposable addresses.',
    traits.isAlias && 'The address forwards to another mailbox.',
    traits.isPlusAddressed && 'The address has a plus tag.',
    suggestedEmail !== undefined && `This may be a typing error for ${suggestedEmail}.`,
  ].filter((reason) => typeof reason === 'string');
}
