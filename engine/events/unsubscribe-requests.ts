import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { PUBLIC_ACTOR } from '../../db/contacts/upsert.ts';
import { earliestIdSql } from '../../db/id-time.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import { UNSUBSCRIBE_REQUESTED_EVENT } from '../../rules/events/event-names.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { recordEvents } from './record-events.ts';

/** Requests of one caller about one contact within this time are counted in the same event. */
const COUNTED_MS = 24 * 60 * 60_000;

/** A request to unsubscribe a contact that the public key may not unsubscribe. */
export interface UnsubscribeRequest {
  contactId: string;
  /** A keyed hash of the caller's address, in hex. */
  caller: string;
}

/**
 * Records requests with the public key to unsubscribe contacts: one event in 24 hours for each caller and contact, with
 * the number of requests. The caller of this function holds the contacts' locks.
 * @returns the rows to pass to `outbox.wake` after the commit
 */
export async function recordUnsubscribeRequests(
  trx: Trx,
  p: { projectId: string; mode: KeyMode; requests: UnsubscribeRequest[] },
): Promise<OutboxRow[]> {
  const { projectId, mode, requests } = p;
  if (requests.length === 0) return [];
  const since = earliestIdSql(new Date(Date.now() - COUNTED_MS));
  const { rows } = await sql<UnsubscribeRequest>`
    UPDATE events e SET data = e.data || jsonb_build_object('requests', (e.data->>'requests')::int + 1)
    FROM unnest(${requests.map(({ contactId }) => contactId)}::uuid[], ${requests.map(({ caller }) => caller)}::text[])
      AS u (contact_id, caller)
    WHERE e.project_id = ${projectId} AND e.contact_id = u.contact_id AND e.id >= ${since}
      AND e.name = ${UNSUBSCRIBE_REQUESTED_EVENT} AND e.data->>'caller' = u.caller
    RETURNING e.contact_id AS "contactId", u.caller
  `.execute(trx);
  const counted = new Set(rows.map(getRequestKey));
  const events = requests
    .filter((request) => !counted.has(getRequestKey(request)))
    .map(({ contactId, caller }) => ({
      contactId,
      name: UNSUBSCRIBE_REQUESTED_EVENT,
      data: { caller, requests: 1 },
      untrusted: false,
      untrustedTrigger: true,
      causeId: null,
      mode,
      actor: PUBLIC_ACTOR,
    }));
  return (await recordEvents(trx, { projectId, events })).outbox;
}

const getRequestKey = ({ contactId, caller }: UnsubscribeRequest): string => `${contactId} ${caller}`;
