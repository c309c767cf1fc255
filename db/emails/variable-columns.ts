import type { EmailOptions } from '../../rules/emails/email-options.ts';
import type { Data } from '../../rules/filters/data-values.ts';
import { markUntrusted, type Sourced, untrustedNames } from '../../rules/provenance/provenance.ts';

/** The JSON of the columns `emails.variables` and `emails.options`. */
export interface VariableColumns {
  variables: string;
  options: string | null;
}

/** The variables and other options of an email. */
export interface CarriedVariables {
  /** Empty if the email has no variables of its own. */
  variables: Sourced<Data>;
  options: Omit<EmailOptions, 'untrustedKeys'>;
}

/**
 * Builds the columns that an email is rendered with. Every email with contact data or a payload among its variables
 * is written through this function, so its record names the untrusted variables.
 */
export function toVariableColumns({ variables, options }: CarriedVariables): VariableColumns {
  const untrustedKeys = untrustedNames(variables);
  const carried: EmailOptions = untrustedKeys.length > 0 ? { ...options, untrustedKeys } : options;
  return {
    variables: JSON.stringify(variables.values),
    options: Object.keys(carried).length > 0 ? JSON.stringify(carried) : null,
  };
}

/** Reads the columns that `toVariableColumns`, or an earlier release, wrote. */
export function readVariableColumns(p: { variables: Data | null; options: EmailOptions | null }): CarriedVariables {
  const { untrustedKeys, ...options } = p.options ?? {};
  return { variables: markUntrusted(p.variables ?? {}, untrustedKeys), options };
}
