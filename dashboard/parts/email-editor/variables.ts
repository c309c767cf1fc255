import type { ResponseOf } from '../../api/client.ts';

/** A variable that a template may use. */
export interface Variable {
  /** The name between the braces. */
  name: string;
  /** The meaning of the variable, for the list of completions. */
  about: string;
}

type Field = ResponseOf<'listContactFields'>['fields'][number];

/** Variables that the service provides in every email. */
const SERVICE_VARIABLES: Variable[] = [
  { name: 'unsubscribeUrl', about: 'link to unsubscribe' },
  { name: 'manageUrl', about: 'link to the preferences page' },
  { name: 'subscribeUrl', about: 'link to subscribe again' },
  { name: 'id', about: 'id of the contact' },
  { name: 'email', about: 'address of the contact' },
];

const NAME = /^[A-Za-z_][\w-]*$/;
const DATA_PREFIX = 'data.';

/**
 * Returns the variables for emails of a project: the data of its contacts, the most frequent first, then the
 * service's variables.
 */
export function listVariables(fields: readonly Field[]): Variable[] {
  const dataVariables = fields
    .filter(({ field }) => field.startsWith(DATA_PREFIX))
    .sort((a, b) => b.coverage - a.coverage)
    .map(({ field, type, coverage }) => ({
      name: toVariableName(field),
      about: `${type}, ${Math.round(coverage)} % have it`,
    }));
  return [...dataVariables, ...SERVICE_VARIABLES];
}

/** Turns `data.plan` into `plan`. If the key is not a valid name, returns a lookup by the key: `data["first name"]`. */
function toVariableName(field: string): string {
  const key = field.slice(DATA_PREFIX.length);
  return NAME.test(key) ? key : `data[${JSON.stringify(key)}]`;
}
