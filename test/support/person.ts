import { randomBytes } from 'node:crypto';
import { hashPassword } from '../../api/routes/auth/passwords.ts';
import type { Db } from '../../db/connection.ts';
import type { Role } from '../../rules/access/scopes.ts';

const PASSWORD = 'the password of all people of the tests';
let passwordHash: Promise<string> | undefined;

/**
 * Builds a user with a role in a project. If an account with the address exists, it is used. Returns the body for `POST
 * /auth/login`.
 */
export async function buildPerson(
  db: Db,
  projectId: string,
  role: Role,
  email = `${role.toLowerCase()}-${randomBytes(5).toString('hex')}@people.test`,
): Promise<{ email: string; password: string }> {
  // Hashing a password takes 50 ms on purpose, so all users of the tests share one hash.
  passwordHash ??= hashPassword(PASSWORD);
  const user = await db
    .insertInto('users')
    .values({ email, password_hash: await passwordHash })
    .onConflict((conflict) => conflict.columns(['email', 'password_hash']).doUpdateSet({ email }))
    .returning('id')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('memberships')
    .values({ project_id: projectId, user_id: user.id, role })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return { email, password: PASSWORD };
}
