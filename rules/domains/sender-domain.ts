import { EMAIL_PROVIDERS, type EmailProviderKind } from '../emails/email-providers.ts';
import { dkimRecordValue } from './dkim-key.ts';
import type { Dns, DnsAnswer, MxRecord } from './dns.ts';
import { toAsciiDomain } from './domain-name.ts';

export const RECORD_PURPOSES = ['DKIM', 'SPF', 'DMARC', 'RETURN_PATH', 'INBOUND'] as const;
export type RecordPurpose = (typeof RECORD_PURPOSES)[number];
export type DomainStatus = 'PENDING' | 'VERIFIED' | 'FAILED';

/** What a check found; undefined where the DNS gave no answer. */
export type FoundRecords = Partial<Record<RecordPurpose, boolean>>;

/** What the DNS has in the place of each record, as text; undefined where it gave no answer. */
export type SeenRecords = Partial<Record<RecordPurpose, string[]>>;

export interface CheckedRecords {
  found: FoundRecords;
  seen: SeenRecords;
}

export interface DnsRecord {
  purpose: RecordPurpose;
  type: 'TXT' | 'MX';
  name: string;
  value: string;
  /** Without it the domain is not verified. */
  required: boolean;
  found: boolean;
  /** What the DNS had in its place when it was last asked; null where it never gave an answer. */
  seen: string[] | null;
}

/** What the records of a domain are made from. */
export interface RecordSource {
  domain: string;
  selector: string;
  publicKey: string;
  /** Host that mail of this service comes from and returned mail goes to. */
  mailHost: string;
  /** Host of the envelope sender where it is not the domain itself. */
  returnPathDomain: string | undefined;
  provider: EmailProviderKind;
}

/**
 * A domain that does not show its key for this long is not verified any more: one faulty answer must not stop all mail.
 */
const GRACE_HOURS = 24;
/** A new domain that has not been published by then has been given up. It is checked all the same. */
const PENDING_HOURS = 72;
const HOUR_MS = 3_600_000;
/** Of what the DNS has in the place of a record: more is never one of ours. */
const SEEN_MAX = 20;
const SEEN_MAX_CHARS = 1_000;

/** The form in which a domain is stored: lower case, in A-labels, without a dot at its end; undefined for text that is no domain name. */
export function normalizeDomain(text: string): string | undefined {
  return toAsciiDomain(text.trim().replace(/\.$/, ''));
}

/**
 * The records to publish. DKIM proves that the domain is the project's, and is all that is required.
 * Source: contract §9.5.
 */
export function dnsRecords(source: RecordSource, found: FoundRecords, seen: SeenRecords = {}): DnsRecord[] {
  const { domain, selector, publicKey, mailHost } = source;
  const record = (purpose: RecordPurpose, type: 'TXT' | 'MX', name: string, value: string): DnsRecord => ({
    purpose,
    type,
    name,
    value,
    required: purpose === 'DKIM',
    found: found[purpose] ?? false,
    seen: seen[purpose] ?? null,
  });
  return [
    record('DKIM', 'TXT', `${selector}._domainkey.${domain}`, dkimRecordValue(publicKey)),
    record('SPF', 'TXT', domain, `v=spf1 ${spfMechanism(source)} ~all`),
    record('DMARC', 'TXT', `_dmarc.${domain}`, 'v=DMARC1; p=none;'),
    record('RETURN_PATH', 'MX', source.returnPathDomain ?? domain, `10 ${mailHost}`),
    record('INBOUND', 'MX', domain, `10 ${mailHost}`),
  ];
}

/** Looks for the records in the DNS, all at once. */
export async function findRecords(dns: Dns, source: RecordSource): Promise<FoundRecords> {
  return (await checkRecords(dns, source)).found;
}

