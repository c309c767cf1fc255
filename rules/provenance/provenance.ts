/**
 * Values by name, together with the names of untrusted values: values that came with the public key, which every page
 * contains, or in an email, which anyone can write. All code that reads contact data, payloads of events or variables
 * takes or returns this form, so that the origin of a value cannot get lost. A name in `untrusted` is only ever text
 * in emails, and never an address, link, markup or header, wherever it is copied.
 * The private member exists for the compiler only: an object literal or a spread copy is not a `Sourced`, so code
 * that copies values must state their origin through a function of this file.
 */
export declare abstract class Sourced<T = Record<string, unknown>> {
  private readonly origin: never;
  readonly values: T;
  /** Names at the top level of `values`. */
  readonly untrusted: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/** Marks values of the tenant (a secret key, a session, an import) or of the service itself. */
export function markTrusted<T>(values: T): Sourced<T> {
  return withOrigin(values, NONE);
}

/** Marks values with the names of untrusted ones, as stored in a row. */
export function markUntrusted<T>(values: T, untrusted: readonly string[] | null | undefined): Sourced<T> {
  return withOrigin(values, untrusted && untrusted.length > 0 ? new Set(untrusted) : NONE);
}

/** Marks all values as untrusted, or as the tenant's. */
export function markUntrustedIf<T extends object>(values: T, isUntrusted: boolean): Sourced<T> {
  return isUntrusted ? markUntrusted(values, Object.keys(values)) : markTrusted(values);
}

/**
 * Copies `base` and overrides its values with the values of `over`. Each value stays trusted or untrusted, as in the
 * object from which it was copied.
 */
export function overlay<T extends object>(base: Sourced<T>, over: Sourced<T>): Sourced<T> {
  const values = { ...base.values, ...over.values };
  if (base.untrusted.size === 0) return withOrigin(values, over.untrusted);
  const kept = [...base.untrusted].filter((name) => !Object.hasOwn(over.values, name));
  return markUntrusted(values, [...kept, ...over.untrusted]);
}

/** Returns the names of untrusted values, in the form that a row stores them. */
export function untrustedNames({ untrusted }: Sourced<unknown>): string[] {
  return [...untrusted];
}

function withOrigin<T>(values: T, untrusted: ReadonlySet<string>): Sourced<T> {
  return { values, untrusted } as Sourced<T>;
}

/** One value, and whether it contains an untrusted value. */
export interface SourcedValue<T = unknown> {
  readonly value: T;
  readonly untrusted: boolean;
}
