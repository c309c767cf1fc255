import spellChecker from '@zootools/email-spell-checker';
import type { Dns, DnsAnswer, MxRecord } from '../domains/dns.ts';
import { isDisposableDomain } from './disposable-domains.ts';
import { emailDomain, emailLocalPart, normalizeEmail } from './email-address.ts';
import { FREE_MAIL_DOMAINS, isUnder, MISSPELLED_ENDINGS, REAL_LOOKALIKES, RELAY_DOMAINS } from './email-domains.ts';

/** Facts about an address that are known without sending to it. Source: contract §10.4 Verification. */
export interface EmailVerification {
  email: string;
  /**
   * True if the domain exists, accepts email and is not disposable. A missing DNS response makes no address invalid.
   */
  valid: boolean;
  isDisposable: boolean;
  /** An address of a relay service that forwards to another mailbox. */
  isAlias: boolean;
  isTypo: boolean;
  isPlusAddressed: boolean;
  isPersonalEmail: boolean;
  /** Whether the domain or its zone has NS records. */
  domainExists: boolean;
  /** Whether the domain has A or AAAA records; informational. */
  hasWebsite: boolean;
  hasMxRecords: boolean;
  suggestedEmail?: string;
  /** Short sentences that explain the result. */
  reasons: string[];
}

/**
 * Checks a well-formed address by lists and the DNS. `dns` limits each lookup, and the lookups of one step run
 * concurrently.
 */
export async function verifyEmail(dns: Dns, address: string): Promise<EmailVerification> {
  const email = normalizeEmail(address);
  const domain = emailDomain(email);
  const [ns, mx, website] = await Promise.all([findZone(dns, domain), dns.mx(domain), dns.addresses(domain)]);
  const isAlias = isUnder(domain, RELAY_DOMAINS);
  // The list includes some relays, but their addresses are not disposable.
  const isDisposable = !isAlias && isDisposableDomain(domain);
  const suggestedEmail = suggestionFor(email, domain);
  const traits = {
    isDisposable,
    isAlias,
    isTypo: suggestedEmail !== undefined,
    isPlusAddressed: emailLocalPart(email).includes('+'),
    isPersonalEmail: FREE_MAIL_DOMAINS.has(domain),
  };
  const delivery = judgeDelivery({ ns, mx, website });
  return {
    email,
    valid: delivery.takesEmail && !isDisposable,
    ...traits,
    domainExists: ns.kind === 'found',
    hasWebsite: website.kind === 'found',
    hasMxRecords: mx.kind === 'found' && !isNullMx(mx.records),
    ...(suggestedEmail !== undefined && { suggestedEmail }),
    reasons: [...delivery.reasons, ...traitReasons(traits, suggestedEmail)],
  };
}

/**
 * NS records are at the top of a zone. For a name inside a zone (`mail.example.com`), the records of its parents
 * count.
 */
async function findZone(dns: Dns, domain: string): Promise<DnsAnswer<string>> {
  const own = await dns.ns(domain);
  if (own.kind !== 'absent' || !own.nameExists) return own;
  const parents: string[] = [];
  for (let name = domain; name.split('.').length > 2; ) {
    name = name.slice(name.indexOf('.') + 1);
    parents.push(name);
  }
  const answers = await Promise.all(parents.map((name) => dns.ns(name)));
  return answers.find(({ kind }) => kind === 'found') ?? answers.find(({ kind }) => kind === 'fault') ?? own;
}

interface DomainAnswers {
  ns: DnsAnswer<string>;
  mx: DnsAnswer<MxRecord>;
  website: DnsAnswer<string>;
}

/**
 * Tells whether email can be delivered: by MX records, else by the domain's address (RFC 5321 §5.1). A null MX means
 * no (RFC 7505).
 */
function judgeDelivery({ ns, mx, website }: DomainAnswers): { takesEmail: boolean; reasons: string[] } {
  const reasons: string[] = [];
  const fault = [ns, mx, website].find((answer) => answer.kind === 'fault');
  if (fault) reasons.push(`The DNS could not be asked about everything: ${fault.reason}.`);
  if (ns.kind === 'absent') return { takesEmail: false, reasons: [...reasons, 'The domain does not exist.'] };
  if (mx.kind === 'found' && isNullMx(mx.records)) {
    return { takesEmail: false, reasons: [...reasons, 'The domain says that it takes no mail.'] };
  }
  if (mx.kind === 'absent' && website.kind === 'absent') {
    return { takesEmail: false, reasons: [...reasons, 'The domain has no mail servers.'] };
  }
  if (mx.kind === 'absent' && website.kind === 'found') {
    reasons.push('The domain has no MX records; mail goes to its address.');
  }
  return { takesEmail: true, reasons };
}

function isNullMx(records: MxRecord[]): boolean {
  return records.every(({ exchange }) => exchange === '');
}

/** Returns the corrected address if its domain is similar to a well-known one or has a misspelled ending. */
function suggestionFor(email: string, domain: string): string | undefined {
  if (FREE_MAIL_DOMAINS.has(domain) || REAL_LOOKALIKES.has(domain) || isUnder(domain, RELAY_DOMAINS)) return undefined;
  const near = spellChecker.run({ email })?.domain.toLowerCase();
  // The library also suggests me.com for acme.com, mail.com for tail.com, and a known ending for any unknown one. These
  // are not typing errors.
  const isSlip = near !== undefined && FREE_MAIL_DOMAINS.has(near) && Math.abs(near.length - domain.length) <= 1;
  const meant = isSlip && near !== 'mail.com' ? near : withEnding(domain);
  return meant === undefined || meant === domain ? undefined : `${emailLocalPart(email)}@${meant}`;
}

function withEnding(domain: string): string | undefined {
  if (domain.endsWith('.co') && FREE_MAIL_DOMAINS.has(`${domain}m`)) return `${domain}m`;
  const dot = domain.lastIndexOf('.');
  const ending = MISSPELLED_ENDINGS[domain.slice(dot + 1)];
  return ending && `${domain.slice(0, dot)}.${ending}`;
}

function traitReasons(
  traits: { isDisposable: boolean; isAlias: boolean; isPlusAddressed: boolean },
  suggestedEmail: string | undefined,
): string[] {
  return [
    traits.isDisposable && 'The domain is one for disposable addresses.',
    traits.isAlias && 'The address forwards to another mailbox.',
    traits.isPlusAddressed && 'The address has a plus tag.',
    suggestedEmail !== undefined && `This may be a typing error for ${suggestedEmail}.`,
  ].filter((reason) => typeof reason === 'string');
}
