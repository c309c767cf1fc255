import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { insertAudit } from '../../db/projects/audit-log.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import type { ContactEvent } from '../../rules/events/event-names.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { recordEvents } from '../events/record-events.ts';

export interface SubscriptionState {
  id: string;
  subscribed: boolean;
  subscriptionChanged: boolean;
  /** Whether this call created the contact. */
  isNew?: boolean;
  /**
   * Whether the change subscribed a contact that had refused by a complaint, or on a consent page. The audit log
   * records such a change too.
   */
  resubscribed?: boolean;
  /** The actor who changed this contact; replaces the common `by` of the call. */
  by?: string | undefined;
}

/**
 * Returns the name of the event: `contact.subscribed` if the contact is subscribed now, otherwise
 * `contact.unsubscribed`.
 */
export function toSubscriptionEvent(subscribed: boolean): ContactEvent {
  return subscribed ? 'contact.subscribed' : 'contact.unsubscribed';
}

/**
 * Records `contact.subscribed` or `contact.unsubscribed` in the transaction of the change: for contacts whose
 * subscription changed, for contacts that were resubscribed, and for new subscribed contacts. A welcome series with the
 * trigger `contact.subscribed` therefore starts for all of them. An import usually adds existing customers. Imports
 * omit `isNew`, so their new contacts emit no event, unless the request of the import asks for these events. All code
 * that changes `subscribed` calls this function.
 * @param p.reason why the service itself made the change (contract §8.2 Events of the service)
 * @returns the rows to pass to `outbox.wake` after the commit
 */
export async function recordSubscriptionChanges(
  trx: Trx,
  p: {
    projectId: string;
    contacts: SubscriptionState[];
    reason?: 'bounce' | 'complaint';
    /**
     * Whether an unauthenticated caller caused the change, with the public key or through an execution that the caller
     * started.
     */
    untrustedTrigger: boolean;
    mode?: KeyMode;
    /** The execution whose step changed the contacts; null if no step did. */
    causeId: string | null;
    /**
     * The actor: `user:<id>`, `key:<id>`, `job:<id>`, `public`, `contact` for the person, or the reporting provider,
     * such as `ses`.
     */
    by?: string | undefined;
  },
): Promise<OutboxRow[]> {
  const cause = p.causeId === null ? null : `execution:${p.causeId}`;
  const events = p.contacts
    .filter(
      ({ subscriptionChanged, resubscribed, isNew, subscribed }) =>
        subscriptionChanged || resubscribed || (isNew && subscribed),
    )
    .map((contact) => ({
      contactId: contact.id,
      name: toSubscriptionEvent(contact.subscribed),
      data: contact.resubscribed ? { resubscribed: true } : p.reason ? { reason: p.reason } : {},
      untrusted: false,
      untrustedTrigger: p.untrustedTrigger,
      ...(p.mode !== undefined && { mode: p.mode }),
      causeId: p.causeId,
      actor: contact.by ?? p.by ?? cause,
    }));
  for (const contact of p.contacts.filter(({ resubscribed }) => resubscribed)) {
    const actor = contact.by ?? p.by ?? cause ?? 'service';
    await insertAudit(trx, {
      projectId: p.projectId,
      action: 'contact.resubscribed',
      actor,
      target: contact.id,
      ip: null,
    });
  }
  const { outbox } = await recordEvents(trx, { projectId: p.projectId, events });
  return outbox;
}

/**
 * The assignments that unsubscribe a contact. They also end the wait of a pending contact for its confirmation
 * (contract §3.10 Double opt-in), and no unauthenticated caller can subscribe the contact afterwards.
 */
export const UNSUBSCRIBED_CONTACT_SQL = sql`
  subscribed = false, was_unsubscribed = true, pending = false, confirmation_asked_at = NULL, updated_at = now()`;

/**
 * Unsubscribes the subscribed contacts at these addresses and records the events. Also sets `was_unsubscribed` on
 * contacts that are already unsubscribed, so that no unauthenticated caller can subscribe them. Suppressions do not
 * change.
 * @returns the rows to pass to `outbox.wake` after the commit
 */
export async function unsubscribeAddresses(
  trx: Trx,
  p: { projectId: string; emails: string[]; reason?: 'bounce' | 'complaint'; mode?: KeyMode; by?: string },
): Promise<OutboxRow[]> {
  const { rows: contacts } = await sql<SubscriptionState>`
    WITH locked AS MATERIALIZED (
      SELECT id FROM contacts
      WHERE project_id = ${p.projectId} AND email = ANY(${p.emails.map(normalizeEmail)}::text[])
        AND (subscribed OR was_unsubscribed IS NOT TRUE OR pending)
      ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE contacts c SET ${UNSUBSCRIBED_CONTACT_SQL}
    FROM locked WHERE c.id = locked.id
    RETURNING c.id, c.subscribed, old.subscribed AS "subscriptionChanged"
  `.execute(trx);
  return recordSubscriptionChanges(trx, { ...p, contacts, untrustedTrigger: false, causeId: null });
}
