import { type Domain, listDomainsFrom } from '../../db/domains/domains.ts';
import {
  checkDnsRecords,
  explainMissingRecords,
  type FoundRecords,
  listDnsRecords,
  type RecordPurpose,
} from '../../rules/domains/sender-domain.ts';
import { createDnsRecordSource } from '../../rules/provenance/record-source.ts';
import type { Deployment, Inspected } from './deployment.ts';
import { type DoctorCheck, type DoctorFinding, passFinding, warnFinding } from './report.ts';

/**
 * The maximum number of domains that the doctor checks, so that it takes only a few seconds. The workers check all
 * domains periodically.
 */
const DOMAINS_MAX = 50;
/** An id that sorts before every other id. */
const FIRST = '00000000-0000-0000-0000-000000000000';
/**
 * Domains that are reserved for tests and examples (RFC 2606 §2), such as the domain of the first project of
 * `npm start`. The DNS has no records of these domains.
 */
const RESERVED = /(^|\.)(test|example|invalid|localhost)$/;
/**
 * The verdict for each kind of missing DNS record, and the consequence. The INBOUND record is not in this list, because
 * the service can send email without this record.
 */
const MISSING: readonly { purpose: RecordPurpose; verdict: 'warn' | 'fail'; consequence: string }[] = [
  {
    purpose: 'DKIM',
    verdict: 'fail',
    consequence: 'signatures cannot be checked, and the domain will lose its verification',
  },
  { purpose: 'SPF', verdict: 'warn', consequence: 'receivers do not know that this service may send for it' },
  {
    purpose: 'DMARC',
    verdict: 'warn',
    consequence: 'the large mailbox providers refuse or filter bulk mail without it',
  },
  { purpose: 'RETURN_PATH', verdict: 'warn', consequence: 'bounces do not come back to this service' },
];

/** Checks that the DNS still has the records of the verified sender domains, because receivers of email check them. */
export const senderDomainsCheck: DoctorCheck = {
  name: 'sender domains',
  async run(deployment) {
    const { settings, postgres } = deployment;
    if (settings.email.captures) return [passFinding('email is captured: not needed')];
    const inspected = await postgres();
    if ('reason' in inspected)
      return [
        warnFinding(
          `not known: Postgres does not respond (${inspected.reason})`,
          'fix the connection to Postgres first',
        ),
      ];
    const domains = await listVerifiedDomains(inspected);
    if (domains.length === 0)
      return [
        warnFinding(
          'no domain is verified, so no email can be sent',
          'register one with POST /domains and publish its records',
        ),
      ];
    return (await Promise.all(domains.map((domain) => checkDomain(domain, deployment)))).flat();
  },
};

/** Returns the verified domains among the first `DOMAINS_MAX` domains of the installation. */
export async function listVerifiedDomains({ db }: Inspected): Promise<Domain[]> {
  const all = await listDomainsFrom(db, { from: FIRST, limit: DOMAINS_MAX });
  return all.filter(({ status }) => status === 'VERIFIED');
}

async function checkDomain(domain: Domain, { settings, dns }: Deployment): Promise<DoctorFinding[]> {
  const name = domain.domain;
  if (RESERVED.test(name)) {
    const remedy = 'send from your own domain (POST /domains), and delete this one';
    return [
      warnFinding(
        `${name} is reserved for tests: the DNS does not know it, and receivers refuse email from it`,
        remedy,
      ),
    ];
  }
  const source = createDnsRecordSource(settings, domain);
  const note = explainMissingRecords(source);
  if (note !== null) return [warnFinding(note, 'set PUBLIC_URL to the public address of the service')];
  const { found, seen } = await checkDnsRecords(dns, source);
  const records = listDnsRecords(source, found, seen);
  const missing = MISSING.filter(({ purpose }) => found[purpose] === false);
  const findings = missing.map(({ purpose, verdict, consequence }): DoctorFinding => {
    const record = records.find((each) => each.purpose === purpose);
    const message = `${name} has no ${purpose.replace('_', ' ')} record of this service: ${consequence}`;
    return { verdict, message, remedy: `publish ${record?.type} ${record?.name} ${JSON.stringify(record?.value)}` };
  });
  const unknown = listUnknownRecords(found);
  if (unknown.length > 0) {
    findings.push(
      warnFinding(
        `the DNS did not respond for ${name} (${unknown.join(', ')})`,
        'check the network and DNS_SERVERS, and retry',
      ),
    );
  }
  return findings.length > 0 ? findings : [passFinding(`${name} has DKIM, SPF, DMARC and a return path`)];
}

function listUnknownRecords(found: FoundRecords): string[] {
  return MISSING.filter(({ purpose }) => found[purpose] === undefined).map(({ purpose }) => purpose.replace('_', ' '));
}
