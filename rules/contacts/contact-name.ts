/**
 * Keys of a contact's data that usually contain the contact's name, the most common key first. The dashboard shows the
 * values of these keys, and the search for contacts finds them.
 */
export const NAME_KEYS = {
  first: ['firstName', 'first_name', 'firstname', 'givenName'],
  last: ['lastName', 'last_name', 'lastname', 'familyName', 'surname'],
  full: ['name', 'fullName', 'full_name'],
} as const;
