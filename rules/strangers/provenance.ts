/**
 * Values by name, together with the names whose values strangers brought: by the public key, which stands in every
 * page, or in a mail that anybody can write. Everything that reads contact data, payloads of events or variables takes
 * or gives it in this form, so that where a value came from cannot get lost on the way: a name among `untrusted` is
 * text in mails, and no address, link, markup or header, wherever it is copied to.
 */
export interface Sourced<T = Record<string, unknown>> {
  readonly values: T;
  /** Names at the top level of `values`. */
  readonly untrusted: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/** Values of the tenant: a secret key, a session, an import; or of the service itself. */
export function trusted<T>(values: T): Sourced<T> {
  return { values, untrusted: NONE };
}

/** Values of which strangers brought these names, as a row has them. */
export function sourced<T>(values: T, untrusted: readonly string[] | null | undefined): Sourced<T> {
  return { values, untrusted: untrusted && untrusted.length > 0 ? new Set(untrusted) : NONE };
}

/** Values that a stranger brought, or the tenant. */
export function broughtBy<T extends object>(values: T, stranger: boolean): Sourced<T> {
  return stranger ? sourced(values, Object.keys(values)) : trusted(values);
}

/** One value, and whether a stranger's went into it. */
export interface Taken<T = unknown> {
  readonly value: T;
  readonly untrusted: boolean;
}
