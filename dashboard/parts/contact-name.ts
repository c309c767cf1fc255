const FIRST = ['firstName', 'first_name', 'firstname', 'givenName'];
const LAST = ['lastName', 'last_name', 'lastname', 'familyName', 'surname'];
const FULL = ['name', 'fullName', 'full_name'];
/** A longer value is not a name. */
const MAX_CHARS = 80;

/** Returns the name of a contact from the usual fields of its data. Undefined if the data has no name. */
export function findContactName(data: Record<string, unknown>): string | undefined {
  const read = (keys: string[]) => {
    const value = keys.map((key) => data[key]).find((one) => typeof one === 'string' && one.trim() !== '');
    return typeof value === 'string' && value.length <= MAX_CHARS ? value.trim() : undefined;
  };
  const parts = [read(FIRST), read(LAST)].filter((part) => part !== undefined);
  return parts.length > 0 ? parts.join(' ') : read(FULL);
}
