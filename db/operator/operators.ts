import { sql } from 'kysely';
import type { Db } from '../connection.ts';

/**
 * Tells whether an account is one of the operators that the installation names. Several people may have accounts with
 * the same address, because addresses are not verified. Only the oldest account counts, so a later sign-up with that
 * address gains nothing.
 * @param p.operators addresses, in lower case
 */
export async function isOperator(
  db: Db,
  p: { userId: string; email: string; operators: readonly string[] },
): Promise<boolean> {
  // Queries only accounts with a named address, so that the check costs nothing for other accounts.
  if (!p.operators.includes(p.email)) return false;
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM users WHERE email = ${p.email} ORDER BY created_at, id LIMIT 1
  `.execute(db);
  return rows[0]?.id === p.userId;
}