/** As `findRecords`, with what the DNS has in their place: who published another value sees which. */
export async function checkRecords(dns: Dns, source: RecordSource): Promise<CheckedRecords> {
  const { domain, selector, publicKey, mailHost } = source;
  const [dkim, own, dmarc, inbound, returnPath] = await Promise.all([
    dns.txt(`${selector}._domainkey.${domain}`),
    dns.txt(domain),
    dns.txt(`_dmarc.${domain}`),
    dns.mx(domain),
    dns.mx(source.returnPathDomain ?? domain),
  ]);
  const leadsHere = ({ exchange }: MxRecord) => exchange === mailHost;
  const isDmarc = (text: string) => /^v=DMARC1\s*(;|$)/i.test(text.trim());
  const asText = (text: string) => text;
  const asMx = ({ priority, exchange }: MxRecord) => `${priority} ${exchange}`;
  return {
    found: {
      DKIM: has(dkim, (text) => dkimKeyOf(text) === publicKey),
      SPF: has(own, (text) => isSpf(text) && text.toLowerCase().split(/\s+/).includes(spfMechanism(source))),
      DMARC: has(dmarc, isDmarc),
      RETURN_PATH: has(returnPath, leadsHere),
      INBOUND: has(inbound, leadsHere),
    },
    seen: {
      DKIM: seenIn(dkim, asText),
      // The name holds texts of others besides.
      SPF: seenIn(own, asText)?.filter(isSpf),
      DMARC: seenIn(dmarc, asText),
      RETURN_PATH: seenIn(returnPath, asMx),
      INBOUND: seenIn(inbound, asMx),
    },
  };
}

/** What is kept of a domain's checks. */
export interface Standing {
  status: DomainStatus;
  found: FoundRecords;
  createdAt: Date;
  /** Since when the key is missing in the DNS, as far as the checks know. */
  missingSince: Date | null;
}

/**
 * The standing after a check. A DNS that gave no answer changes nothing. A domain whose key was never seen, but which
 * is VERIFIED, was verified by other means (the development domain) and stays so.
 */
export function afterCheck(before: Standing, checked: FoundRecords, now: Date): Standing {
  const found: FoundRecords = { ...before.found };
  for (const purpose of RECORD_PURPOSES) if (checked[purpose] !== undefined) found[purpose] = checked[purpose];
  if (checked.DKIM === undefined) return { ...before, found };
  if (checked.DKIM) return { ...before, found, status: 'VERIFIED', missingSince: null };
  if (before.status !== 'VERIFIED') {
    const givenUp = now.getTime() - before.createdAt.getTime() > PENDING_HOURS * HOUR_MS;
    return { ...before, found, status: givenUp ? 'FAILED' : before.status };
  }
  if (before.found.DKIM === undefined) return before;
  const missingSince = before.missingSince ?? now;
  const lost = now.getTime() - missingSince.getTime() >= GRACE_HOURS * HOUR_MS;
  return { ...before, found, missingSince, status: lost ? 'FAILED' : 'VERIFIED' };
}

/** A DNS may hold anything, of any size: what no text of Postgres may hold is shown as a replacement character. */
function seenIn<T>(answer: DnsAnswer<T>, asText: (record: T) => string): string[] | undefined {
  if (answer.kind === 'fault') return undefined;
  if (answer.kind === 'absent') return [];
  return answer.records.slice(0, SEEN_MAX).map((record) => printable(asText(record)).slice(0, SEEN_MAX_CHARS));
}

function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cs}]/gu, '\uFFFD');
}

function has<T>(answer: DnsAnswer<T>, matches: (record: T) => boolean): boolean | undefined {
  if (answer.kind === 'fault') return undefined;
  return answer.kind === 'found' && answer.records.some(matches);
}

/** `p=` of a DKIM record (RFC 6376 §3.6.1); white space in it does not count. */
function dkimKeyOf(text: string): string | undefined {
  return /(?:^|;)\s*p\s*=([^;]*)/i.exec(text)?.[1]?.replace(/\s/g, '');
}

function isSpf(text: string): boolean {
  return /^v=spf1(\s|$)/i.test(text);
}

function spfMechanism({ provider, mailHost }: Pick<RecordSource, 'provider' | 'mailHost'>): string {
  const { spf } = EMAIL_PROVIDERS[provider];
  if (spf !== null) return spf;
  return /^[\d.]+$/.test(mailHost) ? `ip4:${mailHost}` : `a:${mailHost}`;
}
