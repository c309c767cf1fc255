import type { FieldError } from '../errors.ts';

/** Names with a meaning for the service. A caller's value under one of them is dropped silently (rule 5). */
export const RESERVED_DATA_KEYS: ReadonlySet<string> = new Set([
  'id',
  'service_id',
  'service_email',
  'email',
  'unsubscribeUrl',
  'subscribeUrl',
  'manageUrl',
  'confirmUrl',
]);

/** Fields of a contact that are not data. The value names the place where a caller sets the field. */
const CONSENT_KEYS: ReadonlyMap<string, string> = new Map([
  ['subscribed', 'set `subscribed` beside `data`'],
  ['smsSubscribed', 'consent to SMS follows STOP and START'],
  ['topics', 'set `topics` of the contact'],
]);

/** Other spellings of consent fields, which clients in other languages use: `Subscribed`, `sms_subscribed`. */
const CONSENT_SPELLINGS: ReadonlyMap<string, string> = new Map(
  ['subscribed', 'smsSubscribed'].map((key) => [key.toLowerCase(), key]),
);

/** Returns the place where a caller sets the contact's field with this name; undefined for a data field. */
export function consentPlaceOf(key: string): string | undefined {
  const meant = CONSENT_SPELLINGS.get(key.toLowerCase().replaceAll(/[\s_-]/g, ''));
  return CONSENT_KEYS.get(meant ?? key);
}

/**
 * How `applyData` treats names of consent: `refuse` reports an error that names the right place, `drop` omits them
 * (requests with the public key), `keep` stores them as data (steps that were saved before such names were refused).
 */
export type ConsentNames = 'refuse' | 'drop' | 'keep';

/** Limits of one contact's data (contract §3.2 Data). The size is its JSON in UTF-8 bytes. */
export const DATA_LIMITS = { keyLength: 100, keys: 200, bytes: 65_536, depth: 20 } as const;

export type Data = Record<string, unknown>;

export interface DataChanges {
  /** Stored on the contact. */
  set: Data;
  /** Deleted from the contact. */
  remove: string[];
  /** Variables of this request only. */
  oneOff: Data;
  /**
   * Keys that were dropped because the key itself is not allowed. A key that was skipped because its value is an empty
   * string is not listed.
   */
  ignored: string[];
  /** Violated limits. Nothing may be stored unless this is empty. */
  errors: FieldError[];
}

/**
 * Sorts the `data` of a request by the five value rules: a value is stored, `null` deletes, an empty string is
 * skipped, `{ value, persistent: false }` counts for this request only, reserved keys are dropped. `{ value,
 * persistent: true }` is its value. Arrays and other objects are stored as given. Source: contract §3.2 Data.
 */
export function applyData(input: Readonly<Data> | null | undefined, consent: ConsentNames = 'refuse'): DataChanges {
  const field = 'data';
  const changes: DataChanges = { set: {}, remove: [], oneOff: {}, ignored: [], errors: [] };
  for (const [key, value] of Object.entries(input ?? {})) sortValue(changes, key, value, { field, consent });
  changes.errors.push(...checkData(changes.set, field), ...checkData(changes.oneOff, field));
  return changes;
}

/** Returns the contact's data after `changes`; both arguments stay untouched. Check the result with `checkData`. */
export function mergeData(
  current: Readonly<Data> | null | undefined,
  changes: Pick<DataChanges, 'set' | 'remove'>,
): Data {
  const merged: Data = { ...current, ...changes.set };
  for (const key of changes.remove) delete merged[key];
  return merged;
}

/** Returns the violated limits of a contact's whole data: the number of keys and the size of its JSON. */
export function checkData(data: Readonly<Data>, field = 'data'): FieldError[] {
  const errors: FieldError[] = [];
  if (Object.keys(data).length > DATA_LIMITS.keys)
    errors.push({ field, message: `At most ${DATA_LIMITS.keys} fields are kept for a contact.`, code: 'too_big' });
  if (Buffer.byteLength(JSON.stringify(data)) > DATA_LIMITS.bytes)
    errors.push({
      field,
      message: `The data of a contact is at most ${DATA_LIMITS.bytes} bytes of JSON.`,
      code: 'too_big',
    });
  return errors;
}

