import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { addSuppressions, type NewSuppression } from '../../db/contacts/suppressions.ts';
import { computeAddressHash } from '../../rules/emails/suppression.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import {
  recordSubscriptionChanges,
  type SubscriptionState,
  UNSUBSCRIBED_CONTACT_SQL,
} from '../contacts/subscription-changes.ts';

const SUPPRESSION_REASONS = {
  bounce: 'hard_bounce',
  complaint: 'complaint',
} as const;

/** Addresses that must get no more email, and the contacts that have these addresses now. */
export interface AddressesToSuppress {
  addresses: NewSuppression['email'][];
  /** The caller has locked these contacts. */
  contactIds: string[];
  /** The execution whose step sent the email. The events of the unsubscription record it as their cause. */
  causeId: string | null;
}

/**
 * Suppresses addresses after a hard bounce or a complaint, and unsubscribes their contacts. SMTP replies, bounce and
 * complaint messages, and providers' callbacks all use this function. Source: contract §9.7 Refusals.
 * @param p.source the reporter: a provider, `dsn` or `arf`
 * @returns the rows to pass to `outbox.wake` after the commit
 */
export async function suppressAddresses(
  trx: Trx,
  p: {
    projectId: string;
    ended: AddressesToSuppress[];
    because: keyof typeof SUPPRESSION_REASONS;
    suppressionKey: Buffer;
    source: string;
  },
): Promise<OutboxRow[]> {
  const { projectId, source, because } = p;
  if (p.ended.length === 0) return [];
  const entries = p.ended
    .flatMap(({ addresses }) => addresses)
    .map((email) => ({ email, reason: SUPPRESSION_REASONS[because], source }));
  await addSuppressions(trx, p.suppressionKey, { projectId, entries });
  const contacts = await unsubscribe(trx, { projectId, ids: p.ended.flatMap(({ contactIds }) => contactIds) });
  const outbox: OutboxRow[] = [];
  for (const { causeId, contactIds } of mergeByCause(p.ended)) {
    const changed = contacts.filter(({ id }) => contactIds.includes(id));
    const change = { projectId, contacts: changed, reason: because, untrustedTrigger: false, causeId, by: source };
    if (changed.length > 0) outbox.push(...(await recordSubscriptionChanges(trx, change)));
  }
  return outbox;
}

/**
 * Finds the contacts that have one of these addresses, and returns their ids by address. The addresses are in lower
 * case.
 */
export async function findContactsByAddress(
  trx: Trx,
  { projectId, addresses }: { projectId: string; addresses: string[] },
): Promise<Map<string, string>> {
  if (addresses.length === 0) return new Map();
  const { rows } = await sql<{ id: string; email: string }>`
    SELECT id, email FROM contacts WHERE project_id = ${projectId} AND email = ANY(${addresses}::text[])
  `.execute(trx);
  return new Map(rows.map(({ id, email }) => [email, id]));
}

/**
 * Returns the contacts that still have these addresses, and the addresses to suppress. If the contact of an address was
 * erased after `findContactsByAddress`, the hash replaces the address, because no later erasure would find the address.
 * @param p.holders the contacts by address, read before the lock
 * @param p.lockedContacts the contacts that the transaction has locked
 */
export function resolveHolders(
  addresses: readonly string[],
  p: { holders: ReadonlyMap<string, string>; lockedContacts: ReadonlySet<string>; suppressionKey: Buffer },
): Pick<AddressesToSuppress, 'addresses' | 'contactIds'> {
  const isErased = (address: string) => {
    const holder = p.holders.get(address);
    return holder !== undefined && !p.lockedContacts.has(holder);
  };
  return {
    addresses: addresses.map((address) =>
      isErased(address) ? { hash: computeAddressHash(p.suppressionKey, address) } : address,
    ),
    contactIds: addresses.flatMap((address) => (isErased(address) ? [] : (p.holders.get(address) ?? []))),
  };
}

async function unsubscribe(trx: Trx, p: { projectId: string; ids: string[] }): Promise<SubscriptionState[]> {
  const { rows } = await sql<SubscriptionState>`
    UPDATE contacts SET ${UNSUBSCRIBED_CONTACT_SQL}
    WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[]) AND (subscribed OR pending)
    RETURNING id, subscribed, old.subscribed AS "subscriptionChanged"
  `.execute(trx);
  return rows;
}

/** Merges the contacts of entries with the same cause. If a contact has several causes, only the first cause counts. */
function mergeByCause(ended: AddressesToSuppress[]): Pick<AddressesToSuppress, 'causeId' | 'contactIds'>[] {
  const seen = new Set<string>();
  const byCause = new Map<string | null, string[]>();
  for (const { causeId, contactIds } of ended) {
    const newIds = contactIds.filter((id) => !seen.has(id));
    for (const id of newIds) seen.add(id);
    byCause.set(causeId, [...(byCause.get(causeId) ?? []), ...newIds]);
  }
  return [...byCause].map(([causeId, contactIds]) => ({ causeId, contactIds }));
}
