import { waitFor } from './client.ts';
import type { TourContext } from './execution.ts';

/** The longest wait for a record. Normally feedback is recorded within milliseconds, but a busy machine may be slow. */
export const RECORD_TIMEOUT_MS = 30_000;
const LABEL_CHARS = 13;
/** The fields of an email that are printed, if they are not empty. */
const EMAIL_FIELDS = [
  ...['id', 'to', 'from', 'subject', 'status', 'sourceType', 'reason', 'error', 'opens', 'clicks'],
  ...['sentAt', 'deliveredAt', 'openedAt', 'clickedAt', 'bouncedAt', 'complainedAt', 'failedAt'],
];

/** The facts that the service must record for a successful loop. */
export interface ExpectedRecord {
  readonly status: string;
  /** Name of an event that the contact must have. */
  readonly event: string;
  /** The reason why the email was not sent or not delivered. */
  readonly reason?: string;
  /** Whether the contact is subscribed. */
  readonly subscribed?: boolean;
  /** The reason of `contact.unsubscribed`. */
  readonly because?: string;
  /** The reason on the suppression list. */
  readonly suppressed?: string;
}

interface RecordedEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Waits until an email has the status `status`, prints the progress, and returns the email.
 * @throws Error with the actual status
 */
export async function waitForStatus({ client, report }: TourContext, id: string, status: string) {
  let last = '';
  const find = async () => {
    const { data } = await client.call('GET', `/v1/emails/${id}`);
    last = data.status;
    if (last === status) return data;
    report.progress(`email ${id} is ${last} …`);
    return undefined;
  };
  return waitFor(`${status} of email ${id}`, find, RECORD_TIMEOUT_MS).catch((cause: Error) => {
    throw new Error(`${cause.message}: the email is ${last}`, { cause });
  });
}

/**
 * Waits until an email has the expected status, and then prints its record: the email, the contact with all its events
 * and their payloads, and its entry in the suppression list.
 * @returns the expected facts that are recorded, as text
 * @throws Error that names the first missing fact, after the record is printed
 */
export async function showRecord(
  tour: TourContext,
  { emailId, contactId }: { emailId: string; contactId: string },
  expected: ExpectedRecord,
): Promise<string> {
  const { client } = tour;
  const email = await waitForStatus(tour, emailId, expected.status);
  const contact = await client.call('GET', `/contacts/${contactId}`);
  const events: RecordedEvent[] = (await client.call('GET', `/events/contact/${contactId}`)).data.toReversed();
  const listed = (await client.call('GET', '/suppressions?limit=100')).data;
  const entry = listed.find((found: { email: string | null }) => found.email === contact.email);
  printContent(tour, 'email', pickFilled(email, EMAIL_FIELDS));
  for (const { name, data } of events) printContent(tour, 'event', data, name);
  printContent(tour, 'contact', pickFilled(contact, ['id', 'email', 'subscribed']));
  if (entry) printContent(tour, 'suppression', pickFilled(entry, ['email', 'reason', 'source', 'createdAt']));
  const unsubscribed = events.find(({ name }) => name === 'contact.unsubscribed');
  return assertRecord(expected, {
    status: email.status,
    event: events.find(({ name }) => name === expected.event)?.name,
    reason: email.reason,
    subscribed: contact.subscribed,
    because: unsubscribed?.data.reason,
    suppressed: entry?.reason,
  });
}

/** Prints one line: the kind, the name if there is one, and the content as JSON. */
export function printContent({ report }: TourContext, what: string, content: object, name = ''): void {
  report.line(`${what.padEnd(LABEL_CHARS)}${name && `${name} `}${JSON.stringify(content)}`);
}

/**
 * Compares a record with the expected fields.
 * @returns the record as text
 * @throws Error that names the first difference
 */
export function assertRecord<T extends object>(
  expected: T,
  recorded: { readonly [K in keyof Required<T>]: unknown },
): string {
  const fields = Object.entries(expected);
  for (const [field, value] of fields) {
    const actual = recorded[field as keyof T];
    if (actual !== value) throw new Error(`${field} is ${JSON.stringify(actual)}, not ${JSON.stringify(value)}`);
  }
  return fields.map(([field, value]) => `${field} ${value}`).join(', ');
}

/** Returns the fields that are not empty. */
function pickFilled(record: Readonly<Record<string, unknown>>, fields: readonly string[]): Record<string, unknown> {
  const isEmpty = (value: unknown) => value === null || value === undefined || value === 0;
  return Object.fromEntries(fields.flatMap((field) => (isEmpty(record[field]) ? [] : [[field, record[field]]])));
}
