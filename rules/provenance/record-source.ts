import type { Settings } from '../config.ts';
import type { DnsRecordSource } from '../domains/sender-domain.ts';

/** Collects the settings and the facts about a domain that are needed to build its DNS records. */
export function createDnsRecordSource(
  config: Pick<Settings, 'publicUrl' | 'email'>,
  domain: { domain: string; selector: string; publicKey: string },
): DnsRecordSource {
  return {
    domain: domain.domain,
    selector: domain.selector,
    publicKey: domain.publicKey,
    mailHost: new URL(config.publicUrl).hostname.toLowerCase(),
    returnPathDomain: config.email.returnPathDomain,
    spfInclude: config.email.spfInclude,
    provider: config.email.provider,
  };
}
