import type { Environment, ValuesOf, Variables } from './variable.ts';

/** The variables of one provider, and the settings that are read from the variables. */
export interface ProviderConfig<V extends Variables, S> {
  readonly variables: V;
  /**
   * Returns the settings. The settings are also needed if another provider is chosen, because callbacks about earlier
   * messages still arrive.
   */
  settings(values: ValuesOf<V>, env: Environment): S;
  /** Returns the settings that are required if this provider is chosen, by the names of their variables. */
  needs(settings: S): Readonly<Record<string, unknown>>;
}

/** Providers by their kind. */
export type Providers = Readonly<Record<string, ProviderConfig<Variables, unknown>>>;
/** The settings of every provider by its kind. */
export type SettingsOf<P extends Providers> = { readonly [K in keyof P]: ReturnType<P[K]['settings']> };
/** The variables of all providers. */
export type VariablesOf<P extends Providers> = Intersection<P[keyof P]['variables']>;
type Intersection<U> = (U extends unknown ? (member: U) => void : never) extends (merged: infer I) => void ? I : never;

/** Returns the variables of all providers, in the order of the documentation's table. */
export function mergeVariables<P extends Providers>(providers: P): VariablesOf<P> {
  return Object.assign({}, ...Object.values(providers).map(({ variables }) => variables));
}

/** Returns the settings of every provider by its kind. */
export function readProviderSettings<P extends Providers>(
  providers: P,
  values: ValuesOf<Variables>,
  env: Environment,
): SettingsOf<P> {
  const entries = Object.entries(providers).map(([kind, provider]) => [kind, provider.settings(values, env)]);
  return Object.fromEntries(entries);
}

/** Returns the first missing variable that this provider requires. Undefined if none is missing. */
export function findMissingVariable(
  provider: ProviderConfig<Variables, unknown>,
  settings: unknown,
): string | undefined {
  return Object.entries(provider.needs(settings)).find(([, value]) => value === undefined)?.[0];
}

/** Joins choices for a sentence: `a, b or c`. */
export function joinChoices(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}