/** Returns the data as plain values: `{ value, persistent }` is replaced by its value. */
export function plainData(data: Readonly<Data>): Data {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, unwrap(value).value ?? null]));
}

function sortValue(
  changes: DataChanges,
  key: string,
  value: unknown,
  { field, consent }: { field: string; consent: ConsentNames },
): void {
  // `__proto__` as an assigned key would change the prototype of our own objects instead of being stored. A field that
  // an earlier release stored under another spelling can still be deleted.
  const isConsent = consentPlaceOf(key) !== undefined && (value !== null || CONSENT_KEYS.has(key));
  if (RESERVED_DATA_KEYS.has(key) || key === '__proto__' || (isConsent && consent === 'drop')) {
    changes.ignored.push(key);
    return;
  }
  const wrapped = unwrap(value);
  const fault =
    (isConsent && consent === 'refuse' && consentFault(key)) || (keyFault(key) ?? valueFault(wrapped.value, 1));
  if (fault) {
    changes.errors.push({ field: `${field}.${key.slice(0, DATA_LIMITS.keyLength)}`, ...fault });
  } else if (wrapped.oneOff) {
    changes.oneOff[key] = wrapped.value ?? null;
  } else if (wrapped.value === null) {
    changes.remove.push(key);
  } else if (wrapped.value !== '' && wrapped.value !== undefined) {
    changes.set[key] = wrapped.value;
  }
}

function unwrap(value: unknown): { value: unknown; oneOff: boolean } {
  if (!isPlainObject(value) || typeof value.persistent !== 'boolean') return { value, oneOff: false };
  // A client with an undefined value sends `{"persistent":false}`. It is a missing one-off value, not an object to
  // store.
  if (Object.keys(value).some((name) => name !== 'value' && name !== 'persistent')) return { value, oneOff: false };
  return { value: value.value, oneOff: !value.persistent };
}

type Fault = Pick<FieldError, 'message' | 'code'>;

function consentFault(key: string): Fault {
  return { message: `"${key}" is not data: ${consentPlaceOf(key)}.`, code: 'custom' };
}

/** Returns why a text cannot be the name of a data field. Undefined if it can. */
export function keyFault(key: string): Fault | undefined {
  if (key.length < 1) return { message: 'The name of a field has at least 1 character.', code: 'too_small' };
  if (key.length > DATA_LIMITS.keyLength)
    return { message: `The name of a field has at most ${DATA_LIMITS.keyLength} characters.`, code: 'too_big' };
  return textFault(key);
}

/**
 * Returns why a value cannot be stored as data. Undefined if it can. Postgres cannot store NUL or half a surrogate pair
 * in jsonb, and a deeply nested value would overflow the stack of a reader.
 */
function valueFault(value: unknown, depth: number): Fault | undefined {
  if (typeof value === 'string') return textFault(value);
  if (typeof value === 'number' && !Number.isFinite(value))
    return { message: 'A number must be finite.', code: 'custom' };
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint')
    return { message: 'The value must be JSON.', code: 'invalid_type' };
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > DATA_LIMITS.depth)
    return { message: `A value is nested at most ${DATA_LIMITS.depth} deep.`, code: 'too_big' };
  for (const [name, inner] of Object.entries(value)) {
    const fault = textFault(name) ?? valueFault(inner, depth + 1);
    if (fault) return fault;
  }
  return undefined;
}

function textFault(text: string): Fault | undefined {
  if (!/\0|\p{Cs}/u.test(text)) return undefined;
  return { message: 'Text may not contain NUL or unpaired surrogates.', code: 'invalid_string' };
}

/** Tells whether a value is a JSON object: neither a list nor null. */
export function isPlainObject(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
