import type { z } from 'zod';

/** One environment variable: how its text is read, a description of its values, and its purpose. */
export interface ConfigVariable {
  /** Converts the variable's text, which is never empty, to its value. */
  readonly schema: z.ZodType;
  /** Accepted values, as the end of "NAME must be …". */
  readonly takes: string;
  /** Text that replaces a variable that is unset or empty; absent: the value is undefined. */
  readonly default?: string;
  /** The default in words for the table, if `default` cannot express it. */
  readonly defaultText?: string;
  /** One sentence for the table of the documentation. */
  readonly about: string;
  /** True if no message may show the text. */
  readonly secret?: true;
}

/** Variables of one subject by their names, in the order of the documentation's table. */
export type Variables = Readonly<Record<string, ConfigVariable>>;

/** Values of variables by name. */
export type ValuesOf<V extends Variables> = {
  [K in keyof V]: z.output<V[K]['schema']> | (V[K] extends { default: string } ? never : undefined);
};

/** The environment as text, as a process has it. */
export type Environment = Readonly<Record<string, string | undefined>>;
