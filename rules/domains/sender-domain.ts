import { isIPv4, isIPv6 } from 'node:net';
import { isLoopbackHost } from '../access/loopback.ts';
import { EMAIL_PROVIDERS, type EmailProviderKind } from '../emails/email-providers.ts';
import { dkimRecordValue } from './dkim-key.ts';
import type { Dns, DnsAnswer, MxRecord } from './dns.ts';
import { toAsciiDomain } from './domain-name.ts';

export const RECORD_PURPOSES = ['DKIM', 'SPF', 'DMARC', 'RETURN_PATH', 'INBOUND'] as const;
export type RecordPurpose = (typeof RECORD_PURPOSES)[number];
export type DomainStatus = 'PENDING' | 'VERIFIED' | 'FAILED';

/**
 * Result of a check, undefined for records without a DNS response. `returnPathHost` is the host of the domain that
 * receives returned mail. Without it, email uses the domain itself as the envelope domain, since receivers refuse a
 * sender whose host the DNS does not know.
 */
export type FoundRecords = Partial<Record<RecordPurpose, boolean>> & { returnPathHost?: string | null };

/**
 * Found values of each record, as text. Undefined without a DNS response. `apexMx` are the servers that receive the
 * domain's own mail. `parentDmarc` are the policies of the domains above it, which cover it too.
 */
export type SeenRecords = Partial<Record<RecordPurpose | 'apexMx' | 'parentDmarc', string[]>>;

export interface CheckedRecords {
  found: FoundRecords;
  seen: SeenRecords;
}

export interface DnsRecord {
  purpose: RecordPurpose;
  type: 'TXT' | 'MX';
  name: string;
  value: string;
  /** True if the domain is not verified without this record. */
  required: boolean;
  found: boolean;
  /** Values found at the last check. Null if the DNS never responded. */
  seen: string[] | null;
  /** Warning about publishing this record. Null if there is no warning. */
  warning: string | null;
}

/** The facts from which the records of a domain are built. */
export interface RecordSource {
  domain: string;
  selector: string;
  publicKey: string;
  /** The host that sends this service's email and receives returned email. */
  mailHost: string;
  /** The host of the envelope sender if it is the same for all domains. */
  returnPathDomain: string | undefined;
  /** How SPF names the hosts of the relay, such as `spf.relay.example`. */
  spfInclude: string | undefined;
  provider: EmailProviderKind;
}

/**
 * A domain whose key is missing in the DNS for this long is no longer verified. One wrong response must not stop all
 * email.
 */
const GRACE_HOURS = 24;
/** A new domain whose records are not published by then is FAILED. It is still checked. */
const PENDING_HOURS = 72;
const HOUR_MS = 3_600_000;
/** Maximum number of values shown per record. */
const SEEN_MAX = 20;
const SEEN_MAX_CHARS = 1_000;

/**
 * Returns a domain in the form in which it is stored: lower case, in A-labels, without a final dot. Undefined if the
 * text is not a domain name.
 */
export function normalizeDomain(text: string): string | undefined {
  return toAsciiDomain(text.trim().replace(/\.$/, ''));
}

/**
 * Lists the records to publish. DKIM proves that the domain is the project's, and is the only required record.
 * Source: contract §9.5 Domains.
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
    warning: null,
  });
  const isLocal = isLoopbackHost(mailHost);
  if (isLocal && EMAIL_PROVIDERS[source.provider].captures) return [];
  const mechanism = spfMechanism(source);
  const signature = record('DKIM', 'TXT', `${selector}._domainkey.${domain}`, dkimRecordValue(publicKey));
  const envelopeHost = returnPathHost(source);
  const sender = mechanism === undefined ? [] : [withPresentSpf(record('SPF', 'TXT', envelopeHost, ''), mechanism)];
  const policy = record('DMARC', 'TXT', `_dmarc.${domain}`, 'v=DMARC1; p=none;');
  policy.warning = policyWarning(policy, seen.parentDmarc ?? []);
  if (!isMailServerName(mailHost)) return [signature, ...sender, policy];
  const returned = record('RETURN_PATH', 'MX', envelopeHost, `10 ${mailHost}`);
  const inbound = record('INBOUND', 'MX', inboundHost(domain), `10 ${mailHost}`);
  return [
    signature,
    ...sender,
    policy,
    { ...returned, warning: otherServersWarning(returned) },
    { ...inbound, warning: otherServersWarning(inbound) ?? apexWarning(source, seen.apexMx ?? []) },
  ];
}

/** Returns why records are missing from the list. Null if none are missing. */
export function recordsNote({ mailHost, provider }: Pick<RecordSource, 'mailHost' | 'provider'>): string | null {
  if (isMailServerName(mailHost)) return null;
  if (!isLoopbackHost(mailHost))
    return `There is nothing to publish for a return path or inbound mail: an MX needs a public host name, and PUBLIC_URL has ${mailHost}.`;
  if (EMAIL_PROVIDERS[provider].captures)
    return 'There is nothing to publish: this service runs on this machine only and captures its mail.';
  return 'There is nothing to publish for a return path or inbound mail: PUBLIC_URL leads to this machine only. Set PUBLIC_URL to a public address first.';
}

