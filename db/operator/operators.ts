import { sql } from 'kysely';
import type { Db } from '../connection.ts';

/**
 * Whether an account is one of those that the installation names as operators. Several people may have accounts with
 * one address, which nobody has proven: the name is that of the oldest, so that a later sign-up by the same address
 * gains nothing.
 * @param p.operators addresses, in lower case
 */
export async function isOperator(
  db: Db,
  p: { userId: string; email: string; operators: readonly string[] },
): Promise<boolean> {
  // Asks for those alone who have the address: everybody else costs nothing.
  if (!p.operators.includes(p.email)) return false;
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM users WHERE email = ${p.email} ORDER BY created_at, id LIMIT 1
  `.execute(db);
  return rows[0]?.id === p.userId;
}
