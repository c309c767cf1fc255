import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { type Contact, type ContactRef, getContact, lockContact } from '../../db/contacts/contacts.ts';
import { linkEarlierContacts, storeLeftTopics } from '../../db/contacts/erased-addresses.ts';
import { copyRefusals, findSuppressions } from '../../db/contacts/suppressions.ts';
import { upsertContacts } from '../../db/contacts/upsert.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import { AppError } from '../../rules/errors.ts';
import { CONTACT_EVENTS } from '../../rules/events/event-names.ts';
import { type Data, parseDataChanges } from '../../rules/filters/data-values.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { Sourced } from '../../rules/provenance/provenance.ts';
import { recordSubscriptionChanges } from './subscription-changes.ts';
import { setContactTopics } from './topic-choices.ts';

export interface SavedContact {
  contact: Contact;
  /** Whether the change subscribed a contact that had refused by a complaint, or on a consent page. */
  resubscribed: boolean;
  /** The rows to pass to `outbox.wake` after the commit. */
  outbox: OutboxRow[];
}

/**
 * Changes a contact's address, subscription, data and topics, and records the event of a changed subscription.
 * @throws AppError NOT_FOUND, CONFLICT when another contact has the address, VALIDATION_ERROR for data that exceeds a
 * limit
 */
export async function patchContact(
  trx: Trx,
  p: ContactRef & {
    email?: string | undefined;
    subscribed?: boolean | undefined;
    /**
     * Whether `subscribed: true` may subscribe a contact that refused by a complaint, or on a consent page, in a
     * project that protects such refusals.
     */
    resubscribe?: boolean | undefined;
    /** The new data. Values of unauthenticated callers stay marked as untrusted until the tenant writes them again. */
    data?: Sourced<Data> | undefined;
    /**
     * Whether an unauthenticated caller caused this change. A change by an unauthenticated caller cannot end an
     * unsubscription or a suppression.
     */
    untrustedTrigger: boolean;
    mode?: KeyMode;
    /** The execution whose step makes the change; null if no step makes it. */
    causeId: string | null;
    /** The actor, if no execution makes the change; see `recordSubscriptionChanges`. */
    actor?: string;
    suppressionKey: Buffer;
    topics?: Readonly<Record<string, boolean>> | undefined;
  },
): Promise<SavedContact> {
  const { set, remove, errors } = parseDataChanges(p.data?.values, p.causeId === null ? 'refuse' : 'keep');
  if (errors.length > 0) throw new AppError('VALIDATION_ERROR', { errors });
  const by = { copied: p.data?.untrusted ?? new Set<string>(), untrustedTrigger: p.untrustedTrigger };
  const current = await lockContact(trx, p);
  const email = p.email === undefined ? current.email : normalizeEmail(p.email);
  const addressChange = email === current.email ? {} : await changeEmail(trx, p, { current, email });
  const [saved] = await upsertContacts(trx, {
    projectId: p.projectId,
    rows: [
      { email, subscribed: addressChange.subscribed ?? p.subscribed, resubscribe: p.resubscribe, set, remove, by },
    ],
    defaultSubscribed: current.subscribed,
    suppressionKey: p.suppressionKey,
    causeId: p.causeId,
  });
  const outbox = await recordSubscriptionChanges(trx, {
    projectId: p.projectId,
    contacts: saved ? [saved] : [],
    mode: p.mode ?? 'live',
    untrustedTrigger: p.untrustedTrigger,
    causeId: p.causeId,
    by: p.actor,
  });
  const { projectId, id, topics = {}, mode = 'live' } = p;
  outbox.push(...(await setContactTopics(trx, { projectId, contactId: id, topics, mode })));
  return { contact: await getContact(trx, p), resubscribed: saved?.resubscribed ?? false, outbox };
}

/**
 * Changes the address. A refusal by the person (an unsubscription or a complaint) also applies to the new address. A
 * hard bounce does not, because it is about the mailbox. A contact that was unsubscribed only by a hard bounce is
 * therefore subscribed again.
 * @returns the value of `subscribed` that the new address requires; empty if the subscription does not change
 */
async function changeEmail(
  trx: Trx,
  p: Pick<
    Parameters<typeof patchContact>[1],
    'projectId' | 'id' | 'subscribed' | 'untrustedTrigger' | 'suppressionKey'
  >,
  { current, email }: { current: Contact; email: string },
): Promise<{ subscribed?: boolean }> {
  const { projectId, id, suppressionKey: key } = p;
  const isBounced = await isUnsubscribedByBounce(trx, key, { projectId, contact: current });
  await setEmail(trx, p, email);
  await storeLeftTopics(trx, key, { projectId, contact: current });
  await copyRefusals(trx, key, { projectId, from: current.email, to: email });
  await linkEarlierContacts(trx, key, { projectId, contacts: [{ id, email }] });
  if (p.subscribed !== undefined && !(p.subscribed && p.untrustedTrigger)) return {};
  const reasons = (await findSuppressions(trx, key, { projectId, emails: [email] })).get(email) ?? [];
  if (reasons.length > 0) return current.subscribed ? { subscribed: false } : {};
  return isBounced ? { subscribed: true } : {};
}

/** Tells whether the contact was unsubscribed by a hard bounce of the address and not by the person. */
async function isUnsubscribedByBounce(
  trx: Trx,
  key: Buffer,
  { projectId, contact }: { projectId: string; contact: Contact },
): Promise<boolean> {
  if (contact.subscribed) return false;
  const reasons = (await findSuppressions(trx, key, { projectId, emails: [contact.email] })).get(contact.email) ?? [];
  if (!reasons.includes('hard_bounce') || reasons.length > 1) return false;
  const { rows } = await sql<{ bounced: boolean }>`
    SELECT data->>'reason' = 'bounce' AS bounced FROM events
    WHERE project_id = ${projectId} AND contact_id = ${contact.id} AND name = ANY(${[...CONTACT_EVENTS]}::text[])
    ORDER BY id DESC LIMIT 1
  `.execute(trx);
  return rows[0]?.bounced === true;
}

async function setEmail(trx: Trx, { projectId, id }: ContactRef, email: string): Promise<void> {
  try {
    await trx
      .updateTable('contacts')
      .set({ email, updated_at: sql`now()` })
      .where('project_id', '=', projectId)
      .where('id', '=', id)
      .execute();
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause;
    throw new AppError('CONFLICT', {
      message: 'Another contact has this address.',
      details: { email },
      suggestion: 'Find it with GET /v1/contacts?search=<address>, and change or delete that contact instead.',
      cause,
    });
  }
}

function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505';
}
