import type { z } from 'zod';

/** An environment variable: the schema that reads its text, a description of its values, and its purpose. */
export interface ConfigVariable {
  /** Converts the text of the variable to its value. The text is never empty, unless `default` is empty. */
  readonly schema: z.ZodType;
  /** The accepted values, worded as the end of "NAME must be …". */
  readonly takes: string;
  /** The text that is used if the variable is unset or empty. If this is absent, the value is undefined. */
  readonly default?: string;
  /** A description of the default for the documentation's table, if `default` cannot express it. */
  readonly defaultText?: string;
  /** The purpose of the variable, for the documentation's table. */
  readonly about: string;
  /** True if the text is secret, so that no message may show it. */
  readonly secret?: true;
}

/** Variables of one subject by their names, in the order of the documentation's table. */
export type Variables = Readonly<Record<string, ConfigVariable>>;

/** Values of variables by name. */
export type ValuesOf<V extends Variables> = {
  [K in keyof V]: z.output<V[K]['schema']> | (V[K] extends { default: string } ? never : undefined);
};

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;
