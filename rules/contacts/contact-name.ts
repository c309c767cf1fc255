/**
 * Keys of a contact's data that usually hold its name, the most usual first. The dashboard shows and the search of
 * contacts finds the same ones.
 */
export const NAME_KEYS = {
  first: ['firstName', 'first_name', 'firstname', 'givenName'],
  last: ['lastName', 'last_name', 'lastname', 'familyName', 'surname'],
  full: ['name', 'fullName', 'full_name'],
} as const;
