import { findSuppressions } from '../../db/contacts/suppressions.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { buildContact, buildEmail } from '../build/emails.ts';
import { TEST_SECRET_KEY } from '../build/senders.ts';
import type { TestApi } from './api.ts';

const suppressionKey = deriveKey(TEST_SECRET_KEY, 'suppression');

/** A sent email to a new contact. */
export interface SentEmail {
  id: string;
  email: string;
  contactId: string;
}

/** Builds an email of the first project, sent to a new contact. */
export async function buildSentEmail({ db, one }: TestApi): Promise<SentEmail> {
  const email = `reader-${Math.random().toString(36).slice(2)}@example.com`;
  const contactId = await buildContact(db, { projectId: one.id, email, data: { name: 'Ada' } });
  const id = await buildEmail(db, { projectId: one.id, contactId, to: email, status: 'SENT', variables: {} });
  return { id, email, contactId };
}

/**
 * Returns the state of an email and its contact: its row, the contact's events in order, and the reasons of
 * suppression.
 */
export async function readEmailState({ db, one }: TestApi, { id, email, contactId }: SentEmail) {
  const mail = await db.selectFrom('emails').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const contact = await db.selectFrom('contacts').select('subscribed').where('id', '=', contactId).executeTakeFirst();
  const events = await db
    .selectFrom('events')
    .select(['name', 'data'])
    .where('contact_id', '=', contactId)
    .orderBy('id')
    .execute();
  const entries = await findSuppressions(db, suppressionKey, { projectId: one.id, emails: [email] });
  return {
    mail,
    subscribed: contact?.subscribed,
    events,
    names: events.map((event) => event.name),
    entries: entries.get(email) ?? [],
  };
}
