import { isIPv4, isIPv6 } from 'node:net';
import { isLoopbackHost } from '../access/loopback.ts';
import { EMAIL_PROVIDERS, type EmailProviderKind } from '../emails/email-providers.ts';
import { formatDkimRecord } from './dkim-key.ts';
import type { Dns, DnsAnswer, MxRecord } from './dns.ts';
import { toAsciiDomain } from './domain-name.ts';

export const RECORD_PURPOSES = ['DKIM', 'SPF', 'DMARC', 'RETURN_PATH', 'INBOUND'] as const;
export type RecordPurpose = (typeof RECORD_PURPOSES)[number];
export type DomainStatus = 'PENDING' | 'VERIFIED' | 'FAILED';

/**
 * For each record: whether a check found it in the DNS. Undefined if the DNS did not respond. `returnPathHost` is the
 * host under the domain that receives returned mail. If `returnPathHost` is null, email uses the domain itself in the
 * envelope sender, because receivers refuse a sender whose host is not in the DNS.
 */
export type FoundRecords = Partial<Record<RecordPurpose, boolean>> & { returnPathHost?: string | null };

/**
 * For each record: the values that a check found in the DNS, as text. Undefined if the DNS did not respond. `apexMx`
 * are the servers that receive email to the domain itself. `parentDmarc` are the DMARC policies of parent domains,
 * which also cover the domain.
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
  /** True if the domain cannot be verified without this record. */
  required: boolean;
  found: boolean;
  /** The values that the last check found. Null if the DNS never responded. */
  seen: string[] | null;
  /** A warning for a user who publishes this record. Null if there is no warning. */
  warning: string | null;
}

/** The facts from which the records of a domain are built. */
export interface DnsRecordSource {
  domain: string;
  selector: string;
  publicKey: string;
  /**
   * The host of PUBLIC_URL, which receives returned and inbound email. The SPF record names this host, unless the
   * provider has its own mechanism or `spfInclude` is set.
   */
  mailHost: string;
  /** The host of the envelope sender, if it is the same for all domains. */
  returnPathDomain: string | undefined;
  /** The name that SPF records include for the relay, such as `spf.relay.example`. */
  spfInclude: string | undefined;
  provider: EmailProviderKind;
}

/**
 * A domain is no longer verified after its key was missing in the DNS for this long. A single wrong DNS response must
 * not stop all email.
 */
const GRACE_HOURS = 24;
/** A new domain whose key is not published after this time is FAILED. The service continues to check such a domain. */
const PENDING_HOURS = 72;
const HOUR_MS = 3_600_000;
/** The maximum number of values that a response shows per record. */
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
 * Lists the DNS records that a user should publish. Only DKIM is required: it proves that the domain belongs to the
 * project. The list is empty if the service runs on a loopback host and captures email. Source: contract §9.5 Domains.
 */
export function listDnsRecords(source: DnsRecordSource, found: FoundRecords, seen: SeenRecords = {}): DnsRecord[] {
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
  const mechanism = findSpfMechanism(source);
  const signature = record('DKIM', 'TXT', `${selector}._domainkey.${domain}`, formatDkimRecord(publicKey));
  const envelopeHost = getReturnPathHost(source);
  const sender = mechanism === undefined ? [] : [mergeSpf(record('SPF', 'TXT', envelopeHost, ''), mechanism)];
  const policy = record('DMARC', 'TXT', `_dmarc.${domain}`, 'v=DMARC1; p=none;');
  policy.warning = findPolicyWarning(policy, seen.parentDmarc ?? []);
  if (!isMailServerName(mailHost)) return [signature, ...sender, policy];
  const returned = record('RETURN_PATH', 'MX', envelopeHost, `10 ${mailHost}`);
  const inbound = record('INBOUND', 'MX', getInboundHost(domain), `10 ${mailHost}`);
  return [
    signature,
    ...sender,
    policy,
    { ...returned, warning: findOtherServersWarning(returned) },
    { ...inbound, warning: findOtherServersWarning(inbound) ?? findApexWarning(source, seen.apexMx ?? []) },
  ];
}

