import { isDeepStrictEqual } from 'node:util';
import { normalizeEmail } from '../emails/email-address.ts';
import { type Data, mergeData } from '../filters/data-values.ts';
import { publicDataOf, type StoredData } from './public-data.ts';

/**
 * The writer of a change.
 * - `project`: a secret key, a session, an import, or the service itself.
 * - `unauthenticated`: any caller with the public key, or the sender of an email. It writes the part of `set` that
 *   `publicDataOf` leaves, removes nothing, unsubscribes no one, and subscribes no known contact who was ever
 *   unsubscribed.
 * - `visitor`: any caller with the public key of a project whose `publicKeyMode` is `open`. This caller can write,
 *   remove and unsubscribe like the project. Its values stay untrusted, and it can lift only its own refusals.
 * - A step of the project: the values of the keys `copied` are untrusted, and are stored as such. If an untrusted
 *   caller caused the change itself (`untrustedTrigger`), the step has that caller's limits on subscribing.
 */
export type Writer =
  | 'project'
  | 'unauthenticated'
  | 'visitor'
  | { copied: ReadonlySet<string>; untrustedTrigger: boolean };

/** The changes of one request to one contact. `set` and `remove` come from `applyData`. */
export interface ContactUpsert {
  email: string;
  /** Undefined keeps a known contact's state; a new one gets a default. */
  subscribed?: boolean | undefined;
  /** The state of a new contact if `subscribed` is undefined; replaces the caller's default. */
  subscribedIfNew?: boolean | undefined;
  /** Whether `subscribed: true` may lift the person's own refusal in a project that protects such refusals. */
  resubscribe?: boolean | undefined;
  set: Data;
  remove: string[];
  by: Writer;
}

export interface KnownContact extends StoredData {
  id: string;
  subscribed: boolean;
  /** Whether the contact was ever unsubscribed. Null if that is not known. */
  wasUnsubscribed: boolean | null;
  /** True if the contact has a double opt-in request and has not confirmed it. */
  pending?: boolean;
}

/** The change to write to a known contact. */
export interface ContactChange {
  id: string;
  subscribed: boolean | undefined;
  /**
   * True if the project unsubscribes a contact that is not subscribed. Nothing changes, but the refusal is recorded.
   */
  refuses: boolean;
  /** True if the public key unsubscribes the contact, which does not change `wasUnsubscribed`. */
  isVisitors: boolean;
  set: Data;
  remove: string[];
  /** Keys that become untrusted, and keys that become trusted. */
  distrust: string[];
  trust: string[];
}

/** Tells whether the request is untrusted. An untrusted request overrides no refusal. */
export function isUntrustedWrite({ by }: Pick<ContactUpsert, 'by'>): boolean {
  return by === 'unauthenticated' || by === 'visitor' || (by !== 'project' && by.untrustedTrigger);
}

/** Merges rows to one per address, ordered by address. Later rows override earlier ones. */
export function mergeByEmail(rows: ContactUpsert[]): Map<string, ContactUpsert> {
  const folded = new Map<string, ContactUpsert>();
  for (const row of rows) {
    const email = normalizeEmail(row.email);
    const before = folded.get(email);
    folded.set(email, before ? foldTwo(before, { ...row, email }) : { ...row, email });
  }
  return new Map([...folded].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the keys of a row's `set` that are untrusted once they are written. */
export function untrustedKeysOf({ set, by }: ContactUpsert): string[] {
  if (by === 'project') return [];
  return Object.keys(set).filter((key) => by === 'unauthenticated' || by === 'visitor' || by.copied.has(key));
}

/** Returns the changes of a row to the stored contact. Undefined if it changes nothing. */
export function changeOf(given: ContactUpsert, known: KnownContact): ContactChange | undefined {
  const row = given.by === 'unauthenticated' ? { ...given, set: publicDataOf(known, given.set), remove: [] } : given;
  const differing = Object.keys(row.set).filter((key) => !isSame(row.set[key], known.data[key]));
  const remove = row.remove.filter((key) => key in known.data);
  const untrusted = new Set(untrustedKeysOf(row));
  const written = [...remove, ...Object.keys(row.set).filter((key) => !untrusted.has(key))];
  const subscribed = subscribedBy(row, known);
  const isVisitors = row.by === 'visitor';
  const isPending = known.pending === true;
  const change: ContactChange = {
    id: known.id,
    subscribed,
    refuses: subscribed === false && !known.subscribed && !isVisitors && (known.wasUnsubscribed !== true || isPending),
    isVisitors,
    set: row.set,
    remove: row.remove,
    distrust: differing.filter((key) => untrusted.has(key)),
    trust: written.filter((key) => known.untrustedKeys.includes(key)),
  };
  const endsPending = isVisitors && subscribed === false && isPending;
  const says = change.refuses || endsPending || (subscribed !== undefined && subscribed !== known.subscribed);
  return says || differing.length + remove.length + change.trust.length > 0 ? change : undefined;
}

function subscribedBy(row: ContactUpsert, known: KnownContact): boolean | undefined {
  if (row.subscribed === true && isUntrustedWrite(row)) return known.wasUnsubscribed === false ? true : undefined;
  return row.subscribed === false && row.by === 'unauthenticated' ? undefined : row.subscribed;
}

function foldTwo(first: ContactUpsert, second: ContactUpsert): ContactUpsert {
  const removed = new Set([...first.remove, ...second.remove]);
  for (const key of Object.keys(second.set)) removed.delete(key);
  return {
    email: second.email,
    subscribed: second.subscribed ?? first.subscribed,
    subscribedIfNew: second.subscribedIfNew ?? first.subscribedIfNew,
    resubscribe: second.resubscribe ?? first.resubscribe,
    set: mergeData(first.set, second),
    remove: [...removed],
    by: foldWriters(first.by, second.by),
  };
}

/** Merges two writers. If they differ, the result is untrusted, which is the safe choice. */
function foldWriters(first: Writer, second: Writer): Writer {
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
function isSame(given: unknown, stored: unknown): boolean {
  return given === stored || (typeof given === 'object' && isDeepStrictEqual(given, stored));
}
