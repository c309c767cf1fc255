import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { createDns } from '../channels/dns.ts';
import { type Domain, listDomainsAfter, saveDomainCheck } from '../db/domains/domains.ts';
import { inTransaction } from '../db/transaction.ts';
import { checkRecords } from '../rules/domains/sender-domain.ts';
import { AppError } from '../rules/errors.ts';
import { recordSource } from '../rules/strangers/record-source.ts';
import type { ActivityDeps } from './deps.ts';

/** Domains asked for at a time: a slow DNS holds up 20 for 3 s. */
const CHECKED_AT_ONCE = 20;

export type DomainActivities = ReturnType<typeof domainActivities>;

/**
 * The check of every project's domains that comes round. May run again at any time: a check only writes down what it
 * sees.
 */
export function domainActivities({ db, config }: ActivityDeps) {
  const dns = createDns({ servers: config.dnsServers, cached: false });

  async function check(domain: Domain): Promise<void> {
    const checked = await checkRecords(dns, recordSource(config, domain));
    try {
      const { projectId, id } = domain;
      await inTransaction(db, (trx) => saveDomainCheck(trx, { projectId, id, checked, now: new Date() }));
    } catch (error) {
      // Removed while the DNS was asked: there is nothing to write down.
      if (!(error instanceof AppError)) throw error;
    }
  }

  return {
    /** Checks all domains; returns how many there were. Heartbeats after every 20. */
    async checkDomains(): Promise<number> {
      let checked = 0;
      let after: string | null = null;
      for (;;) {
        const domains: Domain[] = await listDomainsAfter(db, { after, limit: CHECKED_AT_ONCE });
        await Promise.all(domains.map(check));
        checked += domains.length;
        after = domains.at(-1)?.id ?? null;
        if (domains.length < CHECKED_AT_ONCE) return checked;
        heartbeat(checked);
        cancellationSignal().throwIfAborted();
      }
    },
  };
}
