import { createDns } from '../../channels/dns.ts';
import {
  countDomainPages,
  type Domain,
  listDomainPageStarts,
  listDomainsFrom,
  saveDomainCheck,
} from '../../db/domains/domains.ts';
import { inTransaction } from '../../db/transaction.ts';
import { checkDnsRecords } from '../../rules/domains/sender-domain.ts';
import { AppError } from '../../rules/errors.ts';
import { createDnsRecordSource } from '../../rules/provenance/record-source.ts';
import type { ActivityDeps } from '../deps.ts';
import type { PartRun, PeriodicParts } from './parts.ts';

/**
 * The number of domains that one activity checks. The activity checks all these domains at the same time, so that a
 * domain whose DNS server does not respond delays no other domain.
 */
const PAGE_DOMAINS = 20;

/** Periodic work that checks the DNS records of sender domains. Each page of domains is a part. */
export function createDomainParts({ db, config }: Pick<ActivityDeps, 'db' | 'config'>): PeriodicParts {
  const dns = createDns({ servers: config.dnsServers, cached: false });

  return {
    list: (p) => listDomainPageStarts(db, { ...p, pageSize: PAGE_DOMAINS }),
    count: () => countDomainPages(db, PAGE_DOMAINS),
    run: checkPage,
  };

  async function checkPage(from: string, run: PartRun): Promise<null> {
    const domains = await listDomainsFrom(db, { from, limit: PAGE_DOMAINS });
    const checked = new Set(run.cursor ? run.cursor.split(',') : []);
    const left = domains.filter(({ id }) => !checked.has(id));
    await Promise.all(
      left.map(async (domain) => {
        try {
          await checkDomain(domain);
        } catch (error) {
          await run.noteFailure(`domain ${domain.id}`, error);
        }
        checked.add(domain.id);
        run.save([...checked].join());
      }),
    );
    return null;
  }

  async function checkDomain(domain: Domain): Promise<void> {
    const checked = await checkDnsRecords(dns, createDnsRecordSource(config, domain));
    try {
      const { projectId, id } = domain;
      await inTransaction(db, (trx) => saveDomainCheck(trx, { projectId, id, checked, now: new Date() }));
    } catch (error) {
      // A user has deleted the domain during the DNS lookup, so nothing is recorded.
      if (!(error instanceof AppError)) throw error;
    }
  }
}
