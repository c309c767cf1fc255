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
  /** It was added by this call. */
  isNew?: boolean;
  /** It had refused by itself: the change is in the audit log too. */
  resubscribed?: boolean;
  /** Who changed it, where contacts of one call were changed by several. */
  by?: string | undefined;
}

/** The event of a change to this state. */
export function subscriptionEvent(subscribed: boolean): ContactEvent {
  return subscribed ? 'contact.subscribed' : 'contact.unsubscribed';
}

/**
 * Emits `contact.subscribed` or `contact.unsubscribed` for those contacts whose state changed, and for those who were
 * added as subscribed, in the transaction of the change. A welcome series greets both; an import of old customers does
 * not, unless it asks for that: it hands over its contacts without `isNew`. Every path that changes `subscribed` comes through here; `reason` says why the service did it by itself
 * (contract §8.2).
 * @returns rows for `outbox.wake`, after the commit
 */
export async function recordSubscriptionChanges(
  trx: Trx,
  p: {
    projectId: string;
    contacts: SubscriptionState[];
    reason?: 'bounce' | 'complaint';
    /** Whether a stranger brought the change about, by the public key or by a step of an execution that is theirs. */
    forStranger: boolean;
    mode?: KeyMode;
    /** The execution whose step changed them, if one did. */
    causeId: string | null;
    /**
     * Who changed them: `user:<id>`, `key:<id>`, `job:<id>`, `public`, `contact` for the person, or who reported it,
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
      swayed: p.forStranger,
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
 * Unsubscribes those of the addresses that are subscribed contacts, and emits it; of the others it is remembered that
 * they are not to be subscribed by a stranger. The suppression list is left as it is.
 * @returns rows for `outbox.wake`, after the commit
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
    UPDATE contacts c SET subscribed = false, was_unsubscribed = true, pending = false, updated_at = now() FROM locked WHERE c.id = locked.id
    RETURNING c.id, c.subscribed, old.subscribed AS "subscriptionChanged"
  `.execute(trx);
  return recordSubscriptionChanges(trx, { ...p, contacts, forStranger: false, causeId: null });
}