/** Explains to the user why `listDnsRecords` returned no MX records, or no records at all. Null if it returned all. */
export function explainMissingRecords({
  mailHost,
  provider,
}: Pick<DnsRecordSource, 'mailHost' | 'provider'>): string | null {
  if (isMailServerName(mailHost)) return null;
  if (!isLoopbackHost(mailHost))
    return `There are no records for returned and inbound email yet, because they need a public host name. PUBLIC_URL has ${mailHost}.`;
  if (EMAIL_PROVIDERS[provider].captures)
    return 'No DNS records are needed: this service runs on one computer only and keeps all email in its local mailbox.';
  return 'There are no records for returned and inbound email yet, because PUBLIC_URL leads to this computer only. Set PUBLIC_URL to a public address first.';
}

/**
 * Matches names that resolve only in a local network or on one machine (RFC 6761, RFC 6762, RFC 8375, ICANN's
 * `internal`).
 */
const LOCAL_NAME = /(?:^|\.)(?:local|localhost|internal|intranet|lan|home|home\.arpa|corp)$/;

/** Tells whether an MX record may contain the host: it must be a public name, not an IP address (RFC 5321 §5.1). */
function isMailServerName(host: string): boolean {
  return toAsciiDomain(host) !== undefined && !LOCAL_NAME.test(host);
}

/**
 * Fills in the value of the SPF record. A name may have only one SPF record (RFC 7208 §3.2). If the DNS already has
 * one, the value is that record with the service's mechanism inserted at the start.
 */
function mergeSpf(record: DnsRecord, mechanism: string): DnsRecord {
  const [present, ...others] = record.seen ?? [];
  if (present === undefined) return { ...record, value: `v=spf1 ${mechanism} ~all` };
  const isComplete = hasMechanism(present, mechanism);
  const value = isComplete ? present : present.trim().replace(/^v=spf1/i, `v=spf1 ${mechanism}`);
  if (others.length > 0)
    return {
      ...record,
      value,
      warning: `${record.name} has ${others.length + 1} SPF records, and receivers ignore all of them. Keep only this one.`,
    };
  const warning = isComplete
    ? null
    : `${record.name} has an SPF record (${present}). Replace it with this one, because a second SPF record makes both invalid.`;
  return { ...record, value, warning };
}

function hasMechanism(spf: string, mechanism: string): boolean {
  return spf.toLowerCase().split(/\s+/).includes(mechanism);
}

/**
 * Returns the warning that the DMARC policy of a parent domain covers this domain, and that a DMARC record of this
 * domain would replace the policy.
 */
function findPolicyWarning({ name, found }: DnsRecord, parentDmarc: string[]): string | null {
  if (found || parentDmarc.length === 0) return null;
  return `A parent domain already has a DMARC policy (${parentDmarc.join(', ')}), which covers this domain. Add ${name} only if this domain needs its own policy.`;
}

/** Returns the host of the envelope sender. Receivers look up the SPF record of this host, and return email to it. */
export function getReturnPathHost({
  returnPathDomain,
  domain,
}: Pick<DnsRecordSource, 'returnPathDomain' | 'domain'>): string {
  return returnPathDomain ?? `bounces.${domain}`;
}

/** Returns the host for inbound email. An MX at the domain itself would redirect the company's own email. */
export function getInboundHost(domain: string): string {
  return `in.${domain}`;
}

/**
 * Returns the warning that other servers receive email for a name. A record of this service would share or redirect
 * that email.
 */
function findOtherServersWarning({ name, value, found, seen }: DnsRecord): string | null {
  const others = (seen ?? []).filter((record) => record.split(' ')[1] !== value.split(' ')[1]);
  if (others.length === 0) return null;
  const state = found ? 'also has' : 'has';
  return `${name} ${state} an MX record of another server (${others.join(', ')}). With two records, each server gets only a part of the email.`;
}

