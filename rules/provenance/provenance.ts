/**
 * Values by name, and the names of the untrusted values. Untrusted values came with the public key, which every page
 * contains, or in an email or SMS, which anyone can write. Code that copies contact data, payloads of events or
 * variables takes and returns this type, so that the origin of a value is never lost. Wherever an untrusted value is
 * copied, emails show it only as text, and never use it in an address, link, markup or header. The private member
 * exists only for the compiler: an object literal or a spread copy is not a `Sourced`. Code that copies values must
 * therefore call a function of this file, which states the origin of the values.
 */
export declare abstract class Sourced<T = Record<string, unknown>> {
  private readonly origin: never;
  readonly values: T;
  /** The names, at the top level of `values`, whose values are untrusted. */
  readonly untrusted: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Marks all values as trusted. Trusted values come from the tenant (a secret key, a session, an import) or from the
 * service itself.
 */
export function markTrusted<T>(values: T): Sourced<T> {
  return createSourced(values, NONE);
}

/** Marks the values under these names as untrusted, and all other values as trusted. A row stores such names. */
export function markUntrusted<T>(values: T, untrusted: readonly string[] | null | undefined): Sourced<T> {
  return createSourced(values, untrusted && untrusted.length > 0 ? new Set(untrusted) : NONE);
}

/** Marks all values as untrusted if `isUntrusted` is true, else as trusted. */
export function markUntrustedIf<T extends object>(values: T, isUntrusted: boolean): Sourced<T> {
  return isUntrusted ? markUntrusted(values, Object.keys(values)) : markTrusted(values);
}

/**
 * Copies `base` and overrides its values with the values of `over`. Each value is trusted or untrusted as in the object
 * from which it was copied.
 */
export function overrideValues<T extends object>(base: Sourced<T>, over: Sourced<T>): Sourced<T> {
  const values = { ...base.values, ...over.values };
  if (base.untrusted.size === 0) return createSourced(values, over.untrusted);
  const kept = [...base.untrusted].filter((name) => !Object.hasOwn(over.values, name));
  return markUntrusted(values, [...kept, ...over.untrusted]);
}

/** Returns the names of untrusted values as an array, to store them in a row. */
export function listUntrustedNames({ untrusted }: Sourced<unknown>): string[] {
  return [...untrusted];
}

function createSourced<T>(values: T, untrusted: ReadonlySet<string>): Sourced<T> {
  return { values, untrusted } as Sourced<T>;
}

/** A value, and whether it contains an untrusted value. */
export interface SourcedValue<T = unknown> {
  readonly value: T;
  readonly untrusted: boolean;
}
