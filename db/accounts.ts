import { sql, type Transaction } from 'kysely';
import { AppError } from '../domain/errors.ts';
import type { Role } from '../domain/scopes.ts';
import type { Db } from './connection.ts';
import type { Database } from './schema.ts';

export interface NewAccount {
  email: string;
  passwordHash: string;
  projectName: string;
  publicKey: { key: string; hash: Buffer };
}

export interface Account {
  userId: string;
  projectId: string;
}

export interface ProjectMembership {
  id: string;
  name: string;
  role: Role;
}

/** One lock for all sign-ups while only the first may sign up: two at once must not both find nobody. */
const FIRST_SIGNUP_LOCK = 7_203_401;

/**
 * Makes a user with a first project that they own, all or nothing. With `onlyFirst` it refuses once there is any user.
 * @throws AppError FORBIDDEN (sign-up is closed), CONFLICT (the address has an account)
 */
export async function insertAccount(db: Db, account: NewAccount, onlyFirst: boolean): Promise<Account> {
  return db.transaction().execute(async (trx) => {
    if (onlyFirst) await refuseUnlessFirst(trx);
    const user = await trx
      .insertInto('users')
      .values({ email: account.email, password_hash: account.passwordHash })
      .onConflict((conflict) => conflict.column('email').doNothing())
      .returning('id')
      .executeTakeFirst();
    if (!user) throw new AppError('CONFLICT', { message: 'This address has an account already: sign in instead.' });
    const projectId = await insertProject(trx, { name: account.projectName, publicKey: account.publicKey });
    await trx.insertInto('memberships').values({ project_id: projectId, user_id: user.id, role: 'OWNER' }).execute();
    return { userId: user.id, projectId };
  });
}

/** Makes a project with its public key; returns its id. */
export async function insertProject(
  trx: Transaction<Database> | Db,
  project: { name: string; publicKey: { key: string; hash: Buffer } },
): Promise<string> {
  const { key, hash } = project.publicKey;
  const row = await trx
    .insertInto('projects')
    .values({ name: project.name, public_key: key, public_key_hash: hash })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

async function refuseUnlessFirst(trx: Transaction<Database>): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${FIRST_SIGNUP_LOCK})`.execute(trx);
  const { rows } = await sql`SELECT FROM users LIMIT 1`.execute(trx);
  if (rows.length > 0) throw signupClosed();
}

/** The refusal of a sign-up where SIGNUP does not allow it. */
export function signupClosed(): AppError {
  return new AppError('FORBIDDEN', {
    message: 'Sign-up is closed on this deployment.',
    suggestion: 'Ask its operator for an account; SIGNUP decides who may make one.',
  });
}

/** The user of an address with the password's hash, or undefined. */
export async function findUserByEmail(
  db: Db,
  email: string,
): Promise<{ id: string; passwordHash: string } | undefined> {
  const row = await db
    .selectFrom('users')
    .select(['id', 'password_hash'])
    .where('email', '=', email)
    .executeTakeFirst();
  return row && { id: row.id, passwordHash: row.password_hash };
}

/** The hash of a user's password. @throws AppError NOT_FOUND */
export async function getPasswordHash(db: Db, userId: string): Promise<string> {
  const row = await db.selectFrom('users').select('password_hash').where('id', '=', userId).executeTakeFirst();
  if (!row) throw new AppError('NOT_FOUND');
  return row.password_hash;
}

/** A user's projects with their role in each, oldest first. */
export async function listMemberships(db: Db, userId: string): Promise<ProjectMembership[]> {
  const { rows } = await sql<{ id: string; name: string; role: Role }>`
    SELECT p.id, p.name, m.role FROM memberships m JOIN projects p ON p.id = m.project_id
    WHERE m.user_id = ${userId} ORDER BY m.created_at, p.id
  `.execute(db);
  return rows;
}

/**
 * Changes a password, gives the session that asked a new token, and ends every other of the user. False, and nothing is changed, where
 * the password is no longer the one that was checked: of several that ask at once, one does it.
 */
export async function updatePassword(
  db: Db,
  p: { userId: string; checkedHash: string; passwordHash: string; oldToken: Buffer; newToken: Buffer },
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { numAffectedRows } = await sql`
      UPDATE users SET password_hash = ${p.passwordHash}, updated_at = now()
      WHERE id = ${p.userId} AND password_hash = ${p.checkedHash}
    `.execute(trx);
    if (!numAffectedRows) return false;
    await sql`DELETE FROM sessions WHERE user_id = ${p.userId} AND token_hash <> ${p.oldToken}`.execute(trx);
    await sql`UPDATE sessions SET token_hash = ${p.newToken} WHERE token_hash = ${p.oldToken}`.execute(trx);
    return true;
  });
}
