import { createDns } from '../../channels/dns.ts';
import {
  countDomainPages,
  type Domain,
  listDomainPages,
  listDomainsFrom,
  saveDomainCheck,
} from '../../db/domains/domains.ts';
import { inTransaction } from '../../db/transaction.ts';
import { checkRecords } from '../../rules/domains/sender-domain.ts';
import { AppError } from '../../rules/errors.ts';
import { recordSource } from '../../rules/provenance/record-source.ts';
import type { ActivityDeps } from '../deps.ts';
import type { PartRun, PeriodicParts } from './parts.ts';

/**
 * The number of domains that one activity checks, all at the same time, so that a domain whose DNS hangs delays no
 * other.
 */
const PAGE_DOMAINS = 20;

/** Checks the DNS records of sender domains; each page of domains is a part. */
export function domainParts({ db, config }: Pick<ActivityDeps, 'db' | 'config'>): PeriodicParts {
  const dns = createDns({ servers: config.dnsServers, cached: false });

  return {
    list: (p) => listDomainPages(db, { ...p, pageSize: PAGE_DOMAINS }),
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
          await check(domain);
        } catch (error) {
          await run.noteFailure(`domain ${domain.id}`, error);
        }
        checked.add(domain.id);
        run.save([...checked].join());
      }),
    );
    return null;
  }

  async function check(domain: Domain): Promise<void> {
    const checked = await checkRecords(dns, recordSource(config, domain));
    try {
      const { projectId, id } = domain;
      await inTransaction(db, (trx) => saveDomainCheck(trx, { projectId, id, checked, now: new Date() }));
    } catch (error) {
      // The domain was removed during the DNS lookup, so nothing is recorded.
      if (!(error instanceof AppError)) throw error;
    }
  }
}
