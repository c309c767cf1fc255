import { isDeepStrictEqual } from 'node:util';
import { type Data, mergeData } from './data-values.ts';
import { normalizeEmail } from './email-address.ts';
import { publicDataOf, type StoredData } from './public-data.ts';

/** What one request says about one contact; `set` and `remove` come from `applyData`. */
export interface ContactUpsert {
  email: string;
  /** Undefined keeps a known contact's state; a new one gets a default. */
  subscribed?: boolean | undefined;
  set: Data;
  remove: string[];
  /**
   * Said by a stranger, with the public key or in a mail: it writes what `publicDataOf` leaves of `set`, removes nothing, unsubscribes nobody, and
   * subscribes no known contact who was ever unsubscribed.
   */
  untrusted?: boolean;
  /** Keys of `set` into which the project's own step copied what a stranger brought: they are remembered as strangers'. */
  copied?: ReadonlySet<string> | undefined;
  /** A step's change that a stranger brought about: it subscribes nobody whom the stranger could not. */
  forStranger?: boolean;
}

export interface KnownContact extends StoredData {
  id: string;
  subscribed: boolean;
  /** Whether anybody ever unsubscribed them; null where that is not known. */
  wasUnsubscribed: boolean | null;
}

/** What is to be written about a known contact. */
export interface ContactChange {
  id: string;
  subscribed: boolean | undefined;
  /** The project says of a contact who is not subscribed that they are not to be: that is remembered, though nothing changes. */
  refuses: boolean;
  set: Data;
  remove: string[];
  /** Keys that become, and that cease to be, strangers'. */
  distrust: string[];
  trust: string[];
}

/** Whether a stranger is behind the request: it overrules nobody's refusal. */
export function isStrangers(row: Pick<ContactUpsert, 'untrusted' | 'forStranger'>): boolean {
  return row.untrusted === true || row.forStranger === true;
}

/** One row an address, in the order of addresses: later rows win over earlier ones. */
export function foldByEmail(rows: ContactUpsert[]): Map<string, ContactUpsert> {
  const folded = new Map<string, ContactUpsert>();
  for (const row of rows) {
    const email = normalizeEmail(row.email);
    const before = folded.get(email);
    folded.set(email, before ? foldTwo(before, { ...row, email }) : { ...row, email });
  }
  return new Map([...folded].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The keys of a row's `set` that are strangers' once they are written. */
export function strangersKeys({ set, untrusted, copied }: ContactUpsert): string[] {
  return Object.keys(set).filter((key) => untrusted || copied?.has(key));
}

/** What a row changes about a contact as they are stored; undefined where it changes nothing. */
export function changeOf(given: ContactUpsert, known: KnownContact): ContactChange | undefined {
  const row = given.untrusted ? { ...given, set: publicDataOf(known, given.set), remove: [] } : given;
  const differing = Object.keys(row.set).filter((key) => !isSame(row.set[key], known.data[key]));
  const remove = row.remove.filter((key) => key in known.data);
  const strangers = new Set(strangersKeys(row));
  const written = [...remove, ...Object.keys(row.set).filter((key) => !strangers.has(key))];
  const subscribed = subscribedBy(row, known);
  const change: ContactChange = {
    id: known.id,
    subscribed,
    refuses: subscribed === false && !known.subscribed && known.wasUnsubscribed !== true,
    set: row.set,
    remove: row.remove,
    distrust: differing.filter((key) => strangers.has(key)),
    trust: written.filter((key) => known.untrustedKeys.includes(key)),
  };
  const says = change.refuses || (subscribed !== undefined && subscribed !== known.subscribed);
  return says || differing.length + remove.length + change.trust.length > 0 ? change : undefined;
}

function subscribedBy(row: ContactUpsert, known: KnownContact): boolean | undefined {
  if (row.subscribed === true && isStrangers(row)) return known.wasUnsubscribed === false ? true : undefined;
  return row.subscribed === false && row.untrusted ? undefined : row.subscribed;
}

function foldTwo(first: ContactUpsert, second: ContactUpsert): ContactUpsert {
  const removed = new Set([...first.remove, ...second.remove]);
  for (const key of Object.keys(second.set)) removed.delete(key);
  return {
    email: second.email,
    subscribed: second.subscribed ?? first.subscribed,
    set: mergeData(first.set, second),
    remove: [...removed],
    // Mixed rows count as a stranger's: it is the side that can do no harm.
    untrusted: first.untrusted || second.untrusted || false,
    copied: new Set([...(first.copied ?? []), ...(second.copied ?? [])]),
    forStranger: first.forStranger || second.forStranger || false,
  };
}

/** As JSON values: an object's keys come back from Postgres in another order. */
function isSame(given: unknown, stored: unknown): boolean {
  return given === stored || (typeof given === 'object' && isDeepStrictEqual(given, stored));
}
