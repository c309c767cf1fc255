import { type RawBuilder, sql } from 'kysely';

/**
 * SQL condition that the contact of an email was erased. Only an erasure removes both the contact and the address.
 * @param email the table or alias of `emails`
 */
export function isErasedSql(email: string): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${email}.${name}`);
  return sql<boolean>`(${column('contact_id')} IS NULL AND ${column('to_email')} IS NULL)`;
}
