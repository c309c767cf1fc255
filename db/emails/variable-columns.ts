import type { EmailOptions } from '../../rules/emails/email-options.ts';
import type { Data } from '../../rules/filters/data-values.ts';
import { listUntrustedNames, markUntrusted, type Sourced } from '../../rules/provenance/provenance.ts';

/** The JSON of the columns `emails.variables` and `emails.options`. */
export interface VariableColumns {
  variables: string;
  options: string | null;
}

/** The variables of an email with their untrusted marks, and its other options. */
export interface CarriedVariables {
  /** The variables stored with the email. Empty if the email has no variables. */
  variables: Sourced<Data>;
  options: Omit<EmailOptions, 'untrustedKeys'>;
}

/**
 * Builds the columns with the variables of an email. Every email whose variables include contact data or event data is
 * written through this function, so the row always has the names of the untrusted variables.
 */
export function toVariableColumns({ variables, options }: CarriedVariables): VariableColumns {
  const untrustedKeys = listUntrustedNames(variables);
  const carried: EmailOptions = untrustedKeys.length > 0 ? { ...options, untrustedKeys } : options;
  return {
    variables: JSON.stringify(variables.values),
    options: Object.keys(carried).length > 0 ? JSON.stringify(carried) : null,
  };
}

/** Reads the columns that `toVariableColumns` or an earlier release has written. */
export function readVariableColumns(p: { variables: Data | null; options: EmailOptions | null }): CarriedVariables {
  const { untrustedKeys, ...options } = p.options ?? {};
  return { variables: markUntrusted(p.variables ?? {}, untrustedKeys), options };
}
