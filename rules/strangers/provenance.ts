/**
 * Values by name, together with the names whose values strangers brought: by the public key, which stands in every
 * page, or in a mail that anybody can write. Everything that reads contact data, payloads of events or variables takes
 * or gives it in this form, so that where a value came from cannot get lost on the way: a name among `untrusted` is
 * text in mails, and no address, link, markup or header, wherever it is copied to.
 *
 * The private member exists for the compiler only: an object literal or a spread copy is not a `Sourced`, so code that
 * copies values says through a function of this file where they came from.
 */
export declare abstract class Sourced<T = Record<string, unknown>> {
  private readonly origin: never;
  readonly values: T;
  /** Names at the top level of `values`. */
  readonly untrusted: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/** Values of the tenant: a secret key, a session, an import; or of the service itself. */
export function markTrusted<T>(values: T): Sourced<T> {
  return withOrigin(values, NONE);
}

/** Values of which strangers brought these names, as a row has them. */
export function markUntrusted<T>(values: T, untrusted: readonly string[] | null | undefined): Sourced<T> {
  return withOrigin(values, untrusted && untrusted.length > 0 ? new Set(untrusted) : NONE);
}

/** Values that a stranger brought, or the tenant. */
export function broughtBy<T extends object>(values: T, stranger: boolean): Sourced<T> {
  return stranger ? markUntrusted(values, Object.keys(values)) : markTrusted(values);
}

/** Copies values with others over them. A name keeps the origin of the value that it has in the copy. */
export function overlay<T extends object>(base: Sourced<T>, over: Sourced<T>): Sourced<T> {
  const values = { ...base.values, ...over.values };
  if (base.untrusted.size === 0) return withOrigin(values, over.untrusted);
  const kept = [...base.untrusted].filter((name) => !Object.hasOwn(over.values, name));
  return markUntrusted(values, [...kept, ...over.untrusted]);
}

/** Takes the names that strangers brought, in the form that a row stores them. */
export function untrustedNames({ untrusted }: Sourced<unknown>): string[] {
  return [...untrusted];
}

function withOrigin<T>(values: T, untrusted: ReadonlySet<string>): Sourced<T> {
  return { values, untrusted } as Sourced<T>;
}

/** One value, and whether a stranger's went into it. */
export interface Taken<T = unknown> {
  readonly value: T;
  readonly untrusted: boolean;
}
