import type { FieldError } from '../errors.ts';

/**
 * Names that have a meaning for the service. A caller's value under such a name is dropped without an error (rule 5 of
 * contract §3.2 Data).
 */
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

/** Fields of a contact that are not data, each with a hint how to set the field. */
const CONSENT_KEYS: ReadonlyMap<string, string> = new Map([
  ['subscribed', 'set `subscribed` beside `data`'],
  ['smsSubscribed', 'consent to SMS follows STOP and START'],
  ['topics', 'set `topics` of the contact'],
]);

/**
 * The consent fields by their spelling without case, spaces, `_` and `-`. Clients in other languages write `Subscribed`
 * or `sms_subscribed`.
 */
const CONSENT_SPELLINGS: ReadonlyMap<string, string> = new Map(
  ['subscribed', 'smsSubscribed'].map((key) => [key.toLowerCase(), key]),
);

/** Returns the hint how to set a field that is not data. Undefined for the name of a data field. */
export function findConsentHint(key: string): string | undefined {
  const canonicalKey = CONSENT_SPELLINGS.get(key.toLowerCase().replaceAll(/[\s_-]/g, ''));
  return CONSENT_KEYS.get(canonicalKey ?? key);
}

/**
 * How `parseDataChanges` treats the names of consent fields. `refuse` reports an error with a hint. `drop` ignores them
 * (for requests with the public key). `keep` stores them as data (for steps that were saved before such names were
 * refused).
 */
export type ConsentNames = 'refuse' | 'drop' | 'keep';

/** The limits of one contact's data (contract §3.2 Data). `bytes` is the size of the data as JSON in UTF-8. */
export const DATA_LIMITS = { keyLength: 100, keys: 200, bytes: 65_536, depth: 20 } as const;

export type Data = Record<string, unknown>;

export interface DataChanges {
  /** The values to store on the contact. */
  set: Data;
  /** The keys to delete from the contact. */
  remove: string[];
  /** Values that are variables of this request only, and are not stored. */
  oneOff: Data;
  /**
   * Keys that were dropped because they are not allowed. Keys that were skipped because their value is an empty string
   * are not listed.
   */
  ignored: string[];
  /** The errors in the data. If the data has errors, nothing may be stored. */
  errors: FieldError[];
}

/**
 * Applies the five rules for values to the `data` of a request. A value is stored. `null` deletes the key. An empty
 * string is skipped. `{ value, persistent: false }` applies to this request only. Reserved keys are dropped. `{ value,
 * persistent: true }` means the same as `value` alone. Arrays and other objects are stored unchanged. Source: contract
 * §3.2 Data.
 */
export function parseDataChanges(
  input: Readonly<Data> | null | undefined,
  consent: ConsentNames = 'refuse',
): DataChanges {
  const field = 'data';
  const changes: DataChanges = { set: {}, remove: [], oneOff: {}, ignored: [], errors: [] };
  for (const [key, value] of Object.entries(input ?? {})) applyValue(changes, key, value, { field, consent });
  changes.errors.push(...checkData(changes.set, field), ...checkData(changes.oneOff, field));
  return changes;
}

/** Returns the contact's data after `changes`, without changing its arguments. Check the result with `checkData`. */
export function mergeData(
  current: Readonly<Data> | null | undefined,
  changes: Pick<DataChanges, 'set' | 'remove'>,
): Data {
  const merged: Data = { ...current, ...changes.set };
  for (const key of changes.remove) delete merged[key];
  return merged;
}

/** Returns an error for each limit that a contact's whole data exceeds: the number of keys, and the size as JSON. */
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

/** Returns the data with each `{ value, persistent }` replaced by its value. */
export function unwrapValues(data: Readonly<Data>): Data {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, unwrap(value).value ?? null]));
}

function applyValue(
  changes: DataChanges,
  key: string,
  value: unknown,
  { field, consent }: { field: string; consent: ConsentNames },
): void {
  // Assigning to the key `__proto__` would change the prototype of an object instead of storing a value, so the key is
  // dropped. A consent field that an earlier release stored as data under another spelling can still be deleted.
  const isConsent = findConsentHint(key) !== undefined && (value !== null || CONSENT_KEYS.has(key));
  if (RESERVED_DATA_KEYS.has(key) || key === '__proto__' || (isConsent && consent === 'drop')) {
    changes.ignored.push(key);
    return;
  }
  const unwrapped = unwrap(value);
  const error =
    (isConsent && consent === 'refuse' && createConsentError(key)) ||
    (findKeyError(key) ?? findValueError(unwrapped.value, 1));
  if (error) {
    changes.errors.push({ field: `${field}.${key.slice(0, DATA_LIMITS.keyLength)}`, ...error });
  } else if (unwrapped.oneOff) {
    changes.oneOff[key] = unwrapped.value ?? null;
  } else if (unwrapped.value === null) {
    changes.remove.push(key);
  } else if (unwrapped.value !== '' && unwrapped.value !== undefined) {
    changes.set[key] = unwrapped.value;
  }
}

function unwrap(value: unknown): { value: unknown; oneOff: boolean } {
  if (!isPlainObject(value) || typeof value.persistent !== 'boolean') return { value, oneOff: false };
  // A client whose value is undefined sends `{"persistent":false}`. The object `{"persistent":false}` means a missing
  // value for this request only, not an object to store.
  if (Object.keys(value).some((name) => name !== 'value' && name !== 'persistent')) return { value, oneOff: false };
  return { value: value.value, oneOff: !value.persistent };
}

type ValueError = Pick<FieldError, 'message' | 'code'>;

function createConsentError(key: string): ValueError {
  return { message: `"${key}" is not data: ${findConsentHint(key)}.`, code: 'custom' };
}

/** Returns an error if a text cannot be the name of a data field, else undefined. */
export function findKeyError(key: string): ValueError | undefined {
  if (key.length < 1) return { message: 'The name of a field has at least 1 character.', code: 'too_small' };
  if (key.length > DATA_LIMITS.keyLength)
    return { message: `The name of a field has at most ${DATA_LIMITS.keyLength} characters.`, code: 'too_big' };
  return findTextError(key);
}

/**
 * Returns an error if a value cannot be stored as data, else undefined. Postgres cannot store NUL or half a surrogate
 * pair in jsonb. A deeply nested value could overflow the stack of code that reads it.
 */
function findValueError(value: unknown, depth: number): ValueError | undefined {
  if (typeof value === 'string') return findTextError(value);
  if (typeof value === 'number' && !Number.isFinite(value))
    return { message: 'A number must be finite.', code: 'custom' };
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint')
    return { message: 'The value must be JSON.', code: 'invalid_type' };
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > DATA_LIMITS.depth)
    return { message: `A value is nested at most ${DATA_LIMITS.depth} deep.`, code: 'too_big' };
  for (const [name, inner] of Object.entries(value)) {
    const error = findTextError(name) ?? findValueError(inner, depth + 1);
    if (error) return error;
  }
  return undefined;
}

function findTextError(text: string): ValueError | undefined {
  if (!/\0|\p{Cs}/u.test(text)) return undefined;
  return { message: 'Text may not contain NUL or unpaired surrogates.', code: 'invalid_string' };
}

/** Tells whether a value is a JSON object: neither a list nor null. */
export function isPlainObject(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
