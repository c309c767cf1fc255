import { sql } from 'kysely';
import type { Role } from '../../rules/access/scopes.ts';
import type { TrackingMode } from '../../rules/content/message-tracking.ts';
import { AppError } from '../../rules/errors.ts';
import type { Db, Trx } from '../connection.ts';
import { readSqlState } from '../postgres-errors.ts';

export interface NewAccount {
  email: string;
  passwordHash: string;
  projectName: string;
  publicKey: { key: string; hash: Buffer };
}

export interface Account {
  userId: string;
  projectId: string;
  /** True if the account already existed: the address and password matched. */
  known: boolean;
}

export interface ProjectMembership {
  id: string;
  name: string;
  role: Role;
}

const UNIQUE_VIOLATION = '23505';
/**
 * The lock that sign-ups take while only the first user may sign up. Without this lock, two concurrent sign-ups could
 * both succeed.
 */
const FIRST_SIGNUP_LOCK = 7_203_401;

/**
 * Creates a user with a first project, in one transaction, and makes the user its owner. If a user with this address
 * and password exists, returns that user, and creates a project only if the user has none. Several users may have the
 * same address, and a sign-up does not reveal the others. With `onlyFirst`, a sign-up is refused if any user exists.
 * @param account.passwordHash hashed with the salt that all accounts of the address share
 * @throws AppError FORBIDDEN if sign-up is closed
 */
export async function insertAccount(db: Db, account: NewAccount, onlyFirst: boolean): Promise<Account> {
  return db.transaction().execute(async (trx) => {
    if (onlyFirst) await assertNoUser(trx);
    const { userId, isNew } = await findOrInsertUser(trx, account);
    const [project] = isNew ? [] : await listMemberships(trx, userId);
    if (project) return { userId, projectId: project.id, known: true };
    const { projectName: name, publicKey } = account;
    // A new project does not track transactional email, because a tracking pixel worsens the SpamAssassin score of a
    // short receipt by 0.6 to 1.7 points.
    const projectId = await insertProject(trx, { name, publicKey, tracking: 'MARKETING_ONLY' });
    await trx.insertInto('memberships').values({ project_id: projectId, user_id: userId, role: 'OWNER' }).execute();
    return { userId, projectId, known: !isNew };
  });
}

/**
 * Returns the user with this address and password, and creates the user if none exists.
 * @param p.passwordHash hashed with the salt that all accounts of the address share
 * @throws AppError SERVICE_UNAVAILABLE when the account's password is changed at the same moment
 */
export async function findOrInsertUser(
  trx: Trx,
  { email, passwordHash }: { email: string; passwordHash: string },
): Promise<{ userId: string; isNew: boolean }> {
  const inserted = await trx
    .insertInto('users')
    .values({ email, password_hash: passwordHash })
    .onConflict((conflict) => conflict.columns(['email', 'password_hash']).doNothing())
    .returning('id')
    .executeTakeFirst();
  const userId = inserted?.id ?? (await findUser(trx, { email, passwordHash }));
  if (!userId) throw new AppError('SERVICE_UNAVAILABLE', { message: 'The account has just changed. Try again.' });
  return { userId, isNew: inserted !== undefined };
}

/** Inserts a project with its public key, and returns the project's id. `tracking` defaults to ENABLED. */
export async function insertProject(
  trx: Db,
  project: { name: string; publicKey: { key: string; hash: Buffer }; tracking?: TrackingMode },
): Promise<string> {
  const { key, hash } = project.publicKey;
  const row = await trx
    .insertInto('projects')
    .values({
      name: project.name,
      public_key: key,
      public_key_hash: hash,
      ...(project.tracking && { tracking: project.tracking }),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

async function assertNoUser(trx: Trx): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${FIRST_SIGNUP_LOCK})`.execute(trx);
  const { rows } = await sql`SELECT FROM users LIMIT 1`.execute(trx);
  if (rows.length > 0) throw createSignupClosedError();
}

/** Tells whether no user exists yet. If `SIGNUP` is `first`, a sign-up is allowed only then. */
export async function hasNoUser(db: Db): Promise<boolean> {
  const { rows } = await sql`SELECT FROM users LIMIT 1`.execute(db);
  return rows.length === 0;
}

/** Returns the error for a sign-up that SIGNUP does not allow. */
export function createSignupClosedError(): AppError {
  return new AppError('FORBIDDEN', {
    message: 'Sign-up is closed on this deployment.',
    suggestion: 'Ask the operator for an account. The setting SIGNUP decides who may create one.',
  });
}

/**
 * Returns the password hash of one account with this address, for the salt and parameters that all accounts of the
 * address share. Undefined if the address has no account.
 */
export async function findPasswordHash(db: Db, email: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('users')
    .select('password_hash')
    .where('email', '=', email)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row?.password_hash;
}

/** Finds the user with this address and password. */
export async function findUser(db: Db, p: { email: string; passwordHash: string }): Promise<string | undefined> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('email', '=', p.email)
    .where('password_hash', '=', p.passwordHash)
    .executeTakeFirst();
  return row?.id;
}

/**
 * Returns the hash of a user's password.
 * @throws AppError NOT_FOUND
 */
export async function getPasswordHash(db: Db, userId: string): Promise<string> {
  const row = await db.selectFrom('users').select('password_hash').where('id', '=', userId).executeTakeFirst();
  if (!row) throw new AppError('NOT_FOUND');
  return row.password_hash;
}

/** Lists a user's projects and the user's role in each, the oldest membership first. */
export async function listMemberships(db: Db, userId: string): Promise<ProjectMembership[]> {
  const { rows } = await sql<{ id: string; name: string; role: Role }>`
    SELECT p.id, p.name, m.role FROM memberships m JOIN projects p ON p.id = m.project_id
    WHERE m.user_id = ${userId} ORDER BY m.created_at, p.id
  `.execute(db);
  return rows;
}

/**
 * Changes a password, gives the requesting session a new token, and ends all other sessions of the user. Changes
 * nothing in two cases. `stale`: the password is no longer the one that was checked, so only one of several concurrent
 * requests succeeds. `taken`: another account of the address already has the new password.
 */
export async function updatePassword(
  db: Db,
  p: { userId: string; checkedHash: string; passwordHash: string; oldToken: Buffer; newToken: Buffer },
): Promise<'changed' | 'stale' | 'taken'> {
  const changing = db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('users')
      .set({ password_hash: p.passwordHash, updated_at: sql`now()` })
      .where('id', '=', p.userId)
      .where('password_hash', '=', p.checkedHash)
      .executeTakeFirst();
    if (!numUpdatedRows) return 'stale';
    await trx.deleteFrom('sessions').where('user_id', '=', p.userId).where('token_hash', '<>', p.oldToken).execute();
    await trx.updateTable('sessions').set({ token_hash: p.newToken }).where('token_hash', '=', p.oldToken).execute();
    return 'changed';
  });
  return changing.catch((error: unknown) => {
    if (readSqlState(error) === UNIQUE_VIOLATION) return 'taken';
    throw error;
  });
}