/** Matches names that only a local network or machine resolves (RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`). */
const LOCAL_NAME = /(?:^|\.)(?:local|localhost|internal|intranet|lan|home|home\.arpa|corp)$/;

/** Tells whether an MX may name the host: it must be a public name, not an address (RFC 5321 §5.1). */
function isMailServerName(host: string): boolean {
  return toAsciiDomain(host) !== undefined && !LOCAL_NAME.test(host);
}

/**
 * Fills in the SPF record. A name may have one SPF record only (RFC 7208 §3.2), so a present record gets our mechanism
 * in front of its own.
 */
function withPresentSpf(record: DnsRecord, mechanism: string): DnsRecord {
  const [present, ...others] = record.seen ?? [];
  if (present === undefined) return { ...record, value: `v=spf1 ${mechanism} ~all` };
  const isComplete = namesMechanism(present, mechanism);
  const value = isComplete ? present : present.trim().replace(/^v=spf1/i, `v=spf1 ${mechanism}`);
  if (others.length > 0)
    return {
      ...record,
      value,
      warning: `${record.name} has ${others.length + 1} SPF records, so none of them counts. Keep only this one.`,
    };
  const warning = isComplete
    ? null
    : `${record.name} has an SPF record (${present}). Replace it with this one, because a second SPF record makes both invalid.`;
  return { ...record, value, warning };
}

function namesMechanism(spf: string, mechanism: string): boolean {
  return spf.toLowerCase().split(/\s+/).includes(mechanism);
}

/** Returns the warning that a policy of a parent domain covers this domain, and that a record here would replace it. */
function policyWarning({ name, found }: DnsRecord, parentDmarc: string[]): string | null {
  if (found || parentDmarc.length === 0) return null;
  return `The policy of a domain above covers this one (${parentDmarc.join(', ')}). Publish ${name} only to replace it here.`;
}

/** Returns the host of the envelope sender, where receivers look up SPF and to which they return email. */
export function returnPathHost({
  returnPathDomain,
  domain,
}: Pick<RecordSource, 'returnPathDomain' | 'domain'>): string {
  return returnPathDomain ?? `bounces.${domain}`;
}

/** Returns the host for inbound email. An MX at the domain itself would redirect the company's own email. */
export function inboundHost(domain: string): string {
  return `in.${domain}`;
}

/**
 * Returns the warning that other servers receive email for a name, so that a record there would share or redirect their
 * email.
 */
function otherServersWarning({ name, value, found, seen }: DnsRecord): string | null {
  const others = (seen ?? []).filter((record) => record.split(' ')[1] !== value.split(' ')[1]);
  if (others.length === 0) return null;
  const state = found ? 'also has' : 'has';
  return `${name} ${state} an MX of another server (${others.join(', ')}): a second one takes a part of its mail.`;
}

function apexWarning({ domain, mailHost }: RecordSource, apexMx: string[]): string | null {
  const others = apexMx.filter((record) => record.split(' ')[1] !== mailHost);
  if (others.length === 0) return null;
  return `${domain} has an MX of its own (${others.join(', ')}): leave it as it is. Only ${inboundHost(domain)} leads here.`;
}

/** Looks up all records in the DNS concurrently, and returns the values that the DNS has for them. */
export async function checkRecords(dns: Dns, source: RecordSource): Promise<CheckedRecords> {
  const { domain, selector, publicKey, mailHost } = source;
  const envelopeHost = returnPathHost(source);
  const [dkim, spf, dmarc, inbound, returnPath, apex, ...parents] = await Promise.all([
    dns.txt(`${selector}._domainkey.${domain}`),
    dns.txt(envelopeHost),
    dns.txt(`_dmarc.${domain}`),
    dns.mx(inboundHost(domain)),
    dns.mx(envelopeHost),
    dns.mx(domain),
    ...parentsOf(domain).map(async (parent) => policiesOf(parent, await dns.txt(`_dmarc.${parent}`))),
  ]);
  const mechanism = spfMechanism(source);
  const leadsHere = ({ exchange }: MxRecord) => exchange === mailHost;
  const asText = (text: string) => text;
  const asMx = ({ priority, exchange }: MxRecord) => `${priority} ${exchange}`;
  return {
    found: {
      DKIM: hasRecord(dkim, (text) => dkimKeyOf(text) === publicKey),
      SPF: hasRecord(spf, (text) => isSpf(text) && mechanism !== undefined && namesMechanism(text, mechanism)),
      DMARC: hasRecord(dmarc, isDmarc),
      RETURN_PATH: hasRecord(returnPath, leadsHere),
      // Earlier versions requested an MX at the domain itself, which still works.
      INBOUND: eitherOf(hasRecord(inbound, leadsHere), hasRecord(apex, leadsHere)),
      ...(source.returnPathDomain === undefined && hostFound(hasRecord(returnPath, leadsHere), envelopeHost)),
    },
    seen: {
      DKIM: seenIn(dkim, asText),
      // The name may have other TXT records, too.
      SPF: seenIn(spf, asText)?.filter(isSpf),
      DMARC: seenIn(dmarc, asText),
      RETURN_PATH: seenIn(returnPath, asMx),
      INBOUND: seenIn(inbound, asMx),
      apexMx: seenIn(apex, asMx),
      parentDmarc: parents.flat(),
    },
  };
}

