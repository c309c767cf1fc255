import { sql } from 'kysely';
import { AppError } from '../../rules/errors.ts';
import type { Db } from '../connection.ts';

/**
 * Throws if the project may not send from this address.
 * @throws AppError DOMAIN_NOT_VERIFIED when the address is not on a verified domain of the project (contract §1.7
 * Status codes)
 */
export async function assertSender(db: Db, p: { projectId: string; from: string }): Promise<void> {
  if (!(await isVerifiedSender(db, p))) throw new AppError('DOMAIN_NOT_VERIFIED', { details: { from: p.from } });
}

/** Tells whether an address is on a verified domain of the project. */
export async function isVerifiedSender(db: Db, p: { projectId: string; from: string }): Promise<boolean> {
  return (await listVerifiedDomains(db, { projectId: p.projectId, senders: [p.from] })).has(getSenderDomain(p.from));
}

/** Returns the verified domains of the project among the domains of these addresses. */
export async function listVerifiedDomains(db: Db, p: { projectId: string; senders: string[] }): Promise<Set<string>> {
  if (p.senders.length === 0) return new Set();
  const { rows } = await sql<{ domain: string }>`
    SELECT domain FROM domains
    WHERE project_id = ${p.projectId} AND domain = ANY(${[...new Set(p.senders.map(getSenderDomain))]}::text[]) AND status = 'VERIFIED'
  `.execute(db);
  return new Set(rows.map(({ domain }) => domain));
}

/** Returns the domain of an address in lower case, as domains are stored. */
export function getSenderDomain(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}
