import { isDeepStrictEqual } from 'node:util';
import { normalizeEmail } from '../emails/email-address.ts';
import { type Data, mergeData } from '../filters/data-values.ts';
import { type StoredData, selectPublicData } from './public-data.ts';

/**
 * The writer of a change. An object stands for a step of a workflow.
 * - `project`: a secret key, a session, an import, or the service itself.
 * - `unauthenticated`: any caller with the public key, or the sender of an email. Such a caller can write only the part
 * of `set` that `selectPublicData` returns. An unauthenticated caller cannot remove data, cannot unsubscribe, and
 * cannot subscribe an existing contact unless the contact was never unsubscribed.
 * - `visitor`: any caller with the public key of a project whose `publicKeyMode` is `open`. This caller can write,
 * remove and unsubscribe like the project. The values of such a visitor stay untrusted, and the visitor can lift only
 * refusals that visitors caused.
 * - An object: a step of the project's workflow. The values that the step writes under the keys in `copied` are copies
 * of untrusted values, and are stored as untrusted. If an untrusted caller triggered the execution
 * (`untrustedTrigger`), the step cannot subscribe contacts that this caller could not subscribe.
 */
export type Writer =
  | 'project'
  | 'unauthenticated'
  | 'visitor'
  | { copied: ReadonlySet<string>; untrustedTrigger: boolean };

/** The changes of one request to one contact. `parseDataChanges` returns `set` and `remove`. */
export interface ContactUpsert {
  email: string;
  /**
   * Whether the contact gets marketing email. Undefined does not change an existing contact; a new contact then gets a
   * default.
   */
  subscribed?: boolean | undefined;
  /**
   * The default for a new contact if `subscribed` is undefined. If both are undefined, the default of the operation
   * that writes the contact applies.
   */
  subscribedIfNew?: boolean | undefined;
  /** True if `subscribed: true` may lift a refusal by the person, although the project protects such refusals. */
  resubscribe?: boolean | undefined;
  set: Data;
  remove: string[];
  by: Writer;
}

export interface ExistingContact extends StoredData {
  id: string;
  subscribed: boolean;
  /** True if the contact was ever unsubscribed. Null means unknown. */
  wasUnsubscribed: boolean | null;
  /** True if the contact has a double opt-in request and has not confirmed it. */
  pending?: boolean;
}

/** The change to write to an existing contact. */
export interface ContactChange {
  id: string;
  subscribed: boolean | undefined;
  /**
   * True if the project or its workflow unsubscribes a contact that is not subscribed. The subscription does not
   * change, but the service records the refusal.
   */
  refuses: boolean;
  /**
   * True if a `visitor` writes the change. If the visitor unsubscribes the contact, `wasUnsubscribed` does not change.
   */
  isVisitors: boolean;
  set: Data;
  remove: string[];
  /** The keys whose values become untrusted. */
  distrust: string[];
  /** The keys whose values become trusted. */
  trust: string[];
}

/**
 * Tells whether the writer is untrusted. An untrusted writer cannot subscribe a contact again, unless only a `visitor`
 * has unsubscribed the contact.
 */
export function isUntrustedWrite({ by }: Pick<ContactUpsert, 'by'>): boolean {
  return by === 'unauthenticated' || by === 'visitor' || (by !== 'project' && by.untrustedTrigger);
}

/** Merges rows to one per address, ordered by address. Later rows override earlier ones. */
export function mergeByEmail(rows: ContactUpsert[]): Map<string, ContactUpsert> {
  const merged = new Map<string, ContactUpsert>();
  for (const row of rows) {
    const email = normalizeEmail(row.email);
    const before = merged.get(email);
    merged.set(email, before ? mergeTwo(before, { ...row, email }) : { ...row, email });
  }
  return new Map([...merged].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the keys of a row's `set` that are untrusted once they are written. */
export function listUntrustedKeys({ set, by }: ContactUpsert): string[] {
  if (by === 'project') return [];
  return Object.keys(set).filter((key) => by === 'unauthenticated' || by === 'visitor' || by.copied.has(key));
}

/** Returns the changes of a row to the stored contact. Undefined if it changes nothing. */
export function findContactChange(upsert: ContactUpsert, contact: ExistingContact): ContactChange | undefined {
  const row =
    upsert.by === 'unauthenticated' ? { ...upsert, set: selectPublicData(contact, upsert.set), remove: [] } : upsert;
  const changedKeys = Object.keys(row.set).filter((key) => !isSame(row.set[key], contact.data[key]));
  const remove = row.remove.filter((key) => key in contact.data);
  const untrusted = new Set(listUntrustedKeys(row));
  const trustedKeys = [...remove, ...Object.keys(row.set).filter((key) => !untrusted.has(key))];
  const subscribed = findSubscriptionToWrite(row, contact);
  const isVisitors = row.by === 'visitor';
  const isPending = contact.pending === true;
  const change: ContactChange = {
    id: contact.id,
    subscribed,
    refuses:
      subscribed === false && !contact.subscribed && !isVisitors && (contact.wasUnsubscribed !== true || isPending),
    isVisitors,
    set: row.set,
    remove: row.remove,
    distrust: changedKeys.filter((key) => untrusted.has(key)),
    trust: trustedKeys.filter((key) => contact.untrustedKeys.includes(key)),
  };
  const endsPending = isVisitors && subscribed === false && isPending;
  const changesConsent =
    change.refuses || endsPending || (subscribed !== undefined && subscribed !== contact.subscribed);
  return changesConsent || changedKeys.length + remove.length + change.trust.length > 0 ? change : undefined;
}

function findSubscriptionToWrite(row: ContactUpsert, contact: ExistingContact): boolean | undefined {
  if (row.subscribed === true && isUntrustedWrite(row)) return contact.wasUnsubscribed === false ? true : undefined;
  return row.subscribed === false && row.by === 'unauthenticated' ? undefined : row.subscribed;
}

function mergeTwo(first: ContactUpsert, second: ContactUpsert): ContactUpsert {
  const removed = new Set([...first.remove, ...second.remove]);
  for (const key of Object.keys(second.set)) removed.delete(key);
  return {
    email: second.email,
    subscribed: second.subscribed ?? first.subscribed,
    subscribedIfNew: second.subscribedIfNew ?? first.subscribedIfNew,
    resubscribe: second.resubscribe ?? first.resubscribe,
    set: mergeData(first.set, second),
    remove: [...removed],
    by: mergeWriters(first.by, second.by),
  };
}

/** Merges two writers. The result is the less trusted one of the two, which is the safe choice. */
function mergeWriters(first: Writer, second: Writer): Writer {
  if (first === 'unauthenticated' || second === 'unauthenticated') return 'unauthenticated';
  if (first === 'visitor' || second === 'visitor') return 'visitor';
  if (first === 'project') return second;
  if (second === 'project') return first;
  return {
    copied: new Set([...first.copied, ...second.copied]),
    untrustedTrigger: first.untrustedTrigger || second.untrustedTrigger,
  };
}

/** Compares JSON values, because Postgres returns an object's keys in another order. */
function isSame(upsert: unknown, stored: unknown): boolean {
  return upsert === stored || (typeof upsert === 'object' && isDeepStrictEqual(upsert, stored));
}
