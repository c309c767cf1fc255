import { type RawBuilder, sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { listProjectsForSms } from '../../db/sms/ledger.ts';
import { hasPhoneSql } from '../../db/sms/stops.ts';
import { SMS_RECEIVED_EVENT } from '../../rules/events/event-names.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { recordEvents } from '../events/record-events.ts';

/** The maximum length of a stored text. Carriers deliver at most ten parts, which are shorter than this. */
const TEXT_MAX_CHARS = 2_000;

/** Providers repeat a callback for minutes, or for hours after an outage. Older events are not read. */
const REPEATED_FOR_DAYS = 7;

/** An SMS from a person to a phone number that projects send from. */
export interface ReceivedSms {
  from: string;
  to: string;
  text: string;
  /**
   * The provider's id of the SMS. Providers repeat a callback that got no response, and the id identifies the
   * repetition. Null only if a callback has no id, which Twilio's callbacks always have.
   */
  messageId: string | null;
  /** The files of an MMS, with the provider's URL and the type of each file. */
  media: ReceivedMedia[];
  /**
   * Whether the SMS stops or starts further SMS to the person; null if it does neither. The provider may recognize
   * keywords that we do not know, such as a keyword that the project has configured at the provider.
   */
  consent: 'stop' | 'start' | null;
}

export interface ReceivedMedia {
  url: string;
  contentType: string;
}

/**
 * Records a received SMS in every project that sends, or has sent, from the receiving number. The event `sms.received`
 * belongs to the contacts with the sender's number, or to no contact if none has it. The text is untrusted. Safe to run
 * twice if the SMS has a message id.
 * @returns the projects that had not recorded this SMS yet, and the rows to pass to `outbox.wake` after the commit
 */
export async function recordReceivedSms(
  trx: Trx,
  sms: ReceivedSms,
): Promise<{ projectIds: string[]; outbox: OutboxRow[] }> {
  const projectIds: string[] = [];
  const outbox: OutboxRow[] = [];
  const text = sms.text.replaceAll('\0', '').toWellFormed().slice(0, TEXT_MAX_CHARS).toWellFormed().normalize('NFC');
  for (const projectId of await listProjectsForSms(trx, { phone: sms.from, sender: sms.to })) {
    const { rows } = await sql<{ id: string }>`
      SELECT id FROM contacts WHERE ${hasPhoneSql(projectId, [sms.from])} ORDER BY id FOR NO KEY UPDATE
    `.execute(trx);
    const contactIds = rows.map(({ id }) => id);
    if (await isDuplicate(trx, { projectId, contactIds, messageId: sms.messageId })) continue;
    projectIds.push(projectId);
    const events = (contactIds.length > 0 ? contactIds : [null]).map((contactId) => ({
      contactId,
      name: SMS_RECEIVED_EVENT,
      data: { ...sms, text },
      untrusted: true,
      untrustedTrigger: true,
      causeId: null,
    }));
    const lockedContacts = new Set(contactIds);
    outbox.push(...(await recordEvents(trx, { projectId, events, lockedContacts })).outbox);
  }
  return { projectIds, outbox };
}

/**
 * Tells whether an earlier callback recorded this SMS, for one of these contacts or for no contact. The earlier callback
 * may have found other contacts, because a contact can get its phone number between the two callbacks.
 */
async function isDuplicate(
  trx: Trx,
  p: { projectId: string; contactIds: string[]; messageId: string | null },
): Promise<boolean> {
  if (p.messageId === null) return false;
  const isRecorded = (of: RawBuilder<unknown>) => sql`EXISTS (
    SELECT FROM events
    WHERE project_id = ${p.projectId} AND name = ${SMS_RECEIVED_EVENT} AND ${of}
      AND created_at > now() - make_interval(days => ${REPEATED_FOR_DAYS}) AND data->>'messageId' = ${p.messageId})`;
  const { rows } = await sql<{ duplicate: boolean }>`
    SELECT ${isRecorded(sql`contact_id = ANY(${p.contactIds}::uuid[])`)} OR ${isRecorded(sql`contact_id IS NULL`)} AS duplicate
  `.execute(trx);
  return rows[0]?.duplicate === true;
}
