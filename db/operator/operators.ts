import { sql } from 'kysely';
import type { Db } from '../connection.ts';

/**
 * Tells whether an account is an operator of the installation. Several people may have accounts with the same address,
 * because addresses are not verified. Only the oldest account with an operator's address counts, so a later sign-up
 * with this address does not become an operator.
 * @param p.operators the operators' addresses, in lower case
 */
export async function isOperator(
  db: Db,
  p: { userId: string; email: string; operators: readonly string[] },
): Promise<boolean> {
  // Most accounts have another address, and need no query.
  if (!p.operators.includes(p.email)) return false;
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM users WHERE email = ${p.email} ORDER BY created_at, id LIMIT 1
  `.execute(db);
  return rows[0]?.id === p.userId;
}