/** Lists the parents of a domain, without top-level domains: `shop.example.com` has `example.com`. */
function parentsOf(domain: string): string[] {
  const labels = domain.split('.');
  return labels.slice(1, -1).map((_, n) => labels.slice(n + 1).join('.'));
}

function policiesOf(parent: string, answer: DnsAnswer<string>): string[] {
  return (seenIn(answer, (text) => text) ?? []).filter(isDmarc).map((text) => `_dmarc.${parent}: ${text}`);
}

const isDmarc = (text: string) => /^v=DMARC1\s*(;|$)/i.test(text.trim());

function eitherOf(one: boolean | undefined, other: boolean | undefined): boolean | undefined {
  if (one || other) return true;
  return one === undefined || other === undefined ? undefined : false;
}

function hostFound(found: boolean | undefined, host: string): Pick<FoundRecords, 'returnPathHost'> {
  return found === undefined ? {} : { returnPathHost: found ? host : null };
}

/** Stored state of a domain's checks. */
export interface DomainCheckState {
  status: DomainStatus;
  found: FoundRecords;
  createdAt: Date;
  /** Since when the checks have found no key in the DNS. */
  missingSince: Date | null;
}

/**
 * Returns the state of a domain after a check. A check without a DNS response changes nothing. A domain that is
 * VERIFIED although its key was never found was verified in another way (the development domain), and stays VERIFIED.
 */
export function afterCheck(before: DomainCheckState, checked: FoundRecords, now: Date): DomainCheckState {
  const found: FoundRecords = { ...before.found };
  for (const purpose of RECORD_PURPOSES) if (checked[purpose] !== undefined) found[purpose] = checked[purpose];
  if (checked.returnPathHost !== undefined) found.returnPathHost = checked.returnPathHost;
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

/**
 * Returns the found values as text. A DNS record may contain any text of any size. Characters that Postgres cannot
 * store become a replacement character.
 */
function seenIn<T>(answer: DnsAnswer<T>, asText: (record: T) => string): string[] | undefined {
  if (answer.kind === 'fault') return undefined;
  if (answer.kind === 'absent') return [];
  return answer.records.slice(0, SEEN_MAX).map((record) => printable(asText(record)).slice(0, SEEN_MAX_CHARS));
}

function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cs}]/gu, '\uFFFD');
}

function hasRecord<T>(answer: DnsAnswer<T>, matches: (record: T) => boolean): boolean | undefined {
  if (answer.kind === 'fault') return undefined;
  return answer.kind === 'found' && answer.records.some(matches);
}

/** Returns `p=` of a DKIM record (RFC 6376 §3.6.1) without white space. */
function dkimKeyOf(text: string): string | undefined {
  return /(?:^|;)\s*p\s*=([^;]*)/i.exec(text)?.[1]?.replace(/\s/g, '');
}

function isSpf(text: string): boolean {
  return /^v=spf1(\s|$)/i.test(text);
}

/**
 * Matches addresses of local networks (RFC 1918, RFC 3927, RFC 6598, RFC 4193, RFC 4291), which no DNS record may name.
 */
const PRIVATE_ADDRESS =
  /^(?:10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|f[cd]|fe[89ab])/;

/** Returns how SPF names the hosts that send email. Undefined if only a local network knows them. */
function spfMechanism({ provider, mailHost, spfInclude }: RecordSource): string | undefined {
  const { spf } = EMAIL_PROVIDERS[provider];
  if (spf !== null) return spf;
  if (spfInclude !== undefined) return `include:${spfInclude.toLowerCase()}`;
  if (isMailServerName(mailHost)) return `a:${mailHost}`;
  const address = mailHost.replace(/^\[|\]$/g, '');
  if (isLoopbackHost(mailHost) || PRIVATE_ADDRESS.test(address)) return undefined;
  return isIPv4(address) ? `ip4:${address}` : isIPv6(address) ? `ip6:${address}` : undefined;
}
