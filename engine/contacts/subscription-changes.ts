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
  /** The contact had unsubscribed personally, so the change is in the audit log as well. */
  resubscribed?: boolean;
  /** The actor of this change, if the contacts of one call have different actors. */
  by?: string | undefined;
}

/** The name of the event that a change to this state emits. */
export function subscriptionEvent(subscribed: boolean): ContactEvent {
  return subscribed ? 'contact.subscribed' : 'contact.unsubscribed';
}

/**
 * Emits `contact.subscribed` or `contact.unsubscribed` in the transaction of the change: for contacts whose state
 * changed, and for new subscribed contacts. A welcome series greets both. An import of existing customers passes its
 * contacts without `isNew`, unless it asks for the events. Every code path that changes `subscribed` calls this.
 * `reason` says why the service made the change automatically (contract §8.2 Events of the service).
 * @returns the rows to pass to `outbox.wake` after the commit
 */
export async function recordSubscriptionChanges(
  trx: Trx,
  p: {
    projectId: string;
    contacts: SubscriptionState[];
    reason?: 'bounce' | 'complaint';
    /**
     * Whether an unauthenticated caller caused the change, by the public key or by a step of an execution that it
     * started.
     */
    untrustedTrigger: boolean;
    mode?: KeyMode;
    /** The execution whose step changed them, if any. */
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
      name: subscriptionEvent(contact.subscribed),
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
 * Unsubscribes the subscribed contacts at these addresses, with their events. For addresses without a contact it
 * records that no unauthenticated caller may subscribe them. The suppression list does not change.
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
    UPDATE contacts c SET subscribed = false, was_unsubscribed = true, pending = false, confirmation_asked_at = NULL, updated_at = now()
    FROM locked WHERE c.id = locked.id
    RETURNING c.id, c.subscribed, old.subscribed AS "subscriptionChanged"
  `.execute(trx);
  return recordSubscriptionChanges(trx, { ...p, contacts, untrustedTrigger: false, causeId: null });
}