function findApexWarning({ domain, mailHost }: DnsRecordSource, apexMx: string[]): string | null {
  const others = apexMx.filter((record) => record.split(' ')[1] !== mailHost);
  if (others.length === 0) return null;
  return `Keep the MX record of ${domain} (${others.join(', ')}), which receives your own email. Only ${getInboundHost(domain)} leads here.`;
}

/**
 * Looks up all records of a domain in the DNS concurrently. Returns which records are published, and all values found.
 */
export async function checkDnsRecords(dns: Dns, source: DnsRecordSource): Promise<CheckedRecords> {
  const { domain, selector, publicKey, mailHost } = source;
  const envelopeHost = getReturnPathHost(source);
  const [dkim, spf, dmarc, inbound, returnPath, apex, ...parents] = await Promise.all([
    dns.txt(`${selector}._domainkey.${domain}`),
    dns.txt(envelopeHost),
    dns.txt(`_dmarc.${domain}`),
    dns.mx(getInboundHost(domain)),
    dns.mx(envelopeHost),
    dns.mx(domain),
    ...listParentDomains(domain).map(async (parent) => listPolicies(parent, await dns.txt(`_dmarc.${parent}`))),
  ]);
  const mechanism = findSpfMechanism(source);
  const isOurServer = ({ exchange }: MxRecord) => exchange === mailHost;
  const asText = (text: string) => text;
  const asMx = ({ priority, exchange }: MxRecord) => `${priority} ${exchange}`;
  return {
    found: {
      DKIM: hasRecord(dkim, (text) => readDkimKey(text) === publicKey),
      SPF: hasRecord(spf, (text) => isSpf(text) && mechanism !== undefined && hasMechanism(text, mechanism)),
      DMARC: hasRecord(dmarc, isDmarc),
      RETURN_PATH: hasRecord(returnPath, isOurServer),
      // Earlier versions asked users for an MX record at the domain itself, which still works.
      INBOUND: hasEither(hasRecord(inbound, isOurServer), hasRecord(apex, isOurServer)),
      ...(source.returnPathDomain === undefined && toReturnPathHost(hasRecord(returnPath, isOurServer), envelopeHost)),
    },
    seen: {
      DKIM: toSeenValues(dkim, asText),
      // The name may have other TXT records, too.
      SPF: toSeenValues(spf, asText)?.filter(isSpf),
      DMARC: toSeenValues(dmarc, asText),
      RETURN_PATH: toSeenValues(returnPath, asMx),
      INBOUND: toSeenValues(inbound, asMx),
      apexMx: toSeenValues(apex, asMx),
      parentDmarc: parents.flat(),
    },
  };
}

/** Lists the parent domains of a domain, without the last label: for `shop.example.com`, only `example.com`. */
function listParentDomains(domain: string): string[] {
  const labels = domain.split('.');
  return labels.slice(1, -1).map((_, n) => labels.slice(n + 1).join('.'));
}

function listPolicies(parent: string, result: DnsAnswer<string>): string[] {
  return (toSeenValues(result, (text) => text) ?? []).filter(isDmarc).map((text) => `_dmarc.${parent}: ${text}`);
}

const isDmarc = (text: string) => /^v=DMARC1\s*(;|$)/i.test(text.trim());

function hasEither(one: boolean | undefined, other: boolean | undefined): boolean | undefined {
  if (one || other) return true;
  return one === undefined || other === undefined ? undefined : false;
}

function toReturnPathHost(found: boolean | undefined, host: string): Pick<FoundRecords, 'returnPathHost'> {
  return found === undefined ? {} : { returnPathHost: found ? host : null };
}

/** The stored result of a domain's checks. */
export interface DomainCheckState {
  status: DomainStatus;
  found: FoundRecords;
  createdAt: Date;
  /** The time since which the checks no longer find the key of a verified domain. Null otherwise. */
  missingSince: Date | null;
}

/**
 * Returns the state of a domain after a check. If the DNS did not respond about the DKIM record, the status does not
 * change. If a domain is VERIFIED although no check ever found its key, the service itself verified it (the development
 * domain), and it remains VERIFIED. A missing key of such a domain is not stored, but its other records are.
 */
export function computeStateAfterCheck(before: DomainCheckState, checked: FoundRecords, now: Date): DomainCheckState {
  const found: FoundRecords = { ...before.found };
  for (const purpose of RECORD_PURPOSES) if (checked[purpose] !== undefined) found[purpose] = checked[purpose];
  if (checked.returnPathHost !== undefined) found.returnPathHost = checked.returnPathHost;
  if (checked.DKIM === undefined) return { ...before, found };
  if (checked.DKIM) return { ...before, found, status: 'VERIFIED', missingSince: null };
  if (before.status !== 'VERIFIED') {
    const isOverdue = now.getTime() - before.createdAt.getTime() > PENDING_HOURS * HOUR_MS;
    return { ...before, found, status: isOverdue ? 'FAILED' : before.status };
  }
  if (before.found.DKIM === undefined) {
    const { DKIM: _, ...otherRecords } = found;
    return { ...before, found: otherRecords };
  }
  const missingSince = before.missingSince ?? now;
  const isLost = now.getTime() - missingSince.getTime() >= GRACE_HOURS * HOUR_MS;
  return { ...before, found, missingSince, status: isLost ? 'FAILED' : 'VERIFIED' };
}

/**
 * Returns the found values as text. A DNS record may contain any text of any size, so their number and length are
 * limited. Control characters and lone surrogates become U+FFFD, because Postgres cannot store all of them.
 */
function toSeenValues<T>(result: DnsAnswer<T>, asText: (record: T) => string): string[] | undefined {
  if (result.kind === 'fault') return undefined;
  if (result.kind === 'absent') return [];
  return result.records.slice(0, SEEN_MAX).map((record) => replaceUnstorable(asText(record)).slice(0, SEEN_MAX_CHARS));
}

function replaceUnstorable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cs}]/gu, '\uFFFD');
}

function hasRecord<T>(result: DnsAnswer<T>, matches: (record: T) => boolean): boolean | undefined {
  if (result.kind === 'fault') return undefined;
  return result.kind === 'found' && result.records.some(matches);
}

/** Returns the value of `p=` in a DKIM record (RFC 6376 §3.6.1), without white space. */
function readDkimKey(text: string): string | undefined {
  return /(?:^|;)\s*p\s*=([^;]*)/i.exec(text)?.[1]?.replace(/\s/g, '');
}

function isSpf(text: string): boolean {
  return /^v=spf1(\s|$)/i.test(text);
}

/**
 * Matches addresses of local networks (RFC 1918, RFC 3927, RFC 6598, RFC 4193, RFC 4291). Public DNS records must not
 * contain such addresses.
 */
const PRIVATE_ADDRESS =
  /^(?:10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|f[cd]|fe[89ab])/;

/**
 * Returns the SPF mechanism for the hosts that send email, such as `include:amazonses.com`. Undefined if these hosts
 * have only local names or addresses.
 */
function findSpfMechanism({ provider, mailHost, spfInclude }: DnsRecordSource): string | undefined {
  const { spf } = EMAIL_PROVIDERS[provider];
  if (spf !== null) return spf;
  if (spfInclude !== undefined) return `include:${spfInclude.toLowerCase()}`;
  if (isMailServerName(mailHost)) return `a:${mailHost}`;
  const address = mailHost.replace(/^\[|\]$/g, '');
  if (isLoopbackHost(mailHost) || PRIVATE_ADDRESS.test(address)) return undefined;
  return isIPv4(address) ? `ip4:${address}` : isIPv6(address) ? `ip6:${address}` : undefined;
}
